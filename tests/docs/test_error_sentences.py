"""Every sentence of the page of errors is one the code can say."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8").partition("## Not errors")[0]
HEADINGS = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
VALUE = "…"


def sentences(tree: ast.AST) -> Iterator[str]:
    """String literals, with "…" where a value goes; literals side by side are one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                part.value if isinstance(part, ast.Constant) else VALUE for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


SAID = {
    sentence
    for path in sorted((ROOT / "src" / "deixis").rglob("*.py"))
    for sentence in sentences(ast.parse(path.read_text(encoding="utf-8")))
}


def test_the_page_has_sentences():
    assert len(HEADINGS) > 20


@pytest.mark.parametrize("heading", HEADINGS)
def test_the_code_can_say_the_sentence(heading):
    pattern = ".*".join(map(re.escape, heading.replace("`", "").split(VALUE)))
    assert any(re.fullmatch(pattern, said.replace("`", ""), re.DOTALL) for said in SAID)
