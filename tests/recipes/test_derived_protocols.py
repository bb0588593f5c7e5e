"""Lines derived from rows are judged as the paper judges them: folds, 5K, two models averaged."""

from pathlib import Path

import numpy as np
import pytest

from deixis.errors import RecipeError
from deixis.evaluation.judge import judge, scores_in_folds, scores_of
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Derived
from deixis.recipes.results.derived import derive
from deixis.recipes.run_row import run_of
from deixis.runs.advance import silent
from deixis.runs.prepare import prepare
from layouts.scan_arrays import COCO, write_scan_arrays

TABLE = {
    "judge": "folds",
    "seeds": [0, 1],
    "data": {"image": "regions", "val": "dev", "test": "testall"},
    "train": {"length": 2, "batch": 8},
    "row": [{"label": "VSE++", "method": {"name": "vsepp", "dim": 8, "word_dim": 8}}],
    "derived": [
        {"label": "two seeds averaged", "of": ["VSE++"], "seeds": "together"},
        {"label": "two seeds, 5K", "of": ["VSE++"], "seeds": "together", "judge": "whole"},
        {"label": "5K", "of": ["VSE++"], "judge": "whole"},
    ],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("folds")
    corpus = write_scan_arrays(root / "coco_precomp", COCO, repeated=False)
    data = TABLE["data"] | {"corpus": str(corpus)}
    recipe = Recipe.of("folds", TABLE | {"data": data})
    report = recipe.run(root / "runs")
    prepared = prepare(recipe.rows[0].data, silent)
    runs = [run_of(recipe, recipe.rows[0], seed, root / "runs") for seed in (0, 1)]
    return report, prepared, runs


def line(report, label):
    return next(line for line in report.lines if line.label == label)


def rsum_of_folds(scores, corpus):
    """The mean of five blocks of images, each with its own texts alone."""
    block = np.arange(len(corpus.files)) * 5 // len(corpus.files)
    found = []
    for number in range(5):
        images, texts = block == number, block[corpus.owners] == number
        part = judge(scores[images][:, texts], corpus.keep(images=images))
        found.append(part.measures["rsum"])
    return np.mean(found)


def rsum_of_all(scores, corpus):
    return judge(scores, corpus).measures["rsum"]


def test_a_recipe_reports_the_mean_of_five_folds(made):
    report, prepared, runs = made
    test = prepared.splits["test"]
    wanted = rsum_of_folds(scores_of(runs[0].matcher.model, test), test.corpus)
    assert runs[0].metrics["protocol"] == "mean of 5 folds"
    assert runs[0].metrics["gallery"] == {"i2t": 25, "t2i": 5}
    assert line(report, "VSE++").seeds[0]["rsum"] == pytest.approx(wanted)


def test_only_pairs_within_a_fold_are_scored(made, monkeypatch):
    _, prepared, runs = made
    model, test = runs[0].matcher.model, prepared.splits["test"]
    whole, score, seen = scores_of(model, test), type(model.similarity).forward, []

    def counted(self, images, texts):
        seen.append(len(images) * len(texts))
        return score(self, images, texts)

    monkeypatch.setattr(type(model.similarity), "forward", counted)
    found = scores_in_folds(model, test)
    assert sum(seen) == whole.size / 5
    inside = found != 0
    assert inside.sum() == whole.size / 5
    np.testing.assert_allclose(found[inside], whole[inside], rtol=1e-5)


def test_chance_is_that_of_a_fold(made):
    report, _, _ = made
    assert line(report, "chance").seeds[0]["t2i_hit@1"] == pytest.approx(100 / 5)


def test_two_seeds_are_averaged_before_they_are_judged(made):
    report, prepared, runs = made
    test = prepared.splits["test"]
    first, second = (scores_of(run.matcher.model, test) for run in runs)
    scores = (first + second) / 2
    for label, by in (("two seeds averaged", rsum_of_folds), ("two seeds, 5K", rsum_of_all)):
        found = line(report, label).seeds
        assert len(found) == 1
        assert found[0]["rsum"] == pytest.approx(by(scores, test.corpus))
        assert by(scores, test.corpus) != pytest.approx(by(first, test.corpus))


def test_another_protocol_judges_every_seed_of_a_row(made):
    report, prepared, runs = made
    test = prepared.splits["test"]
    wanted = [judge(scores_of(r.matcher.model, test), test.corpus).measures["rsum"] for r in runs]
    assert [seed["rsum"] for seed in line(report, "5K").seeds] == pytest.approx(wanted)


def test_re_ranking_is_refused_where_it_is_not_measured(made):
    _, prepared, runs = made
    again = Derived("again", ("VSE++", "VSE++"), rerank=0.5)
    with pytest.raises(RecipeError, match='only judge = "whole" measures that'):
        derive(again, [(run, prepared) for run in runs], "folds")


def test_no_row_of_table_a1_inherits_anothers_training():
    recipe = Recipe.load(Path(__file__).parents[2] / "recipes/dive_eccv.toml")
    assert recipe.row("VSRN, regions + GRU").train.drop_regions == 0.0
    printed = [line.label for line in (*recipe.rows, *recipe.derived) if line.printed]
    assert [label.partition(",")[0] for label in printed] == ["VSE∞", "DivE", "VSRN"]
    assert all("ResNeXt-101 + BERT" in label for label in printed[:2])


def test_costs_are_those_of_the_split_the_recipe_names(tmp_path):
    corpus = write_scan_arrays(tmp_path / "f30k_precomp")
    row = TABLE["row"][0]
    table = {"costs": True, "cost_split": "val", "row": [row], "train": TABLE["train"]}
    data = {"corpus": str(corpus), "image": "regions", "val": "dev", "val_images": 4}
    found = Recipe.of("costs", table | {"data": data}).run(tmp_path / "runs").lines[-1].seeds[0]
    # One product of 8 numbers per pair, 4 images by 20 texts, two operations each.
    assert found["flops"] == 2 * 8 * 4 * 20
    assert found["flops_ratio"] == 1 and np.isfinite(found["top10_ms"])
