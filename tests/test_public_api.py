"""The public face of the package: its names, that they load late and that they are explained."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import deixis

API_PAGE = Path(__file__).parents[1] / "docs" / "reference" / "api.md"
NAMES = [
    "Client",
    "Corpus",
    "Library",
    "Matcher",
    "Method",
    "Query",
    "Recipe",
    "Run",
    "TrainSpec",
    "__version__",
    "evaluate",
    "explain",
    "fit",
    "load",
    "prepare",
    "read_corpus",
    "register",
    "train",
]


def in_a_new_process(code: str) -> None:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_the_public_names_are_these():
    assert deixis.__all__ == NAMES
    assert dir(deixis) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_there_and_says_what_it_is(name):
    found = getattr(deixis, name)
    if name != "__version__":
        assert inspect.getdoc(found)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_a_public_name_shows_how_it_is_used(name):
    shown = inspect.getdoc(getattr(deixis, name)) or ""
    assert "```python\n" in shown or ">>> " in shown, f"deixis.{name} has no example"


def test_a_package_of_the_same_name_does_not_hide_a_public_function():
    code = "import deixis, pkgutil\nfor m in pkgutil.iter_modules(deixis.__path__):\n"
    in_a_new_process(code + "    assert m.name not in deixis.__all__, m.name")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "__version__"])
def test_a_public_name_is_in_the_api_reference(name):
    assert f"::: deixis.{name}\n" in API_PAGE.read_text(encoding="utf-8")


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="module 'deixis' has no attribute 'nothing'"):
        _ = deixis.nothing


def test_importing_and_looking_around_loads_no_torch():
    in_a_new_process(
        "import sys, deixis\ndir(deixis)\ndeixis.Corpus\ndeixis.read_corpus\n"
        "assert 'torch' not in sys.modules"
    )


def test_star_import_brings_the_public_names():
    in_a_new_process("from deixis import *\nassert callable(load) and callable(read_corpus)")
