"""What was measured, and on what; kept so that two runs can be compared without scoring again."""

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.evaluation.positive_ranks import Ties
from deixis.files import write_atomic
from deixis.runs.run import Run

WAYS = ("i2t", "t2i")
OWNERS = "owners"

Ranks = dict[str, Int[ndarray, " query"]]  # by direction
Graded = dict[str, Float[ndarray, " query"]]  # by measure, where relevance has degrees
Owners = Int[ndarray, " text"]  # the image each text was written for


@dataclass(frozen=True)
class Result:
    """Measures with what they were measured on; two results compare only when these agree."""

    measures: dict[str, float]
    protocol: str
    gallery: dict[str, int]  # by direction
    split_sha: str
    ranks: Ranks = field(repr=False)
    tie_rule: Ties = "against the system"
    graded: Graded = field(default_factory=dict, repr=False)  # what each query scored, in percent
    owners: Owners | None = field(default=None, repr=False)  # where every text asks
    costs: dict[str, float] = field(default_factory=dict, compare=False)  # of scoring, if measured

    @property
    def queries(self) -> dict[str, int]:
        """How many queries there are in each direction."""
        return {way: len(self.ranks[way]) for way in WAYS}

    def to_dict(self) -> dict[str, Any]:
        """As written to JSON; the scores of single queries are in a file of their own."""
        apart = ("ranks", "graded", "owners")
        kept = {key: value for key, value in vars(self).items() if key not in apart}
        return kept | {"queries": self.queries}

    def save_ranks(self, run: Run) -> None:
        """Keep the rank of every query, and its grade, in ``ranks.npz``, a few bytes each."""
        content = io.BytesIO()
        kept: dict[str, Any] = {way: self.ranks[way].astype(np.int32) for way in WAYS}
        kept |= {key: values.astype(np.float32) for key, values in self.graded.items()}
        kept |= {} if self.owners is None else {OWNERS: self.owners.astype(np.int32)}
        same = np.array([self.protocol, self.split_sha, self.tie_rule])
        np.savez_compressed(content, same=same, **kept)
        write_atomic(run.path("ranks"), content.getvalue())


@dataclass(frozen=True)
class RunRanks:
    """The rank of every query of a run, read back."""

    run: Run
    protocol: str
    split_sha: str
    tie_rule: str
    ranks: Ranks
    graded: Graded = field(default_factory=dict)
    owners: Owners | None = None

    @classmethod
    def load(cls, run: Run) -> "RunRanks":
        """Read what ``Result.save_ranks`` kept."""
        path = run.path("ranks")
        if not path.exists():
            raise EvaluationError(f"{run} has no {path.name}; train it with `deixis train` first")
        with np.load(path, allow_pickle=False) as kept:
            ranks = {way: kept[way].astype(np.int64) for way in WAYS}
            protocol, split_sha, tie_rule = kept["same"].tolist()
            names = [name for name in kept.files if name not in (*WAYS, OWNERS, "same")]
            graded = {name: kept[name].astype(np.float64) for name in names}
            owners = kept[OWNERS].astype(np.int64) if OWNERS in kept.files else None
        return cls(run, protocol, split_sha, tie_rule, ranks, graded, owners)
