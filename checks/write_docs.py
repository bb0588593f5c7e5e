"""Write the generated parts of the documentation, or say which are out of date (``--check``).

The command reference is one whole page. Elsewhere a part stands between two comments,
``<!-- options scan -->`` and ``<!-- end -->``; what is between them is replaced.
"""

import re
import sys
from pathlib import Path

from command_pages import command_reference
from method_pages import citation, option_table, paper_tables, recipe_list

DOCS = Path(__file__).parents[1] / "docs"
PARTS = {
    "options": option_table,
    "paper": paper_tables,
    "recipes": recipe_list,
    "citation": citation,
}
MARKED = re.compile(r"<!-- (\w+) (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def generated() -> dict[Path, str]:
    """Every page with a generated part, as it should be."""
    pages = {DOCS / "reference" / "commands.md": command_reference()}
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if MARKED.search(text):
            pages[path] = MARKED.sub(_part, text)
    return pages


def stale(pages: dict[Path, str]) -> list[Path]:
    """The pages that are not on disk as they should be."""
    return [
        path
        for path, text in pages.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main() -> int:
    pages = generated()
    old = stale(pages)
    if "--check" in sys.argv:
        for path in old:
            print(f"{path} is not what the code says: run 'make docs-write'")
        return 1 if old else 0
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages[path], encoding="utf-8")
        print(f"wrote {path}")
    return 0


def _part(found: re.Match[str]) -> str:
    kind, name = found[1], found[2]
    if kind not in PARTS:
        raise SystemExit(f"there is no generated part '{kind}'; known: {', '.join(PARTS)}")
    return f"<!-- {kind} {name} -->\n\n{PARTS[kind](name)}\n\n<!-- end -->"


if __name__ == "__main__":
    sys.exit(main())
