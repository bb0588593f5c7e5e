"""A recipe: one TOML file, typed, with overrides."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from deixis.data.offline import OfflineSpec
from deixis.errors import RecipeError
from deixis.features.backbones import vectors_of
from deixis.features.trace import WINDOW
from deixis.features.tuned import PREFIX
from deixis.methods import load_all
from deixis.methods.model import Method, methods
from deixis.recipes.judging import Judge
from deixis.registry import build_dataclass, convert
from deixis.training.spec import TrainSpec

TINY_DATA: dict[str, Any] = {
    "corpus": "scenes",
    "size": 120,
    "train": "train",
    "val": "val",
    "test": "test",
    "label_words": (),
    "holdout": 0,
}

# What a method's sizes are cut down to where a table must run in seconds.
SMALL = {
    "dim": 32,
    "word_dim": 32,
    "hidden": 32,
    "head_dim": 16,
    "caption_dim": 32,
    "layers": 1,
    "inner": 32,
    "warmup": 5,
}


@dataclass(frozen=True)
class DataSpec:
    """Which corpus, which features, which splits."""

    corpus: str = "scenes"  # a path, or "scenes": the embedded corpus
    size: int = 1600  # pictures drawn when the corpus is the embedded one
    image: str = "lite0"
    text: str = "words"
    texts: Literal["captions", "narrations"] = "captions"  # narrations: texts with a trace alone
    window: float = WINDOW  # seconds of trace in a box
    train: str = "train"
    val: str = "val"
    test: str = "test"
    label_words: tuple[str, ...] = ()  # labels by what the first captions name, when none are given
    holdout: int = 0  # so many of the last training images become the validation split


@dataclass(frozen=True)
class Row:
    """A line of the table: a method with its options, and what the paper printed for it.

    A row may change keys of [data] and [train] for itself; here they are already resolved.
    """

    label: str
    method: Method
    options: Mapping[str, Any]  # the method as written, for the run's config
    data: DataSpec
    train: TrainSpec
    start: str = ""  # label of an earlier row whose trained weights this one begins with
    take: tuple[str, ...] = ()  # parameter prefixes it takes over from there; empty: all
    printed: Mapping[str, float] = field(default_factory=dict)
    offline: OfflineSpec | None = None  # negatives to mine with an earlier row's model


@dataclass(frozen=True)
class Derived:
    """A line made from trained rows: their scores averaged, over all their seeds when several.

    With a bank, each score loses the popularity of its image and text among training items; with
    a control, narrations lose their trace or get a wrong one. A single row gives one line a seed,
    and so do two of which the second re-ranks what the first found.
    """

    label: str
    of: tuple[str, ...]
    bank: int = 0  # nearest training items that say how popular an item is; 0: no correction
    control: str = ""  # of ``evaluation.trace_controls``; empty: queries as they are
    rerank: float = 0.0  # share or number of the first row's best that the second orders anew
    printed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """Measures to draw: on the validation split over epochs, or on the test split over an option.

    Several rows over epochs are told apart by their strokes.
    """

    title: str
    measures: tuple[str, ...]
    over: str = "epochs"  # or the option of the method in which rows differ
    of: tuple[str, ...] = ()  # labels of rows; all of them when left out


@dataclass(frozen=True)
class Recipe:
    """A table of a paper, ready to run."""

    name: str
    title: str
    paper: str
    rows: tuple[Row, ...]
    derived: tuple[Derived, ...] = ()
    figures: tuple[Figure, ...] = ()
    seeds: tuple[int, ...] = (0,)
    judge: Judge = "pairs"
    note: str = ""
    costs: bool = False  # show complexity and CPU time of scoring beside the measures

    @classmethod
    def load(cls, path: Path, overrides: Sequence[str] = ()) -> "Recipe":
        """Read a recipe; ``key=value`` overrides change keys that are there or may be."""
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise RecipeError(f"there is no recipe at {path}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RecipeError(f"{path}: not a TOML file: {error}") from error
        for override in overrides:
            _override(table, override)
        return cls.of(path.stem, table)

    @classmethod
    def of(cls, name: str, table: Mapping[str, Any]) -> "Recipe":
        """Build a recipe from its table, refusing keys it does not know."""
        load_all()
        known = {f.name for f in fields(cls)} - {"name", "rows", "figures"}
        known |= {"row", "data", "train", "figure"}
        unknown = sorted(set(table) - known)
        if unknown:
            listed = ", ".join(sorted(known))
            raise RecipeError(f"a recipe has no key '{unknown[0]}'; it takes: {listed}")
        if not table.get("row"):
            raise RecipeError(f"recipe '{name}' has no [[row]]")
        rows = tuple(_row(row, table) for row in table["row"])
        for place, row in enumerate(rows):
            earlier = [before.label for before in rows[:place]]
            if row.method.needs_start and not row.start:
                raise RecipeError(f"row '{row.label}' has no start; {row.method.needs_start}")
            if row.start and row.start not in earlier:
                raise RecipeError(f"row '{row.label}' starts from '{row.start}', no earlier row")
            if row.offline and row.offline.by not in earlier:
                raise RecipeError(f"row '{row.label}' mines by '{row.offline.by}', no earlier row")
        return cls(
            name=name,
            title=table.get("title", name),
            paper=table.get("paper", ""),
            rows=rows,
            derived=tuple(
                build_dataclass(Derived, line, "[[derived]]") for line in table.get("derived", ())
            ),
            figures=tuple(
                build_dataclass(Figure, drawn, "[[figure]]") for drawn in table.get("figure", ())
            ),
            seeds=tuple(table.get("seeds", (0,))),
            judge=convert(table.get("judge", "pairs"), Judge, "judge"),
            note=table.get("note", ""),
            costs=convert(table.get("costs", False), bool, "costs"),
        )

    def row(self, label: str) -> Row:
        """The row with a label."""
        for row in self.rows:
            if row.label == label:
                return row
        labels = ", ".join(repr(row.label) for row in self.rows)
        raise RecipeError(f"recipe '{self.name}' has no row '{label}'; it has: {labels}")

    def tiny(self) -> "Recipe":
        """The same table in seconds: few pictures, narrow models, one epoch, one seed."""
        rows = tuple(_tiny_row(row) for row in self.rows)
        # The embedded scenes have labels but are not COCO's test split.
        judge: Judge = "pairs" if self.judge == "coco" else self.judge
        return replace(self, name=f"{self.name}-tiny", rows=rows, seeds=(0,), judge=judge)


def _row(row: Mapping[str, Any], table: Mapping[str, Any]) -> Row:
    if "name" not in row.get("method", {}):
        raise RecipeError(f"row '{row.get('label', '?')}' names no method: method = {{name = …}}")
    options = dict(row["method"])
    label = row.get("label", options["name"])
    resolved: dict[str, Any] = {**row, "label": label, "options": options}
    resolved["method"] = _method(options)
    for key, kind in (("data", DataSpec), ("train", TrainSpec)):
        changed = {**table.get(key, {}), **row.get(key, {})}
        resolved[key] = build_dataclass(kind, changed, f"row '{label}': {key}")
    if "offline" in row:
        resolved["offline"] = build_dataclass(
            OfflineSpec, row["offline"], f"row '{label}': offline"
        )
    return build_dataclass(Row, resolved, "[[row]]")


def _method(options: Mapping[str, Any]) -> Method:
    return methods.build(options["name"], {k: v for k, v in options.items() if k != "name"})


def _tiny_row(row: Row) -> Row:
    options = _narrowed(row.options)
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
        method=_method(options),
        options=options,
        data=replace(row.data, **TINY_DATA, **towers, **chance),
        train=train,
    )


def _narrowed(options: Mapping[str, Any]) -> dict[str, Any]:
    """A method's options with its sizes cut down, and those of the method it wraps."""
    method = _method(options)
    small: dict[str, Any] = {
        key: min(limit, getattr(method, key))
        for key, limit in SMALL.items()
        if hasattr(method, key)
    }
    if "base" in options:
        small["base"] = _narrowed(options["base"])
    return {**options, **small}


def _override(table: dict[str, Any], text: str) -> None:
    key, equals, value = text.partition("=")
    if not equals:
        raise RecipeError(f"an override is key=value, for example train.lr=1e-3; found '{text}'")
    *path, last = key.strip().split(".")
    place: Any = table
    for name in path:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise RecipeError(f"override '{text}': '{name}' is not a table")
    try:
        place[last] = tomllib.loads(f"v = {value}")["v"]
    except tomllib.TOMLDecodeError:
        place[last] = value
