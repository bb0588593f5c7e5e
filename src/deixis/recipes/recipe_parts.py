"""What a recipe lists: rows to train, lines derived from them, figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from deixis.data.batches.mined import OfflineSpec
from deixis.evaluation.protocol_names import ProtocolName
from deixis.methods.model import Method
from deixis.runs.data_spec import DataSpec
from deixis.training.spec import TrainSpec


@dataclass(frozen=True)
class PlacesOf:
    """Where a place head takes its cells from, when not from the backbones."""

    of: str  # the earlier row, or the run folder, whose image encoder gives a vector per region


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
    start: str = ""  # the earlier row, or the run folder, whose weights this one begins with
    # Parameter prefixes it takes over, and what they are called there; empty: all, as they are.
    take: Mapping[str, str] = field(default_factory=dict)
    printed: Mapping[str, float] = field(default_factory=dict)
    offline: OfflineSpec | None = None  # negatives to mine with an earlier row's model
    places: PlacesOf | None = None  # a place head over the parts of an earlier row's images


@dataclass(frozen=True)
class Derived:
    """A line made from trained rows: their scores averaged, over all their seeds when several.

    With a bank, each score loses the popularity of its image and text among training items; with
    a control, narrations lose their trace or get a wrong one. A single row is measured per seed,
    and so are two of which the second re-ranks what the first found; ``seeds`` says otherwise.
    """

    label: str
    of: tuple[str, ...]
    bank: int = 0  # nearest training items that measure an item's popularity; 0: no correction
    control: str = ""  # of ``evaluation.trace_controls``; empty: queries as they are
    seeds: Literal["", "apart", "together"] = ""  # together: one ensemble of every seed's model
    judge: Literal["", ProtocolName] = ""  # another protocol than the recipe's; empty: the same
    rerank: float = 0.0  # share or number of the first row's best that the second orders again
    printed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """Measures to draw: on the validation split over epochs, or on the test split over an option.

    Several rows over epochs differ in line style.
    """

    title: str
    measures: tuple[str, ...]
    over: str = "epochs"  # or the option of the method in which rows differ
    of: tuple[str, ...] = ()  # labels of rows; all of them when left out


@dataclass(frozen=True)
class Pointing:
    """Two rows judged together: one ranks by text, the other's place head adds where."""

    text: str  # labels of rows
    places: str
    bank: bool = False  # correct the text score by training texts, as packing does
