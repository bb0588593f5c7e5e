import json
import os
import subprocess
import sys

import pytest

from deixis.errors import SearchError
from deixis.search.library.library_status import status
from deixis.search.library.library_store import LibraryStore


def test_a_sound_library_has_no_problems(tmp_path, pictures, encoder):
    (pictures / "copy.jpg").write_bytes(b"picture a")
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as library:
        library.add([pictures], encoder)
    found = status(tmp_path / "library")
    assert (found.files, found.items, found.problems) == (6, 5, ())
    assert not found.needs_attention


def test_every_file_that_is_not_as_indexed_is_named_with_its_reason(tmp_path, pictures, encoder):
    (pictures / "b.jpg").write_bytes(b"bad bytes")
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as library:
        library.add([pictures], encoder)
    (pictures / "a.jpg").unlink()
    (pictures / "c.jpg").write_bytes(b"another picture")
    (pictures / "new.jpg").write_bytes(b"new picture")
    os.truncate(tmp_path / "library" / "generation-1" / "vectors.f32", 3 * 8 * 4)
    found = status(tmp_path / "library")
    kinds = {os.path.basename(problem.path): problem.kind for problem in found.problems}
    assert kinds == {
        "a.jpg": "missing",
        "b.jpg": "broken",
        "c.jpg": "changed",
        "e.PNG": "lost",
        "new.jpg": "new",
    }
    assert all(problem.reason for problem in found.problems)
    assert json.loads(json.dumps(found.to_dict()))["problems"][1]["reason"] == "no picture"
    assert found.needs_attention


def test_a_folder_that_is_gone_is_named(tmp_path, pictures, encoder):
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as library:
        library.add([pictures], encoder)
    pictures.rename(tmp_path / "moved")
    problems = status(tmp_path / "library").problems
    assert (problems[0].path, problems[0].kind) == (str(pictures), "missing")
    assert len(problems) == 6


def test_status_of_no_library_is_refused(tmp_path):
    with pytest.raises(SearchError, match="deixis index PICTURES"):
        status(tmp_path)


def test_search_loads_no_torch():
    code = (
        "import sys, importlib, pkgutil, deixis.search as room\n"
        "for found in pkgutil.walk_packages(room.__path__, 'deixis.search.'):\n"
        "    importlib.import_module(found.name)\n"
        "assert 'deixis.search.library.library' in sys.modules\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
