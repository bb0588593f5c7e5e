"""The package as a whole: what it exports, what it loads, what it promises."""

import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

import deixis

# What loads Ray is imported by the tests of clusters, which run in a process of their own.
MODULES = sorted(m.name for m in walk_packages(deixis.__path__, "deixis.") if ".ray_" not in m.name)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports(name):
    import_module(name)


def test_the_public_names_are_these_and_all_importable():
    assert deixis.__all__ == sorted(deixis.__all__)
    for name in deixis.__all__:
        assert getattr(deixis, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = deixis.nothing


@pytest.mark.parametrize(
    "code",
    [
        "import deixis",
        "import deixis.data.read_corpus, deixis.features.backbones.backbone",
        "import deixis.search.library.library",
        "from typer.testing import CliRunner; import deixis.cli.command as a; a.load_verbs();"
        "assert CliRunner().invoke(a.app, ['--help']).exit_code == 0",
    ],
)
def test_looking_around_loads_no_torch(code):
    assert_loads_none_of("torch", code)


@pytest.mark.parametrize("name", ["jaxtyping", "filelock", "urllib.request", "asyncio"])
def test_a_search_loads_nothing_slow_that_it_does_not_need(name):
    assert_loads_none_of(name, "import deixis.search.library.library")


def assert_loads_none_of(name, code):
    check = f"{code}\nimport sys\nassert '{name}' not in sys.modules, '{name} was loaded'"
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
