"""Methods that other packages bring, through the entry point ``deixis.methods``."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

import deixis.methods
from deixis.errors import RecipeError
from deixis.methods.model import methods

PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar

import deixis
from deixis.methods.vsepp import VSEPP


@deixis.register("brought")
@dataclass(frozen=True)
class Brought(VSEPP):
    name: ClassVar[str] = "brought"
    dim: int = 16
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Let a package with some source be installed, as far as entry points go."""

    def install(source: str) -> None:
        (tmp_path / "brought_method.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        known = EntryPoints([EntryPoint("brought", "brought_method", deixis.methods.PLUGINS)])
        monkeypatch.setattr(deixis.methods, "entry_points", lambda group: known.select(group=group))

    deixis.methods.load_all.cache_clear()
    yield install
    deixis.methods.load_all.cache_clear()
    methods._classes.pop("brought", None)
    sys.modules.pop("brought_method", None)


def test_a_method_of_another_package_can_be_named(plugin):
    plugin(PLUGIN)
    deixis.methods.load_all()
    assert methods.build("brought", {"margin": 0.5}).margin == 0.5


def test_a_broken_plugin_is_named(plugin):
    plugin("import nothing_of_that_name")
    with pytest.raises(RecipeError, match=r"brought = 'brought_method'.*nothing_of_that_name"):
        deixis.methods.load_all()


RECIPE = """
title = "brought"
[data]
corpus = "scenes"
image = "regions"
[[row]]
method = {name = "brought", margin = 0.3}
"""


def test_an_installed_package_is_known_to_the_table(tmp_path):
    site = tmp_path / "site"
    (site / "brought-1.0.dist-info").mkdir(parents=True)
    (site / "brought_method.py").write_text(PLUGIN)
    metadata = "Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n"
    (site / "brought-1.0.dist-info/METADATA").write_text(metadata)
    entry = f"[{deixis.methods.PLUGINS}]\nbrought = brought_method\n"
    (site / "brought-1.0.dist-info/entry_points.txt").write_text(entry)
    (tmp_path / "mine.toml").write_text(RECIPE)
    arguments = ["table", "mine.toml", "--tiny", "--json"]
    paths = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "deixis", *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [row["label"] for row in json.loads(done.stdout)["rows"]] == ["chance", "brought"]
