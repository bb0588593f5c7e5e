"""Checkpoints, vocabularies and options made to fill the memory, to never end, or to confuse."""

import io
import random
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from deixis.errors import DataError, RunError
from deixis.runs.released.adopt_checkpoint import read_settings
from deixis.runs.released.checkpoint_file import read_checkpoint
from deixis.runs.released.vocabulary_file import read_words

PAIRS = b"K\x01" + b"2\x86" * 60  # (((1, 1), (1, 1)), …): two bytes a level, 2^60 values
TEXT = b"X\x01\x00\x00\x00a"
ENDLESS = {
    "as a key": b"\x80\x02}" + PAIRS + b"K\x01s.",
    "as several keys": b"\x80\x02}(" + PAIRS + b"K\x01u.",
    "as a number": b"\x80\x02}" + TEXT + PAIRS + b"s.",
    "in a set": b"\x80\x04\x8f(" + PAIRS + b"\x90.",
    "as an argument": b"\x80\x02ccollections\nOrderedDict\n]](" + PAIRS + b"K\x01ea\x85R.",
    "a list of itself": b"\x80\x02]q\x00h\x00a.",
}
ANNOUNCED = {  # texts and bytes of a terabyte in a few bytes
    "text": b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b"abc.",
    "bytes": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"abc.",
}
READ = """
import resource, sys
from pathlib import Path
from deixis.errors import DataError
from deixis.runs.released.vocabulary_file import read_words
used = resource.getrusage(resource.RUSAGE_SELF).ru_utime
resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 20,) * 2)
for name in sys.argv[1:]:
    try:
        read_words(Path(name))
    except DataError as error:
        print(error)
"""


def test_a_pickle_that_never_ends_is_refused(tmp_path: Path) -> None:
    """In a process of its own: what hangs inside a hash cannot be interrupted."""
    paths = [tmp_path / f"{place}.pkl" for place in range(len(ENDLESS))]
    for path, content in zip(paths, ENDLESS.values(), strict=True):
        path.write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(ENDLESS)


@pytest.fixture
def little_memory():
    """Let the process have two gigabytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + (2 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such limit")
@pytest.mark.parametrize("name", ANNOUNCED)
def test_what_a_pickle_announces_is_not_believed(tmp_path: Path, name: str, little_memory) -> None:
    path = tmp_path / "words.pkl"
    path.write_bytes(ANNOUNCED[name])
    for read in (read_words, read_checkpoint):
        with pytest.raises(DataError, match="not a whole pickle"):
            read(path)


def whole_checkpoint() -> bytes:
    out = io.BytesIO()
    torch.save({"model": {"a": torch.zeros(3)}, "opt": {"dim": 4}}, out)
    return out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compressed_checkpoint_is_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "bomb.pt"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a/data.pkl", bytes(100))
    with pytest.raises(DataError, match="compressed"):
        read_checkpoint(path)


def test_whatever_is_damaged_in_a_checkpoint_the_answer_is_a_sentence(tmp_path: Path) -> None:
    """Some bytes changed by chance, those of the zip's own tables among them."""
    path, whole, refused = tmp_path / "model.pt", whole_checkpoint(), 0
    for seed in range(400):
        content, chance = bytearray(whole), random.Random(seed)
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(content)
        try:
            read_checkpoint(path)
        except DataError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 100


def test_options_that_repeat_themselves_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "options.yaml"
    lines = ["a0: &a0 {dim: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    path.write_text("\n".join(lines))
    with pytest.raises(RunError, match="refers to its own parts"):
        read_settings(path)
