"""`deixis draw`, `failures` and `evaluate` on small runs judged by labels."""

import json

import pytest
from PIL import Image
from test_thread import call

RECIPE = """
title = "small labels"
judge = "labels"
[data]
size = 100
[train]
length = "2 epochs"
batch = 16
mask = 0.15
[[figure]]
title = "Predicting over epochs"
measures = ["image_f1", "text_f1"]
[[figure]]
title = "Finding over λ"
measures = ["i2t_ndcg", "t2i_ndcg"]
over = "masked"
[[row]]
label = "without"
method = {name = "semantic_sharing", dim = 16, word_dim = 8, layers = 1, inner = 16}
[[row]]
label = "with"
method = {name = "semantic_sharing", masked = 0.1, dim = 16, word_dim = 8, layers = 1, inner = 16}
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    recipe = folder / "small.toml"
    recipe.write_text(RECIPE)
    page = call("table", recipe, "--runs", folder, "--threads", 1, "--format", "html")
    return recipe, folder, page


def test_a_tables_page_holds_its_figures(table):
    _, _, page = table
    assert '<th scope="col">image F1</th>' in page
    assert page.count("data:image/svg+xml;base64,") == 2


def test_figures_are_drawn_from_finished_runs(table, tmp_path):
    recipe, folder, _ = table
    call("draw", recipe, "--runs", folder, "--out", tmp_path)
    names = sorted(path.name for path in tmp_path.glob("*.png"))
    assert names == ["finding-over.png", "predicting-over-epochs.png"]
    for name in names:
        with Image.open(tmp_path / name) as picture:
            assert picture.width > 500


def test_figures_can_be_svg_and_machines_learn_where_they_are(table, tmp_path):
    recipe, folder, _ = table
    options = ("--runs", folder, "--out", tmp_path, "--format", "svg", "--json")
    made = json.loads(call("draw", recipe, *options))
    assert made["Finding over λ"] == str(tmp_path / "finding-over.svg")
    assert (tmp_path / "finding-over.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_figures_of_unfinished_runs_are_left_out(table, tmp_path):
    recipe, _, _ = table
    call("draw", recipe, "--runs", tmp_path / "nowhere", "--out", tmp_path)
    assert not list(tmp_path.glob("*.png"))


def test_failures_show_labels_and_kinds_on_one_page(table, tmp_path):
    _, folder, _ = table
    page = tmp_path / "failures.html"
    asked = ("--html", page, "--super-class", "apple|ball")
    assert len(json.loads(call("failures", folder / "small/with-0", *asked, "--json"))) == 2
    written = page.read_text(encoding="utf-8")
    assert "Image to text" in written and "Text to image" in written
    assert "<li>" in written and "predicted: " in written


def test_a_run_is_judged_by_labels_whole_and_in_folds(table):
    _, folder, _ = table
    run = folder / "small/with-0"
    (whole,) = json.loads(call("evaluate", run, "--protocol", "labels", "--json")).values()
    kept = json.loads((run / "metrics.json").read_text())
    assert whole["measures"] == pytest.approx(kept["measures"])
    (folds,) = json.loads(call("evaluate", run, "--protocol", "label-folds", "--json")).values()
    assert folds["protocol"].endswith("mean of 5 folds")
    assert folds["gallery"]["t2i"] * 5 == whole["gallery"]["t2i"]
