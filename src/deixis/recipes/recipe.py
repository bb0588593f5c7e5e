"""A recipe: one TOML file, typed, with overrides."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deixis.data.batches.mined import OfflineSpec
from deixis.data.negatives.released_negatives import holds_released_lists
from deixis.errors import RecipeError
from deixis.evaluation.protocol_names import ProtocolName
from deixis.evaluation.protocol_table import PROTOCOLS
from deixis.features.backbones.backbone import vectors_of
from deixis.features.backbones.trainable_inputs import PREFIX
from deixis.methods import load_all
from deixis.recipes.events import OnEvent, unheard
from deixis.recipes.find_recipe import find_recipe
from deixis.recipes.narrow_methods import BERT_WIDTHS, method_of, narrowed
from deixis.recipes.overrides import apply_override
from deixis.recipes.recipe_parts import Derived, Figure, PlacesOf, Pointing, Row
from deixis.recipes.recipe_tables import seeds_of, table_under, tables_under
from deixis.registry import build_dataclass, convert
from deixis.runs.data_spec import DataSpec
from deixis.runs.run import Run
from deixis.training.spec import TrainSpec

if TYPE_CHECKING:
    from deixis.recipes.results.printed_table import Report

TINY_DATA: dict[str, Any] = {
    "corpus": "scenes",
    "also": (),
    "size": 120,
    "train": "train",
    "val": "val",
    "test": "test",
    "label_words": (),
    "holdout": 0,
}

# The embedded scenes are not COCO's test split, nor five folds of anything.
TINY_JUDGES: dict[ProtocolName, ProtocolName] = {
    "coco": "whole",
    "coco-part": "whole",
    "folds": "whole",
    "label-folds": "labels",
}
REHEARSED = {"holdout": 10, "size": 120, "val_images": 8}  # counts of a rehearsal, at most
FIRST = 200  # images of each split that a rehearsal looks at; five folds of 40
ALL_OF_TEST: tuple[ProtocolName, ...] = ("coco", "coco-part")  # judges that take no part of it


@dataclass(frozen=True)
class Recipe:
    """A table of a paper that can be run.

    ```python
    recipe = deixis.Recipe.load("recipes/tiny.toml")
    report = recipe.run("runs")                       # trains what is missing
    print(report.markdown())
    ```
    """

    name: str
    title: str
    paper: str
    rows: tuple[Row, ...]
    derived: tuple[Derived, ...] = ()
    figures: tuple[Figure, ...] = ()
    pointing: Pointing | None = None
    seeds: tuple[int, ...] = (0,)
    judge: ProtocolName = "whole"
    note: str = ""
    costs: bool = False  # show complexity and CPU time of scoring beside the measures
    # Measure instead, on this split, FLOPs and time of scoring and finding the best ten.
    cost_split: Literal["", "val", "test"] = ""
    first: int = 0  # of a rehearsal: how many images of each split it looks at; 0: all

    @classmethod
    def load(
        cls,
        path: Path | str,
        overrides: Sequence[str] = (),
        *,
        row: str = "",
        tiny: bool = False,
        rehearse: bool = False,
    ) -> "Recipe":
        """Read a recipe; ``key=value`` overrides change keys that are there or may be.

        Rows keep what they set for themselves, except the one called ``row``.
        A name without a file, such as "pointing", is one of the recipes that come with deixis;
        ``tiny`` and ``rehearse`` are the same in seconds, as ``tiny()`` and ``rehearsal()`` say.
        """
        path = find_recipe(path)
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RecipeError(f"{path}: not a TOML file: {error}") from error
        except RecursionError as error:
            raise RecipeError(f"{path}: not a TOML file: it is nested too deeply") from error
        for override in overrides:
            apply_override(table, override, row)
        recipe = cls.of(path.stem, table)
        return recipe.tiny() if tiny else recipe.rehearsal() if rehearse else recipe

    @classmethod
    def of(cls, name: str, table: Mapping[str, Any]) -> "Recipe":
        """Build a recipe from its table, refusing keys it does not know."""
        load_all()
        known = {f.name for f in fields(cls)} - {"name", "rows", "figures", "first"}
        known |= {"row", "data", "train", "figure"}
        unknown = sorted(set(table) - known)
        if unknown:
            listed = ", ".join(sorted(known))
            raise RecipeError(f"a recipe has no key '{unknown[0]}'; it takes: {listed}")
        if not table.get("row"):
            raise RecipeError(f"recipe '{name}' has no [[row]]")
        rows = tuple(_row(row, table) for row in tables_under(table, "row"))
        for place, row in enumerate(rows):
            earlier = [before.label for before in rows[:place]]
            if row.method.needs_start and not row.start:
                raise RecipeError(f"row '{row.label}' has no start; {row.method.needs_start}")
            if row.start and row.start not in earlier and not Run(row.start).trained:
                raise RecipeError(
                    f"row '{row.label}' starts from '{row.start}', no earlier row and no run folder"
                )
            if row.places and row.places.of not in earlier and not Run(row.places.of).trained:
                what = f"'{row.places.of}', no earlier row and no run folder"
                raise RecipeError(f"row '{row.label}' has places of {what}")
            if row.offline and row.offline.by not in earlier and not _mines(Path(row.offline.by)):
                raise RecipeError(
                    f"row '{row.label}' mines by '{row.offline.by}': no earlier row, no run folder "
                    "and no folder of released lists"
                )
        return cls(
            name=name,
            title=convert(table.get("title", name), str, "title"),
            paper=convert(table.get("paper", ""), str, "paper"),
            rows=rows,
            derived=tuple(
                build_dataclass(Derived, line, "[[derived]]")
                for line in tables_under(table, "derived")
            ),
            figures=tuple(
                build_dataclass(Figure, drawn, "[[figure]]")
                for drawn in tables_under(table, "figure")
            ),
            pointing=build_dataclass(Pointing, table["pointing"], "[pointing]")
            if "pointing" in table
            else None,
            seeds=seeds_of(table),
            judge=convert(table.get("judge", "whole"), ProtocolName, "judge"),
            note=convert(table.get("note", ""), str, "note"),
            costs=convert(table.get("costs", False), bool, "costs"),
            cost_split=convert(
                table.get("cost_split", ""), Literal["", "val", "test"], "cost_split"
            ),
        )

    def run(self, runs: Path | str = "runs", on_event: OnEvent = unheard) -> "Report":
        """Train every row and seed that is not trained yet, and make the table.

        Run folders are kept in ``runs``; finished ones are read back, interrupted ones go on where
        they stopped. ``on_event`` receives what happens on the way (``recipes.events``).
        """
        from deixis.recipes.run_recipe import run_recipe  # it reads this file

        return run_recipe(self, Path(runs), on_event)

    def train(
        self,
        row: str = "",
        seed: int = 0,
        runs: Path | str = "runs",
        on_event: OnEvent = unheard,
    ) -> "Run":
        """Train one row with one seed into a run folder; the first row when none is named."""
        from deixis.recipes.run_recipe import train_row  # it reads this file

        return train_row(self, row, seed, Path(runs), on_event)

    @property
    def headline(self) -> str:
        """The measure that chooses the best weights of every row."""
        return PROTOCOLS[self.judge].headline

    def row(self, label: str) -> Row:
        """The row with a label."""
        for row in self.rows:
            if row.label == label:
                return row
        labels = ", ".join(repr(row.label) for row in self.rows)
        raise RecipeError(f"recipe '{self.name}' has no row '{label}'; it has: {labels}")

    def names_folder(self, label: str) -> bool:
        """Whether what a row builds on is a folder, and not another row."""
        return all(row.label != label for row in self.rows)

    def rehearsal(self) -> "Recipe":
        """The same table on its own data in short: narrow models, two steps, one seed.

        Corpus, features, splits, judge and printed numbers stay, of each split the first images, so
        that what would stop the whole table after days stops its rehearsal first.
        """
        rows = tuple(map(_rehearsed_row, self.rows))
        name, title = f"{self.name}-rehearsal", f"Rehearsal, two steps each: {self.title}"
        first = 0 if self.judge in ALL_OF_TEST else FIRST
        seeds = self.seeds[:1]
        return replace(self, name=name, title=title, rows=rows, seeds=seeds, first=first)

    def tiny(self) -> "Recipe":
        """The same table in seconds: few pictures, narrow models, one epoch, one seed."""
        rows = tuple(_tiny_row(row) for row in self.rows)
        derived = tuple(replace(line, judge="") for line in self.derived)
        judge = TINY_JUDGES.get(self.judge, self.judge)
        name = f"{self.name}-tiny"
        return replace(self, name=name, rows=rows, derived=derived, seeds=(0,), judge=judge)


def _row(row: Mapping[str, Any], table: Mapping[str, Any]) -> Row:
    options = table_under(row, "method")
    if not isinstance(options.get("name"), str):
        raise RecipeError(f"row '{row.get('label', '?')}' names no method: method = {{name = …}}")
    label = convert(row.get("label", options["name"]), str, "label of a row")
    resolved: dict[str, Any] = {**row, "label": label, "options": options}
    resolved["method"] = method_of(options)
    for key, kind in (("data", DataSpec), ("train", TrainSpec)):
        changed = {**table_under(table, key), **table_under(row, key)}
        resolved[key] = build_dataclass(kind, changed, f"row '{label}': {key}")
    if "offline" in row:
        resolved["offline"] = build_dataclass(
            OfflineSpec, row["offline"], f"row '{label}': offline"
        )
    if isinstance(row.get("take"), list):  # prefixes with the same names there
        same = convert(row["take"], tuple[str, ...], f"row '{label}': take")
        resolved["take"] = {prefix: prefix for prefix in same}
    if "places" in row:
        resolved["places"] = build_dataclass(PlacesOf, row["places"], f"row '{label}': places")
    return build_dataclass(Row, resolved, "[[row]]")


def _mines(folder: Path) -> bool:
    return Run(folder).trained or holds_released_lists(folder)


def _rehearsed_row(row: Row) -> Row:
    # Vectors of words and a BERT have widths of their own, which the model keeps to read them.
    keep = ("word_dim",) if vectors_of(row.data.text) else ()
    keep = (*keep, *BERT_WIDTHS) if row.options.get("bert") else keep
    options = narrowed(row.options, keep)
    train = replace(row.train, length=2, validate_every=2, batch=min(row.train.batch, 8))
    counts = {key: min(most, getattr(row.data, key)) for key, most in REHEARSED.items()}
    method = method_of(options)
    return replace(
        row, method=method, options=options, data=replace(row.data, **counts), train=train
    )


def _tiny_row(row: Row) -> Row:
    options = narrowed(row.options)
    towers: dict[
        str, Any
    ] = {  # the user's own, which may be large: packaged backbones stand in for them
        side: stand_in
        for side, stand_in in (("image", "lite0"), ("text", "minilm"))
        if getattr(row.data, side).startswith(PREFIX)
    }
    train = replace(row.train, length="1 epochs", batch=min(row.train.batch, 32), chunk=0)
    # Vectors of words have a width of their own, which a narrow model cannot take.
    chance: dict[str, Any] = {"text": "words"} if vectors_of(row.data.text) else {}
    if towers:
        kept = {k: v for k, v in train.rates.items() if not k.endswith(".tower")}
        train = replace(train, crop=0.0, frozen={}, rates=kept)
    return replace(
        row,
        method=method_of(options),
        options=options,
        data=replace(row.data, **TINY_DATA, side=0, **towers, **chance),
        train=train,
    )
