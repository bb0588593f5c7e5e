"""Whether a model distinguishes twins: images of the same things in other places."""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError

SWAPPED = (0, 1)  # the two places of a group that differ only in which thing is where


def twin_measures(scores: Float[ndarray, "image text"], corpus: Corpus) -> dict[str, float]:
    """Both measures in percent, for narrations of a corpus with twins; nothing for others."""
    if corpus.twins is None or not corpus.narrations or not (corpus.twins >= 0).any():
        return {}
    return {
        "swap": float(100.0 * np.mean(swap_binding(scores, corpus))),
        "twin": float(100.0 * np.mean(right_twin(scores, corpus))),
    }


def swap_binding(scores: Float[ndarray, "image text"], corpus: Corpus) -> Bool[ndarray, " query"]:
    """Whether each query of a swapped pair puts its image above the other; chance is one half.

    The two images fill the same places with two things exchanged: knowing what is there and
    knowing which places are filled does not help, only knowing which thing is where. Ties count
    against the system.
    """
    groups, texts, place = _asked(corpus)
    paired = np.isin(place, SWAPPED)
    groups, texts, place = groups[paired], texts[paired], place[paired]
    own, other = (scores[groups[:, i], texts] for i in SWAPPED)
    return np.where(place == SWAPPED[0], own > other, other > own)


def right_twin(scores: Float[ndarray, "image text"], corpus: Corpus) -> Bool[ndarray, " query"]:
    """Whether each query puts its image above all its twins; chance is one in a group's size."""
    groups, texts, place = _asked(corpus)
    of_group = np.take_along_axis(scores[:, texts].T, groups, axis=1)
    own = np.take_along_axis(of_group, place[:, None], axis=1)
    return (of_group >= own).sum(axis=1) == 1


def _asked(
    corpus: Corpus,
) -> tuple[Int[ndarray, "query twin"], Int[ndarray, " query"], Int[ndarray, " query"]]:
    """The texts of images in groups: the images of the group, the text, its image's place."""
    if corpus.twins is None:
        raise EvaluationError(f"corpus '{corpus.name}' has no twin groups to judge by")
    group, place = corpus.twins.T
    members = np.full((group.max() + 1, place.max() + 1), -1)
    inside = group >= 0
    members[group[inside], place[inside]] = np.flatnonzero(inside)
    whole = np.all(members >= 0, axis=1)
    texts = np.flatnonzero(inside[corpus.owners] & whole[group[corpus.owners]])
    owners = corpus.owners[texts]
    return members[group[owners]], texts, place[owners]
