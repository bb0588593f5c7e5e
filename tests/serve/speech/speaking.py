"""Speech made by a synthesiser, as a page would send it."""

import shutil
import subprocess
import wave

import pytest


def spoken(path, text, speed=130, silence=0.0):
    """Speak a text into a WAV file, with seconds of silence before and after it."""
    if shutil.which("espeak-ng") is None:
        pytest.skip("no espeak-ng here; `apt-get install espeak-ng` lets the speech tests run")
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", str(speed), "-w", path, text], check=True)
    with wave.open(str(path)) as file:
        facts, frames = file.getparams(), file.readframes(file.getnframes())
    quiet = bytes(int(silence * facts.framerate) * facts.sampwidth * facts.nchannels)
    with wave.open(str(path), "wb") as file:
        file.setparams(facts)
        file.writeframes(quiet + frames + quiet)
    return path
