"""A writer is killed without warning; nothing it acknowledged may be lost."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deixis.search.library.indexing import ENCODE
from deixis.search.library.library_status import status
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.verification import verify
from fake_encoder import FakeEncoder, fake_places

TESTS = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
from fake_encoder import FakeEncoder, fake_places
from deixis.search.library.library_store import LibraryStore

encoder = FakeEncoder(dim=512, places=fake_places())

def said(outcome, done, total):
    print(outcome.path, flush=True)
    if done == total - 100:
        sys.stdin.read()  # whoever kills it may be late, but not too late

with LibraryStore.open_or_create(Path(sys.argv[1]), encoder) as library:
    library.add([Path(sys.argv[2])], encoder, said)
"""


def acknowledged_before_kill(library: Path, pictures: Path, after: int) -> list[str]:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(library), str(pictures)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'src'}", "OMP_NUM_THREADS": "1"},
    )
    assert writer.stdin is not None and writer.stdout is not None
    lines = [writer.stdout.readline() for _ in range(after)]
    writer.send_signal(signal.SIGKILL)
    lines += writer.stdout.readlines()
    writer.wait()
    writer.stdin.close()
    writer.stdout.close()
    return [line.strip() for line in lines if line.endswith("\n")]


@pytest.mark.parametrize("after", [1, ENCODE + 1, pytest.param(777, marks=pytest.mark.slow)])
def test_kill_loses_nothing_acknowledged_and_the_next_run_goes_on(tmp_path, after):
    pictures, folder = tmp_path / "pictures", tmp_path / "library"
    pictures.mkdir()
    for number in range(1500):
        (pictures / f"{number:04}.jpg").write_bytes(f"picture {number}".encode())
    safe = acknowledged_before_kill(folder, pictures, after)
    assert after <= len(safe) < 1500, "the writer was not killed in the middle"
    found = status(folder)
    assert {problem.kind for problem in found.problems} == {"new"}
    assert not {problem.path for problem in found.problems} & set(safe)
    assert found.items + len(found.problems) == 1500
    encoder = FakeEncoder(dim=512, places=fake_places())
    with LibraryStore(folder) as library:
        slots = {
            one.hash: one for one in library.generation.manifest.cells.of(encoder.places.identity)
        }
        vectors, manifest = library.generation.vectors(), library.generation.manifest
        contents, files = manifest.contents(), manifest.files()
        for path in safe:
            found = vectors[contents[files[path].hash].row]
            np.testing.assert_array_equal(found, encoder.vector(Path(path).read_bytes()))
            cells = library.generation.cells.read([slots[files[path].hash].slot])
            expected = encoder.cells([Path(path).read_bytes()])
            np.testing.assert_array_equal(cells.values, expected.values)
        assert set(slots) == set(contents), "a picture is entered with vectors and cells, or not"
        report = library.add([pictures], encoder)
    assert report.counts == {"unchanged": len(files), "added": 1500 - len(files)}
    assert len(encoder.seen) == 1500 - len(files)
    assert status(folder).problems == ()
    assert verify(folder).damages == ()
