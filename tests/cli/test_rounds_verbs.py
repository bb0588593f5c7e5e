"""`deixis mine`, `deixis ranks` and `deixis compare` on two rounds of two seeds."""

import json
import shutil

import numpy as np
import pytest
from test_thread import call

from deixis.data.negatives.mined_negatives import MinedNegatives
from deixis.errors import EvaluationError
from deixis.evaluation.judge import scores_of
from deixis.evaluation.probes.cross_rank import cross_ranks, histogram
from deixis.runs.run import Run

RECIPE = """
title = "two rounds"
seeds = [0, 1]
[data]
size = 60
[train]
length = 2
batch = 8
[[row]]
label = "first"
method = {name = "vse_infinity", dim = 8, word_dim = 8}
[[row]]
label = "second"
start = "first"
offline = {by = "first", texts = 20, images = 5}
method = {name = "aoq", base = {name = "vse_infinity", dim = 8, word_dim = 8}}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rounds")
    (folder / "small.toml").write_text(RECIPE)
    call("table", folder / "small.toml", "--runs", folder, "--threads", 1, "--json")
    return folder / "small"


def test_ranks_of_a_run_without_its_seed_are_the_mean_of_its_seeds(runs, tmp_path):
    drawing = tmp_path / "ranks.svg"
    folders = [runs / "first", runs / "first-0", runs / "first-1"]
    printed = json.loads(call("ranks", *folders, "--svg", drawing, "--threads", 1, "--json"))
    mean, *seeds = printed.values()
    assert len(seeds) == 2
    assert seeds[0] != seeds[1]
    assert mean == {name: round((seeds[0][name] + seeds[1][name]) / 2) for name in mean}
    assert "<svg" in drawing.read_text()


def test_ranks_of_runs_together_are_those_of_their_average(runs):
    folders = [runs / "first-0", runs / "first-1"]
    printed = json.loads(call("ranks", runs / "first", "--together", "--threads", 1, "--json"))
    models = [Run(folder) for folder in folders]
    test = models[0].dataset()
    scores = [scores_of(run.matcher.model, test) for run in models]
    wanted = histogram(cross_ranks((scores[0] + scores[1]) / 2, test.corpus.pairs))
    assert printed == {"first-0 + first-1": wanted}
    apart = json.loads(call("ranks", *folders, "--threads", 1, "--json"))
    assert wanted not in apart.values()


def test_runs_of_different_splits_are_not_averaged(runs, tmp_path):
    shutil.copytree(runs / "first-0", tmp_path / "other-0")
    path = tmp_path / "other-0" / "recipe.json"
    record = json.loads(path.read_text())
    record["data"]["test"], record["data"]["val"] = "val", "test"
    path.write_text(json.dumps(record))
    with pytest.raises(EvaluationError, match="first-1, other-0 rank different splits"):
        call("ranks", runs / "first-1", tmp_path / "other-0", "--together", "--threads", 1)


def test_the_second_round_mined_what_the_verb_mines(runs, tmp_path):
    options = ("--texts", 20, "--images", 5, "--threads", 1, "--json")
    printed = json.loads(call("mine", runs / "first-0", "--folder", tmp_path / "mined", *options))
    mined = MinedNegatives.load(tmp_path / "mined")
    used = MinedNegatives.load(runs / "first-0" / "negatives-20-5")
    assert printed["texts_per_image"] == 20
    assert printed["model"] == used.source.model
    assert mined.source == used.source
    np.testing.assert_array_equal(mined.texts, used.texts)
    np.testing.assert_array_equal(mined.images, used.images)


def test_a_slow_run_re_scores_what_a_fast_one_recalls(runs, tmp_path):
    options = ("--texts", 4, "--images", 2, "--threads", 1, "--json")
    second, first = runs / "second-0", runs / "first-0"
    folder = tmp_path / "mined"
    printed = json.loads(call("mine", second, "--recall", first, "--folder", folder, *options))
    found, wide = MinedNegatives.load(folder), MinedNegatives.load(folder / "recalled")
    assert printed["texts_per_image"] == 4
    assert found.source.model == printed["model"] != wide.source.model
    assert all(set(few) <= set(many) for few, many in zip(found.texts, wide.texts, strict=True))
    assert all(set(few) <= set(many) for few, many in zip(found.images, wide.images, strict=True))


def test_two_rounds_stand_side_by_side(runs, tmp_path):
    page = tmp_path / "page.html"
    printed = json.loads(call("compare", runs / "second", runs / "first", "--html", page, "--json"))
    assert "rsum" in {difference["measure"] for difference in printed}
    assert page.read_text(encoding="utf-8").count("<img") > 0
