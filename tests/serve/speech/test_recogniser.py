import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from speaking import spoken

from deixis.serve.speech.recogniser import Recogniser, can_recognise
from deixis.serve.speech.recording import read_recording


def test_spoken_words_come_with_their_times(tmp_path):
    assert can_recognise()
    path = spoken(tmp_path / "said.wav", "a brown dog on the left and a man in a red shirt")
    samples = read_recording(path.read_bytes())
    words = Recogniser()(samples)
    said = [word.text.lower().strip(".,") for word in words]
    assert {"brown", "dog", "left", "man", "red", "shirt"} <= set(said)
    times = {word.text.lower().strip(".,"): (word.start, word.end) for word in words}
    assert times["dog"][1] <= times["left"][0] <= times["man"][0] <= times["shirt"][0]
    assert all(0 <= start <= end <= len(samples) / 16_000 + 0.1 for start, end in times.values())


def test_silence_says_nothing():
    assert len(Recogniser()(np.zeros(16_000, np.float32))) <= 2  # a stray word at most
