"""No dead flags: an option exists because a recipe, an example or a test sets it for its owner."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from deixis.methods import load_all
from deixis.methods.model import methods
from deixis.runs.data_spec import DataSpec
from deixis.training.spec import TrainSpec

ROOT = Path(__file__).parents[1]
load_all()

Option = tuple[str, str]  # a method's name, "data" or "train"; one of its options
OWNERS = {"data": DataSpec, "train": TrainSpec} | {
    name: kind
    for name in methods.names()
    if (kind := methods.find(name)).__module__.startswith("deixis.")  # examples add their own
}
OPTIONS = [(owner, field.name) for owner, kind in OWNERS.items() for field in fields(kind)]
BY_CLASS = {kind.__name__: owner for owner, kind in OWNERS.items()}


def set_in_recipe(table: Mapping[str, Any]) -> Iterator[Option]:
    """Options of a recipe's tables; a method that wraps another sets options of both."""
    for part in (table, *table.get("row", ())):
        for owner in ("data", "train"):
            yield from ((owner, key) for key in part.get(owner, {}))
    for row in table.get("row", ()):
        method = row.get("method", {})
        for options in (method, method.get("base", {})):
            yield from ((options["name"], key) for key in options if "name" in options)


def set_in_python(text: str) -> Iterator[Option]:
    """Keywords of ``VSEPP(…)`` and ``TrainSpec(…)``, and tables of methods written as text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if called in BY_CLASS:
                yield from ((BY_CLASS[called], word.arg) for word in node.keywords if word.arg)
        if isinstance(node, ast.Dict):
            keys = [getattr(key, "value", None) for key in node.keys]
            named = dict(zip(keys, node.values, strict=True)).get("name")
            if isinstance(named, ast.Constant):
                yield from ((str(named.value), str(key)) for key in keys)
    for table in re.findall(r"\{+([^{}]*\bname\s*=\s*\"\w+\"[^{}]*)\}+", text):
        owner = re.search(r"\bname\s*=\s*\"(\w+)\"", table)
        assert owner is not None
        yield from ((owner[1], key) for key in re.findall(r"(\w+)\s*=", table))
    yield from ((owner, key) for owner, key in re.findall(r"\b(data|train)\.(\w+)=", text))
    for owner, body in re.findall(r"^\[(data|train)\]\n((?:[^\[\n].*\n)*)", text, re.MULTILINE):
        yield from ((owner, key) for key in re.findall(r"^(\w+)\s*=", body, re.MULTILINE))


@pytest.fixture(scope="module")
def varied() -> set[Option]:
    found: set[Option] = set()
    for path in ROOT.glob("recipes/*.toml"):
        found |= set(set_in_recipe(tomllib.loads(path.read_text(encoding="utf-8"))))
    for path in (*ROOT.glob("examples/*.py"), *ROOT.glob("tests/**/*.py")):
        found |= set(set_in_python(path.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize(("owner", "option"), OPTIONS)
def test_an_option_is_set_for_its_owner_somewhere(owner, option, varied):
    assert (owner, option) in varied, f"{owner}.{option} is never set"


def test_a_word_of_the_same_name_is_no_option_of_a_method():
    text = 'SCAN(margin=0.3)\nmethod = {name = "vsepp", dim = 16}\nmargin = 2\n'
    found = set(
        set_in_python("SCAN(margin=0.3)\nx = '''" + text.splitlines()[1] + "'''\nmargin = 2")
    )
    assert ("scan", "margin") in found and ("vsepp", "dim") in found
    assert ("vsepp", "margin") not in found and ("scan", "dim") not in found
