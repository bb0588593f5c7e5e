import wave
from io import BytesIO

import numpy as np
import pytest

from deixis.errors import DataError
from deixis.serve.speech.recording import RATE, read_recording


def recording(samples, rate=RATE, channels=1, width=2):
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(samples.astype(f"<i{width}").tobytes())
    return out.getvalue()


def tone(rate, seconds=0.5, pitch=440):
    return 16384 * np.sin(2 * np.pi * pitch * np.arange(int(rate * seconds)) / rate)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
def test_a_tone_keeps_its_pitch_and_length_at_any_rate(rate):
    samples = read_recording(recording(tone(rate), rate))
    assert len(samples) == pytest.approx(RATE / 2, abs=2)
    spectrum = np.abs(np.fft.rfft(samples))
    assert spectrum.argmax() * RATE / len(samples) == pytest.approx(440, abs=3)
    assert np.abs(samples).max() == pytest.approx(0.5, abs=0.03)


def test_two_channels_become_their_mean():
    both = np.stack([np.full(100, 8192), np.full(100, 16384)], axis=1)
    assert read_recording(recording(both, channels=2)) == pytest.approx(0.375)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a WAV file"),
        (b"RIFF\x04\0\0\0WAVE", "not a WAV file"),
        (b"\x1aE\xdf\xa3 webm", "not a WAV file"),
        (b"RIFF\x88\0\0\0WAVEfmt!\x10\0\0\xed\x01\0\x01\0", "not a WAV file: it is cut short"),
        (recording(np.zeros(10), width=1 * 4), "32 bits"),
        (recording(np.zeros(12), channels=3), "3 channels"),
        (recording(np.zeros(10), rate=4_000), "4000 Hz"),
        (recording(np.zeros(61 * RATE)), "61 seconds long"),
    ],
)
def test_anything_else_is_refused_with_the_reason(content, reason):
    with pytest.raises(DataError, match=reason):
        read_recording(content)
