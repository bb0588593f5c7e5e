"""A writer is killed without warning; nothing it acknowledged may be lost."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_encoder import FakeEncoder

from deixis.search.indexing import ENCODE
from deixis.search.library import Library
from deixis.search.status import status

WRITER = """
import sys
from pathlib import Path
from fake_encoder import FakeEncoder
from deixis.search.library import Library

encoder = FakeEncoder(dim=512)
with Library.open_or_create(Path(sys.argv[1]), encoder) as library:
    library.add([Path(sys.argv[2])], encoder, lambda o, done, total: print(o.path, flush=True))
"""


def acknowledged_before_kill(library: Path, pictures: Path, after: int) -> list[str]:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(library), str(pictures)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": "1"},
    )
    assert writer.stdout is not None
    lines = [writer.stdout.readline() for _ in range(after)]
    writer.send_signal(signal.SIGKILL)
    lines += writer.stdout.readlines()
    writer.wait()
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
    told = status(folder)
    assert {problem.kind for problem in told.problems} == {"new"}
    assert not {problem.path for problem in told.problems} & set(safe)
    assert told.items + len(told.problems) == 1500
    encoder = FakeEncoder(dim=512)
    with Library(folder) as library:
        vectors, manifest = library.generation.vectors(), library.generation.manifest
        contents, files = manifest.contents(), manifest.files()
        for path in safe:
            found = vectors[contents[files[path].hash].row]
            np.testing.assert_array_equal(found, encoder.vector(Path(path).read_bytes()))
        report = library.add([pictures], encoder)
    assert report.counts == {"unchanged": len(files), "added": 1500 - len(files)}
    assert len(encoder.seen) == 1500 - len(files)
    assert status(folder).problems == ()
