"""Tables say the same in every form; derived rows need no training."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.cli.shared.progress import Bars
from deixis.data.corpus import Corpus
from deixis.errors import RunError
from deixis.evaluation.judge import judge
from deixis.evaluation.reranking.hubness import corrected
from deixis.pages.run_comparison import write_comparison
from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Derived
from deixis.recipes.results.derived import derive
from deixis.recipes.results.model_card import model_card
from deixis.recipes.results.printed_table import Line, Report, with_flops_ratios
from deixis.recipes.run_row import run_row
from deixis.runs.prepare import prepare
from deixis.runs.run import Run

ROOT = Path(__file__).parents[3]


def report() -> Report:
    ours = Line("ours", ({"rsum": 300.0}, {"rsum": 310.0}), {"rsum": 299.5})
    return Report("A <table>", "paper-2020", "a note", (ours,))


def test_a_cell_is_the_mean_and_the_spread_over_seeds():
    line = report().lines[0]
    assert line.cell("rsum") == "305.0 ± 7.1"
    assert line.cell("i2t_hit@1") == "–"


def test_the_papers_number_stands_under_ours_in_every_form():
    made = report()
    assert made.rows()[1][-1] == "299.5"
    assert "| printed in the paper |" in made.markdown()
    assert json.loads(json.dumps(made.record()))["rows"][0]["printed"] == {"rsum": 299.5}


def test_costs_stand_before_the_measures_where_a_recipe_shows_them():
    line = Line("ours", ({"rsum": 300.0, "query_ms": 1.25, "whole_s": 40.0},), {}, "O(N²D)")
    made = Report("t", "p", "", (line,), costs=True)
    assert made.headings[:4] == ["", "complexity", "per query, ms", "whole split, s"]
    assert made.rows()[0][:4] == ["ours", "O(N²D)", "1.25", "40"]
    assert "complexity" not in Report("t", "p", "", (line,)).headings


@pytest.mark.parametrize(("swapped", "said"), [(40.0, "as they should"), (60.0, "against what")])
def test_a_card_says_whether_gates_do_what_they_promise(swapped, said):
    recipe = Recipe.load(ROOT / "recipes/camp_scenes.toml")
    result = judge(np.eye(2), two_images()).to_dict()
    assert "Gates" not in model_card(recipe, recipe.rows[0], 0, result)
    result["measures"] |= {"gate": 50.0, "gate_swapped": swapped}
    assert said in model_card(recipe, recipe.rows[0], 0, result)


def two_images() -> Corpus:
    own = np.array([[0, 0], [1, 1]])
    return Corpus("two", Path(), ("0.jpg", "1.jpg"), ("a", "b"), own[:, 0], own, ("test", "test"))


def nothing(*args) -> None:
    pass


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    recipe = Recipe.load(ROOT / "recipes/tiny.toml").tiny()
    prepared = prepare(recipe.rows[0].data, nothing)
    runs = []
    for seed in (0, 1):
        folder = tmp_path_factory.mktemp("run") / f"vse-{seed}"
        runs.append(run_row(recipe, recipe.rows[0], seed, prepared, folder, nothing))
    return runs, prepared


def test_a_table_judged_by_coco_shows_what_every_row_of_its_recipe_prints():
    recipe = Recipe.load(ROOT / "recipes/dive_eccv.toml")
    measured = {"eccv_i2t_map@r": 36.0, "rsum": 400.0}
    report = Report("t", "p", "", tuple(Line(r.label, (measured,), r.printed) for r in recipe.rows))
    assert all(set(row.printed) <= set(report.columns) for row in recipe.rows)
    assert "72.3" in report.markdown()
    assert recipe.tiny().judge == "whole"


def test_an_ensemble_of_one_run_scores_as_the_run_itself(trained):
    runs, prepared = trained
    alone = derive(Derived("one", ("VSE++",)), [(runs[0], prepared)])
    assert alone == runs[0].metrics["measures"]
    assert derive(Derived("two", ("VSE++",)), [(folder, prepared) for folder in runs]) != alone


def test_a_training_bank_changes_the_order_but_not_the_training(trained):
    runs, prepared = trained
    plain = derive(Derived("plain", ("VSE++",)), [(runs[0], prepared)])
    assert derive(Derived("bank", ("VSE++",), bank=10), [(runs[0], prepared)]) != plain


def test_popularity_is_taken_from_every_score():
    scores = np.array([[0.9, 0.8], [0.7, 0.1]])
    fixed = corrected(scores, np.array([0.5, 0.0]), np.array([0.0, 0.1]))
    np.testing.assert_allclose(fixed, [[0.4, 0.2], [0.7, 0.0]])


def test_a_run_folder_says_what_it_is_and_finds_its_split_again(trained):
    runs, prepared = trained
    assert "VSE++" in runs[0].path("card").read_text()
    again = Run(runs[0].folder).dataset()
    assert again.corpus.texts == prepared.splits["test"].corpus.texts
    batch = again.batch(np.arange(3), np.arange(4))
    torch.testing.assert_close(
        batch.images.values, prepared.splits["test"].batch(np.arange(3), np.arange(4)).images.values
    )


def test_the_page_shows_queries_won_and_lost_with_their_pictures(trained, tmp_path):
    runs, _ = trained
    with Bars() as bars:
        write_comparison(tmp_path / "page.html", runs[0], runs[1], bars.advance)
    page = (tmp_path / "page.html").read_text()
    assert page.count("<article") > 4
    assert 'class="item right"' in page
    assert "data:image/jpeg;base64," in page


def test_a_folder_of_another_run_is_refused_with_what_differs(trained):
    runs, prepared = trained
    recipe = Recipe.load(ROOT / "recipes/tiny.toml", ["train.lr=0.5"]).tiny()
    with pytest.raises(RunError, match="another train"):
        run_row(recipe, recipe.rows[0], 0, prepared, runs[0].folder, nothing)


def test_flops_stand_beside_those_of_the_first_row():
    lines = [
        Line("chance", ({"rsum": 1.0},), {}),
        Line("fast", ({"rsum": 2.0, "flops": 10.0, "top10_ms": 159.0},), {"flops_ratio": 1.0}),
        Line("slow", ({"rsum": 3.0, "flops": 160.0, "top10_ms": 1.5},), {"flops_ratio": 16.0}),
    ]
    made = Report("t", "p", "", with_flops_ratios(lines), costs=True)
    assert made.headings[2:4] == ["FLOPs, first row 1", "best 10 of each, ms"]
    assert [row[2:4] for row in made.rows()] == [
        ["–", "–"], ["1", "159"], ["1", "–"], ["16", "1.5"], ["16", "–"],
    ]  # fmt: skip
