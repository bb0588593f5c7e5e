"""The pictures of all shards as candidates: every group is asked, the answers are merged."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64
from numpy import ndarray

from deixis.errors import UnavailableError
from deixis.scale.serving.merge import merge_top
from deixis.scale.serving.shard_group import GroupFacts
from deixis.search.query.candidates import Candidate, Candidates
from deixis.search.query.encode_queries import EncodedQuery, Vectors
from deixis.search.query.filters import Filter

NOBODY = "no part of the library answers; try again in a moment"
SECONDS = 3.0  # after which a group is left out of an answer
OPENING = 600.0  # seconds a group may take to copy and open its share of a new state
AGAIN = 5.0  # seconds until a group that did not answer is asked about itself again
LABELS = 200  # that each group names; the most frequent of all are among them


@runtime_checkable
class Groups(Protocol):
    """All groups of a sharded library, wherever they run."""

    def ask(self, work: str, arguments: Sequence[tuple[Any, ...]], seconds: float) -> list[Any]:
        """What each group answers to its own arguments; None from one that is late or fails."""

    def __len__(self) -> int: ...


class MergedCandidates:
    """One state of a sharded library; whatever happens meanwhile, no other state is mixed in.

    Scores and order equal those of one library that holds all rows; a picture whose copies lie in
    several groups is one hit, but counts in each of them where pictures are counted. A group that
    does not answer is left out, and the answer says of how many pictures it speaks.
    """

    def __init__(self, groups: Groups, state: str, pictures: int) -> None:
        self._groups, self._state, self._pictures = groups, state, pictures
        self._facts: list[GroupFacts | None] = [None] * len(groups)
        self._asked = -AGAIN

    @property
    def facts(self) -> list[GroupFacts | None]:
        """What each group says of this state; one that has not answered is asked again later."""
        if None in self._facts and time.monotonic() - self._asked >= AGAIN:
            self._learn(SECONDS)
        if all(one is None for one in self._facts):
            raise UnavailableError(NOBODY)
        return self._facts

    def prepare(self) -> bool:
        """Wait until the groups have opened this state; whether all of them have."""
        self._learn(OPENING)
        return None not in self._facts

    @property
    def size(self) -> int:
        """How many pictures there are in the groups that answered when this was opened."""
        return sum(one.size for one in self.facts if one is not None)

    @property
    def sample(self) -> int:
        """How many of them may be scored to learn what is usual for a query."""
        return max(one.sample for one in self.facts if one is not None)

    @property
    def labels(self) -> list[tuple[str, int]]:
        """The most frequent labels and how many files have them."""
        counts: dict[str, int] = {}
        for one in self.facts:
            for label, count in () if one is None else one.labels:
                counts[label] = counts.get(label, 0) + count
        return sorted(counts.items(), key=lambda found: (-found[1], found[0]))

    def best(self, asked: Sequence[EncodedQuery], k: int, where: Filter | None) -> list[Candidates]:
        """The k best pictures of each query, out of all groups that answer."""
        answers = self._ask("best", lambda number: (list(asked), k, where))
        if all(answer is None for answer in answers):
            raise UnavailableError(NOBODY)
        return [
            self._merged([None if one is None else one[place] for one in answers], k)
            for place in range(len(asked))
        ]

    def scores_at(
        self, asked: Sequence[Vectors], places: Int64[ndarray, " place"]
    ) -> Float32[ndarray, "query answered"]:
        """The scores of pictures at places counted over all groups; those that answer."""
        sizes = [0 if one is None else one.size for one in self.facts]
        bounds = list(pairwise(np.concatenate([[0], np.cumsum(sizes)]).tolist()))
        own = [places[(places >= low) & (places < high)] - low for low, high in bounds]
        answers = self._ask("scores_at", lambda number: (list(asked), own[number]))
        there = [answer for answer in answers if answer is not None]
        if not there:
            raise UnavailableError(NOBODY)
        return np.concatenate(there, axis=1)

    def rank(self, asked: EncodedQuery, id: str) -> int | None:
        """The place of a picture among all; None where a group is missing or scores are dear."""
        if asked.pointed is not None:
            return None
        scores = self._ask("score_of", lambda number: (asked.whole, id))
        own = next((score for score in scores if score is not None), None)
        if own is None:
            return None
        counts = self._ask("above", lambda number: (asked.whole, own, id))
        return None if any(count is None for count in counts) else 1 + sum(counts)

    def files_of(self, id: str) -> list[str]:
        """Where a picture can be read."""
        found = self._ask("files_of", lambda number: (id,))
        if all(one is None for one in found):
            raise UnavailableError(NOBODY)
        return [path for one in found for path in one or ()]

    def _ask(
        self, work: str, arguments: Callable[[int], tuple[Any, ...]], seconds: float = SECONDS
    ) -> list[Any]:
        every = [(self._state, *arguments(number)) for number in range(len(self._groups))]
        return self._groups.ask(work, every, seconds)

    def _learn(self, seconds: float) -> None:
        found = self._ask("facts", lambda number: (LABELS,), seconds)
        new = [None if one is None else GroupFacts(*one) for one in found]
        self._facts = [one or before for one, before in zip(new, self._facts, strict=True)]
        self._asked = time.monotonic()

    def _merged(self, answers: Sequence[Candidates | None], k: int) -> Candidates:
        lists = [
            [replace(one, order=(number, one.order[1])) for one in answer.best]
            for number, answer in enumerate(answers)
            if answer is not None
        ]
        there = [answer for answer in answers if answer is not None]
        every = merge_top(lists, sum(map(len, lists)))
        sizes = [None if one is None else one.size for one in self.facts]
        known = zip(answers, sizes, strict=True)
        asked = sum(size or 0 for answer, size in known if answer is not None)
        complete = len(there) == len(answers) and None not in sizes
        of = asked if complete else max(self._pictures, asked + 1)
        allowed = sum(answer.allowed for answer in there)
        unplaced = sum(answer.unplaced for answer in there)
        return Candidates(tuple(_distinct(every)[:k]), allowed, (asked, of), unplaced)


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate per content: copies that lie in several groups become one with all paths."""
    found: dict[str, Candidate] = {}
    for one in candidates:
        if one.id in found:
            paths = tuple(sorted({*found[one.id].paths, *one.paths}))
            found[one.id] = replace(found[one.id], paths=paths)
        else:
            found[one.id] = one
    return list(found.values())
