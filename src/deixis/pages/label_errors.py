"""Why a hit is wrong, as far as labels and predicted labels say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.errors import EvaluationError
from deixis.similarity.blocked.topk import nearest

CONFUSION, KINSHIP = "semantic confusion", "super-class confusion"

Labels = Bool[ndarray, "item label"]


@dataclass(frozen=True)
class LabelledSide:
    """One modality: the labels its items have, and those the model predicts.

    A label is predicted above one half; where none is, the likeliest is, as items are ranked by it.
    """

    true: Labels
    predicted: Labels

    @classmethod
    def of(cls, true: Labels, logits: Float[ndarray, "item label"]) -> "LabelledSide":
        """Predict labels from their logits."""
        return cls(true, (logits > 0) | (logits == logits.max(axis=1, keepdims=True)))


@dataclass(frozen=True)
class HitErrors:
    """Names the error of a wrong hit.

    *Semantic confusion*: the model predicts a label for both query and hit that they do not share.
    *Super-class confusion*: they have labels of one super-class. A hit that shares a label is
    right; a wrong hit of neither kind has no name.
    """

    related: Bool[ndarray, "label label"]  # labels of one super-class, none to itself

    def kinds(self, query: LabelledSide, asked: int, items: LabelledSide, hit: int) -> list[str]:
        """The kinds of error of a hit; a right one has none."""
        true, found = query.true[asked], items.true[hit]
        if (true & found).any():
            return []
        confused = (query.predicted[asked] & items.predicted[hit]).any()
        related = self.related[np.ix_(true, found)].any()
        return [kind for kind, is_so in ((CONFUSION, confused), (KINSHIP, related)) if is_so]


def related_labels(groups: Sequence[str], names: Sequence[str]) -> Bool[ndarray, "label label"]:
    """Which labels are of one super-class, from groups such as ``man|woman|boy``."""
    related = np.zeros((len(names), len(names)), dtype=bool)
    for group in groups:
        members = group.split("|")
        for member in members:
            if member not in names:
                listed = ", ".join(names)
                raise EvaluationError(f"'{member}' is not a label of the corpus; it has: {listed}")
        places = [names.index(member) for member in members]
        related[np.ix_(places, places)] = True
    np.fill_diagonal(related, False)
    return related


def worst(
    scores: Float[ndarray, "query item"], queries: LabelledSide, items: LabelledSide, top: int
) -> tuple[list[int], Int[ndarray, "query top"]]:
    """Queries by how many of their first hits share no label, and those hits."""
    best = nearest(scores, top).items
    wrong = ~(queries.true[:, None] & items.true[best]).any(axis=2)
    failed = wrong.sum(axis=1) * queries.true.any(axis=1)
    order = np.argsort(-failed, kind="stable")
    return [int(query) for query in order if failed[query]], best
