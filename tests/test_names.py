"""One name, one thing: no two modules and no two public classes share a name, no folder sprawls."""

import ast
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import deixis

ROOT = Path(deixis.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TREE = Path(__file__).parents[1]
MOST_FILES = 15
READ = {".py", ".md", ".toml", ".js", ".css", ".html"}  # pictures and data are not counted
ONE_FILE_PER = {  # folders whose size is not a matter of taste
    "benchmarks": "benchmark",
    "docs/methods": "paper",
    "recipes": "table",
    "src/deixis/cli": "verb",
    "src/deixis/methods": "paper",
    "src/deixis/serve/ui": "part of the page, which a browser loads by name",
}


def shared(names: list[tuple[str, Path]]) -> dict[str, list[Path]]:
    """Names that stand in more than one place."""
    places = defaultdict(list)
    for name, path in names:
        places[name].append(path.relative_to(ROOT))
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_modules_share_a_file_name():
    assert not shared([(path.name, path) for path in FILES if path.name != "__init__.py"])


def test_no_two_public_classes_share_a_name():
    classes = [
        (node.name, path)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert len(classes) > 200
    assert not shared(classes)


def test_no_folder_holds_too_many_files():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=TREE, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    sizes = Counter(path.parent.as_posix() for path in map(Path, listed) if _counts(path))
    assert len(sizes) > 80
    over = {name: size for name, size in sizes.items() if size > MOST_FILES}
    assert {name: size for name, size in over.items() if name not in ONE_FILE_PER} == {}
    assert set(ONE_FILE_PER) <= set(over), "an exception that no folder needs any more"


def _counts(path: Path) -> bool:
    """Whether a reader chooses this file among its neighbours; of tests, only those that test."""
    if path.parts[0] == "tests":
        return path.name.startswith("test_")
    return path.suffix in READ and path.name != "__init__.py"
