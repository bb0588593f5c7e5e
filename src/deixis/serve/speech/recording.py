"""A recording as a page sends it: a WAV file of 16-bit samples, which needs no decoder."""

import wave
from io import BytesIO

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.errors import DataError

RATE = 16_000  # samples per second, as recognisers read them
SECONDS = 60.0  # of the longest recording


def read_recording(content: bytes) -> Float32[ndarray, " sample"]:
    """The samples of a recording, one channel, from −1 to 1."""
    try:
        with wave.open(BytesIO(content)) as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            frames = file.readframes(file.getnframes())
    except (wave.Error, EOFError, RuntimeError) as error:  # the last of a piece that ends too late
        why = str(error) or "it is cut short"
        raise DataError(f"the recording is not a WAV file: {why}") from error
    if width != 2 or channels not in (1, 2) or not 8_000 <= rate <= 192_000:
        raise DataError(
            f"the recording has {channels} channels of {8 * width} bits at {rate} Hz; wanted one "
            "or two of 16 bits at 8,000 to 192,000 Hz"
        )
    samples = np.frombuffer(frames[: len(frames) // (2 * channels) * 2 * channels], "<i2")
    mono = samples.reshape(-1, channels).astype(np.float32).mean(axis=1) / 32768
    if len(mono) > SECONDS * rate:
        raise DataError(
            f"the recording is {len(mono) / rate:.0f} seconds long; the limit is {SECONDS:g}"
        )
    return mono if rate == RATE else _resampled(mono, rate)


def _resampled(samples: Float32[ndarray, " sample"], rate: int) -> Float32[ndarray, " new"]:
    """The same sound at the recogniser's rate; what it cannot hold is averaged away first."""
    blur = rate // RATE
    if blur > 1:
        samples = np.convolve(samples, np.full(blur, 1 / blur, np.float32), mode="same")
    moments = np.arange(int(len(samples) * RATE / rate)) * (rate / RATE)
    return np.interp(moments, np.arange(len(samples)), samples).astype(np.float32)
