"""`deixis report` and `deixis cost` on two small trained runs."""

import json
from pathlib import Path

import pytest
from test_thread import call

RECIPE = """
title = "small sets"
[data]
size = 60
[train]
length = 2
batch = 16
[[row]]
label = "slots"
method = {name = "dive", dim = 16, word_dim = 8, head_dim = 4, parts = 3, image = "grid"}
[[row]]
label = "one vector"
method = {name = "vse_infinity", dim = 16, word_dim = 8}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    recipe = folder / "small.toml"
    recipe.write_text(RECIPE)
    call("table", recipe, "--runs", folder, "--threads", 1, "--json")
    return [folder / "small" / name for name in ("slots-0", "one-vector-0")]


def test_cost_counts_operations_beside_the_first_run(runs):
    costs = json.loads(call("cost", *reversed(runs), "--repeats", 1, "--json"))
    one, slots = (costs[str(run)] for run in reversed(runs))
    assert slots["flops"] == 9 * one["flops"]
    assert "9.0 ×" in call("cost", *reversed(runs), "--repeats", 1)


def test_a_report_holds_every_picture_and_one_page(runs, tmp_path):
    call("report", *runs, "--out", tmp_path / "page", "--pictures", 2)
    page = (tmp_path / "page/index.html").read_text(encoding="utf-8")
    pictures = sorted(path.name for path in Path(tmp_path / "page").glob("*.png"))
    assert len(pictures) == 3
    assert "tsne.png" in pictures
    assert page.count("data:image/svg+xml;base64,") == 1
    assert page.count("data:image/jpeg;base64,") == 2 * (1 + 3 * 4)  # 3 slots, 4 iterations
    assert "slots-0: what each slot attends to" in page
    assert page.count("Not drawn: this model&#39;s images are not sets made by attention") == 1


def test_a_report_as_json_holds_what_its_table_shows(runs, tmp_path):
    printed = json.loads(call("report", *runs, "--out", tmp_path, "--pictures", 1, "--json"))
    slots, one = printed["slots-0"], printed["one-vector-0"]
    assert sum(slots["image_wins"]) == pytest.approx(1.0)
    assert len(slots["text_wins"]) == 3
    assert slots["image_variance"] > 0.01
    assert one["image_variance"] == pytest.approx(0.0, abs=1e-6)
    assert f"{slots['text_variance']:.4f}" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_split_reaches_the_report(runs, tmp_path):
    judged, test, val = (
        call("report", runs[0], "--out", tmp_path, "--pictures", 0, "--json", *split)
        for split in ([], ["--split", "test"], ["--split", "val"])
    )
    assert judged == test, "a run is shown on the split it was judged on"
    assert json.loads(val)["slots-0"] != json.loads(test)["slots-0"]
