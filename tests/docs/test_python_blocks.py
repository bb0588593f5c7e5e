"""Every Python block of README and docs runs on made data, those of one page in their order."""

import re
from pathlib import Path
from typing import Any

import pytest

from deixis.data.simulated.scenes import write_scenes
from deixis.methods.model import methods
from deixis.recipes.recipe import Recipe
from made import made_pictures

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = {
    str(page.relative_to(ROOT)): blocks
    for page in PAGES
    if (blocks := re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
}
# Pages whose blocks need what is not here, and why; tests/test_documented_code.py checks the names.
NOT_RUN = {"docs/programs.md": "a server at a fixed port: tests/search/test_client.py"}
TABLE = """
[data]
size = 60
[train]
length = 2
batch = 16
[[row]]
label = "VSE++"
method = {name = "vsepp", dim = 16, word_dim = 8}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with pictures, a captioned corpus, and the run of a small recipe called tiny."""
    home = tmp_path_factory.mktemp("home")
    for number, name in enumerate(("boat.jpg", "kite.jpg")):
        (made_pictures(home / str(number), 1) / "0.png").rename(home / name)
    write_scenes(home / "photos", images=24)
    (home / "recipes").mkdir()
    (home / "recipes" / "tiny.toml").write_text(TABLE)
    for runs in ("runs", "demo/runs"):
        Recipe.load(home / "recipes" / "tiny.toml").run(home / runs)
    return home


def test_what_is_not_run_is_there():
    assert len(BLOCKS) > 10
    assert set(NOT_RUN) <= set(BLOCKS)


@pytest.mark.parametrize("page", sorted(set(BLOCKS) - set(NOT_RUN)))
def test_the_blocks_of_a_page_run(page, place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setattr(methods, "_classes", dict(methods._classes))  # a block registers its own
    names: dict[str, Any] = {"__name__": "page"}
    if page == "docs/start/train-on-my-data.md":  # "images" and "texts" are the reader's lists
        pictures = sorted(map(str, (place / "photos").rglob("*.jpg")))[:8]
        names |= {"images": pictures, "texts": [f"picture {n}" for n in range(len(pictures))]}
    for block in BLOCKS[page]:
        smaller = block.replace("images=1600", "images=24")
        exec(compile(smaller, page, "exec"), names)
