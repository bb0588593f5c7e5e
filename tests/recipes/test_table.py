"""Tables say the same in every form; derived rows need no training."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.cli.progress import Bars
from deixis.data.corpus import Corpus
from deixis.errors import RunError
from deixis.evaluation.evaluate import judge
from deixis.evaluation.hubness import corrected
from deixis.methods.matcher import load
from deixis.recipes.card import model_card
from deixis.recipes.derive import derive
from deixis.recipes.prepare import prepare, prepare_for
from deixis.recipes.recipe import Derived, Recipe
from deixis.recipes.run import run_row
from deixis.recipes.sidebyside import write_page
from deixis.recipes.table import Line, Report

ROOT = Path(__file__).parents[2]


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
    assert "A &lt;table&gt;" in made.html()
    assert json.loads(json.dumps(made.record()))["rows"][0]["printed"] == {"rsum": 299.5}


def test_costs_stand_before_the_measures_where_a_recipe_shows_them():
    line = Line("ours", ({"rsum": 300.0, "query_ms": 1.25, "whole_s": 40.0},), {}, "O(N²D)")
    made = Report("t", "p", "", (line,), costs=True)
    assert made.headings[:4] == ["", "complexity", "a query, ms", "whole split, s"]
    assert made.rows()[0][:4] == ["ours", "O(N²D)", "1.2", "40.0"]
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
    folders = []
    for seed in (0, 1):
        folder = tmp_path_factory.mktemp("run") / f"vse-{seed}"
        run_row(recipe, recipe.rows[0], seed, prepared, folder, nothing)
        folders.append(folder)
    return folders, prepared


def test_a_table_judged_by_coco_shows_what_every_row_of_its_recipe_prints():
    recipe = Recipe.load(ROOT / "recipes/dive_eccv.toml")
    measured = {"eccv_i2t_map@r": 36.0, "rsum": 400.0}
    report = Report("t", "p", "", tuple(Line(r.label, (measured,), r.printed) for r in recipe.rows))
    assert all(set(row.printed) <= set(report.columns) for row in recipe.rows)
    assert "72.3" in report.markdown()
    assert recipe.tiny().judge == "pairs"


def test_an_ensemble_of_one_run_scores_as_the_run_itself(trained):
    folders, prepared = trained
    alone = derive(Derived("one", ("VSE++",)), [(folders[0], prepared)])
    assert alone == json.loads((folders[0] / "metrics.json").read_text())["measures"]
    assert derive(Derived("two", ("VSE++",)), [(folder, prepared) for folder in folders]) != alone


def test_a_training_bank_changes_the_order_but_not_the_training(trained):
    folders, prepared = trained
    plain = derive(Derived("plain", ("VSE++",)), [(folders[0], prepared)])
    assert derive(Derived("bank", ("VSE++",), bank=10), [(folders[0], prepared)]) != plain


def test_popularity_is_taken_from_every_score():
    scores = np.array([[0.9, 0.8], [0.7, 0.1]])
    fixed = corrected(scores, np.array([0.5, 0.0]), np.array([0.0, 0.1]))
    np.testing.assert_allclose(fixed, [[0.4, 0.2], [0.7, 0.0]])


def test_a_run_folder_says_what_it_is_and_finds_its_split_again(trained):
    folders, prepared = trained
    assert "VSE++" in (folders[0] / "README.md").read_text()
    again = prepare_for(folders[0], load(folders[0]), "", "", nothing)
    assert again.corpus.texts == prepared.splits["test"].corpus.texts
    batch = again.batch(np.arange(3), np.arange(4))
    torch.testing.assert_close(
        batch.images.values, prepared.splits["test"].batch(np.arange(3), np.arange(4)).images.values
    )


def test_the_page_shows_queries_won_and_lost_with_their_pictures(trained, tmp_path):
    folders, _ = trained
    with Bars() as bars:
        write_page(tmp_path / "page.html", folders[0], folders[1], bars.advance)
    page = (tmp_path / "page.html").read_text()
    assert page.count("<section>") > 4
    assert "class='right'" in page
    assert "data:image/jpeg;base64," in page


def test_a_folder_of_another_run_is_refused_with_what_differs(trained):
    folders, prepared = trained
    recipe = Recipe.load(ROOT / "recipes/tiny.toml", ["train.lr=0.5"]).tiny()
    with pytest.raises(RunError, match="another train"):
        run_row(recipe, recipe.rows[0], 0, prepared, folders[0], nothing)
