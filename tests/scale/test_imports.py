"""Without a cluster and a bucket neither Ray nor obstore is loaded."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from made_pictures import make_pictures

import deixis

SOURCES = Path(deixis.__file__).parent
CHILD = """
import sys
from deixis.cli import main

sys.argv = ["deixis", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
heavy = {"ray", "obstore"} & set(sys.modules)
print("LOADED", sorted(heavy))
"""


def loaded_by(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    pictures = make_pictures(folder / "pictures", 2)
    assert loaded_by("index", pictures, "--library", folder / "library") == "LOADED []"
    return folder / "library"


def test_help_loads_nothing_heavy():
    assert loaded_by("--help") == "LOADED []"


def test_index_search_and_status_load_nothing_heavy(library):
    assert loaded_by("search", "a red wall", "--library", library) == "LOADED []"
    assert loaded_by("status", "--library", library) == "LOADED []"


def test_only_two_modules_import_ray():
    named = re.compile(r"^\s*(import|from) ray\b", re.MULTILINE)
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if named.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"scale/ray_engine.py", "scale/serving/ray_serve.py"}
