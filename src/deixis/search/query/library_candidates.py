"""The pictures of one library as candidates."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy import ndarray

from deixis.neighbours.certified import Certified
from deixis.neighbours.eight_bit_store import FOLDER
from deixis.neighbours.neighbours import Index, Neighbours
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.index.ivf import FILE, Ivf
from deixis.search.index.ranking import Ranking, SingleRanking
from deixis.search.index.two_stage import TwoStageRanking
from deixis.search.library.generation import damaged_row
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.manifest_file import damage_reported
from deixis.search.places.place_ranking import PlaceRanking, RecalledRows, recall_depth
from deixis.search.query.candidates import Candidate, Candidates
from deixis.search.query.encode_queries import EncodedQuery, Vectors
from deixis.search.query.filters import Filter
from deixis.shapes import Bool, Float32, Int64

BLOCK = 16_384  # rows looked through at once
MIXED = 500  # pictures that each wanted part of a mixture of sets proposes
Engine = Literal["exact", "ivf"]  # how single vectors are recalled


class LibraryCandidates:
    """Ranks the pictures that a library held when this was made."""

    def __init__(
        self, encoder: SearchEncoder, library: LibraryStore, engine: Engine = "exact"
    ) -> None:
        library.require(encoder)
        self._folder = library.generation.folder
        with damage_reported(self._folder):
            self._read(encoder, library, engine)

    def _read(self, encoder: SearchEncoder, library: LibraryStore, engine: Engine) -> None:
        folder = self._folder
        self._manifest = library.generation.manifest
        first, parts = self._manifest.live_rows()
        vectors = self._vectors = library.generation.vectors()
        self._places = PlaceRanking(library.generation, len(vectors), encoder.places)
        self._live = np.zeros(len(vectors), dtype=bool)
        self._live[first] = True
        single = encoder.exact and bool((parts == 1).all())
        self._ranking: Ranking
        self._certified: Certified | None = None
        if single:
            index: Index
            if engine == "ivf":
                index = Ivf(vectors, folder / FILE)
            else:
                index = self._certified = Certified(vectors, folder / FOLDER)
            self._ranking = SingleRanking(vectors, index)
        else:
            self._ranking = TwoStageRanking(vectors, (first, parts), encoder, folder / FOLDER)

    @property
    def plain_passes(self) -> int:
        """How many queries needed a pass over every row in float32."""
        return 0 if self._certified is None else self._certified.plain

    @property
    def size(self) -> int:
        """How many pictures there are."""
        return int(np.count_nonzero(self._live))

    @property
    def sample(self) -> int:
        """How many pictures may be scored to learn what is usual for a query."""
        return self._ranking.sample

    def best(self, asked: Sequence[EncodedQuery], k: int, where: Filter | None) -> list[Candidates]:
        """The k best pictures of each query that pass the filter."""
        with damage_reported(self._folder):
            allowed = self._allowed(where)
            passed = int(allowed.sum())
            depth = max(k, recall_depth(passed)) if any(one.pointed for one in asked) else k
            found = self._found(asked, depth, allowed)
            return [
                self._candidates(one, RecalledRows(rows, scores), k, passed)
                for one, rows, scores in zip(asked, found.rows, found.scores, strict=True)
            ]

    def _candidates(
        self, asked: EncodedQuery, found: RecalledRows, k: int, passed: int
    ) -> Candidates:
        if asked.pointed is None:
            return Candidates(self._described(asked, found.rows[:k], found.scores[:k]), passed)
        first = found.rows[:k].tolist()
        known = self._manifest.items_at(first)
        by_text = tuple(known[row][0] for row in first if row in known)
        found, unplaced = self._places.reordered(asked.pointed, found)
        described = self._described(asked, found.rows[:k], found.scores[:k])
        return Candidates(described, passed, unplaced=unplaced, text_order=by_text)

    def _found(
        self, asked: Sequence[EncodedQuery], k: int, allowed: Bool[ndarray, " all"]
    ) -> Neighbours:
        """What is found; damage that makes numbers infinite, or none, spoils every search."""
        try:
            with np.errstate(invalid="ignore"):
                found = self._best(asked, k, allowed)
        except ValueError as error:  # of numpy: there is no smallest among numbers that are none
            self._refuse_damaged(error)
            raise
        if not np.isfinite(found.scores).all():
            self._refuse_damaged(None)
        return found

    def _refuse_damaged(self, error: Exception | None) -> None:
        for first in range(0, len(self._vectors), BLOCK):
            wrong = ~np.isfinite(self._vectors[first : first + BLOCK]).all(axis=1)
            if wrong.any():
                raise damaged_row(self._folder, first + int(wrong.argmax())) from error

    def _best(
        self, asked: Sequence[EncodedQuery], k: int, allowed: Bool[ndarray, " all"]
    ) -> Neighbours:
        if isinstance(self._ranking, SingleRanking) or not any(one.terms for one in asked):
            return self._ranking.best([one.whole for one in asked], k, allowed)
        (one,) = asked  # mixtures come one by one
        wanted = [vectors for scale, vectors in one.terms if scale > 0]
        rows = np.unique(self._ranking.best(wanted, max(k, MIXED), allowed).rows)
        scores = sum(scale * self._ranking.scores(vectors, rows) for scale, vectors in one.terms)
        order = np.argsort(-np.asarray(scores), kind="stable")[:k]
        return Neighbours(rows[order][None], np.asarray(scores, dtype=np.float32)[order][None])

    def scores_at(
        self, asked: Sequence[Vectors], places: Int64[ndarray, " place"]
    ) -> Float32[ndarray, "query place"]:
        """The scores of the pictures at some places, counted in the order of rows."""
        rows = np.flatnonzero(self._live)[places]
        return np.stack([self._ranking.scores(vectors, rows) for vectors in asked])

    def rank(self, asked: EncodedQuery, id: str) -> int | None:
        """The place of a picture among all, best first; None where ranking all is expensive."""
        if asked.pointed is not None and (place := self._place_of(asked, id)) is not None:
            return place
        own = self.score_of(asked.whole, id)
        return None if own is None else 1 + self.above(asked.whole, own, id)

    def _place_of(self, asked: EncodedQuery, id: str) -> int | None:
        """The place of a picture among those that places re-order; None below them."""
        (found,) = self.best([asked], recall_depth(self.size), None)
        ids = [one.id for one in found.best]
        return 1 + ids.index(id) if id in ids else None

    def score_of(self, asked: Vectors, id: str) -> float | None:
        """The score of one picture; None where it is not here or pictures are sets."""
        content = self._manifest.content(id)
        if not isinstance(self._ranking, SingleRanking) or content is None:
            return None
        return float(self._ranking.scores(asked, np.array([content.row]))[0])

    def above(self, asked: Vectors, score: float, id: str) -> int:
        """How many other pictures score higher."""
        content = self._manifest.content(id)
        rows = np.flatnonzero(self._live)
        higher = self._ranking.scores(asked, rows) > score
        return int(np.count_nonzero(higher & (rows != (-1 if content is None else content.row))))

    def _allowed(self, where: Filter | None) -> Bool[ndarray, " row"]:
        if where is None:
            return self._live
        passing = np.zeros_like(self._live)
        rows = self._manifest.facts.passing(where)
        passing[rows[(rows >= 0) & (rows < len(passing))]] = (
            True  # later rows came after this was made
        )
        return passing & self._live

    def _described(
        self, asked: EncodedQuery, rows: Int64[ndarray, " k"], scores: Float32[ndarray, " k"]
    ) -> tuple[Candidate, ...]:
        known = self._manifest.items_at(rows.tolist())
        there = np.array([row in known for row in rows.tolist()], dtype=bool)  # removed ones go
        rows, scores = rows[there], scores[there]
        looks = self._manifest.facts.looks([known[row][0] for row in rows.tolist()])
        by_text: list[float | None] = [None] * len(rows)
        if asked.text is not None and len(rows):
            by_text = [float(score) for score in self._ranking.scores(asked.text, rows)]
        listed = zip(rows.tolist(), scores.tolist(), by_text, strict=True)
        return tuple(
            Candidate(score, (0, row), known[row][0], known[row][1], looks.get(known[row][0]), text)
            for row, score, text in listed
        )
