"""Recipes are typed, refuse what they do not know, and take overrides."""

from pathlib import Path

import pytest

from deixis.errors import RecipeError
from deixis.recipes.recipe import Recipe

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
TABLE = """
title = "a table"
[data]
corpus = "scenes"
[train]
lr = 1
[[row]]
label = "one"
method = {name = "vsepp", dim = 64}
printed = {rsum = 400}
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(TABLE)
    return file


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_loads_and_has_a_tiny_sibling(recipe):
    loaded = Recipe.load(recipe)
    assert loaded.rows
    assert len(loaded.tiny().rows) == len(loaded.rows)


def test_a_recipe_reads_its_table(path):
    recipe = Recipe.load(path)
    assert recipe.rows[0].train.lr == 1.0
    assert recipe.row("one").printed == {"rsum": 400}
    assert recipe.row("one").method.dim == 64


def test_overrides_change_keys_of_tables(path):
    recipe = Recipe.load(path, ["train.lr=2e-4", "data.corpus=/some/where", "seeds=[1, 2]"])
    row = recipe.rows[0]
    assert (row.train.lr, row.data.corpus, recipe.seeds) == (2e-4, "/some/where", (1, 2))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("train.rate=1", r"train has no option 'rate'; it takes: .*lr"),
        ("tain.lr=1", "a recipe has no key 'tain'; it takes: cost_split, costs, data"),
        ("train.lr", "an override is key=value"),
        ("title.x=1", "'title' is not a table"),
    ],
)
def test_a_wrong_override_is_refused_by_naming_the_known_keys(path, override, message):
    with pytest.raises(RecipeError, match=message):
        Recipe.load(path, [override])


def test_a_row_may_change_data_and_training_for_itself(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TABLE + 'data = {image = "regions"}\ntrain = {batch = 7}\n')
    row = Recipe.load(path).rows[0]
    assert (row.data.image, row.train.batch, row.train.lr) == ("regions", 7, 1.0)


ROWS = TABLE + 'train = {batch = 7}\n[[row]]\nlabel = "two"\nmethod = {name = "vsepp"}\n'


def test_a_change_is_the_tables_and_of_the_row_that_is_named(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(ROWS)
    for named, batches in (("", [7, 9]), ("two", [7, 9]), ("one", [9, 9])):
        rows = Recipe.load(path, ["train.batch=9"], row=named).rows
        assert [row.train.batch for row in rows] == batches


def test_a_change_that_reaches_no_row_is_refused(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(TABLE + "train = {batch = 7}\n")
    with pytest.raises(RecipeError, match="train.batch changes nothing: every row sets its own"):
        Recipe.load(path, ["train.batch=9"])
    assert Recipe.load(path, ["train.batch=9"], row="one").rows[0].train.batch == 9


def test_a_row_that_is_not_there_lists_those_that_are(path):
    with pytest.raises(RecipeError, match="no row 'two'; it has: 'one'"):
        Recipe.load(path).row("two")


def test_a_file_that_is_not_there_or_not_toml_is_refused(tmp_path):
    with pytest.raises(RecipeError, match="no recipe at"):
        Recipe.load(tmp_path / "nothing.toml")
    (tmp_path / "broken.toml").write_text("title = ")
    with pytest.raises(RecipeError, match="not a TOML file"):
        Recipe.load(tmp_path / "broken.toml")
