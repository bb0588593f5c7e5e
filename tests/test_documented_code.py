"""Python in the documentation names what is there."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import deixis

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_name_of_a_python_block_exists(block):
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("deixis"):
            module = import_module(str(node.module))
            assert all(hasattr(module, alias.name) for alias in node.names)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "deixis":
            assert node.attr in deixis.__all__


def test_every_loss_and_similarity_in_a_table_exists():
    names = {
        name
        for page in ("loss", "similarity")
        for row in re.findall(r"^\| `.*?\|", (ROOT / f"docs/nouns/{page}.md").read_text(), re.M)
        for name in re.findall(r"`(\w+)`", row)
    }
    source = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("losses", "similarity")
        for path in (ROOT / "src/deixis" / folder).rglob("*.py")
    )
    assert len(names) > 15
    assert {name for name in names if f"class {name}(" not in source} == set()
