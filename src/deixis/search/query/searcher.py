"""The searcher: queries go in, ranked pictures come out."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy import ndarray

from deixis.errors import DeixisError
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.pictures.fingerprint import stacked
from deixis.search.query.calibration import FEWEST, MAYBE, MAYBE_OF_SUMS, Calibration, Spread
from deixis.search.query.candidates import Candidate, Candidates, CandidateSource
from deixis.search.query.encode_queries import EncodedQuery, Vectors, encode_queries
from deixis.search.query.filters import Filter
from deixis.search.query.library_candidates import Engine, LibraryCandidates
from deixis.search.query.mixed_query import MixedQuery, ScaledPart, mixture
from deixis.search.query.query import Band, Hit, Note, Query, Results
from deixis.search.query.senseless_vectors import senseless_vectors
from deixis.shapes import Int64

NOT_READ = Note(
    "trace_not_read", "this model does not read traces: the text alone was searched for"
)
NOTHING_FITS = Note("nothing_fits", "nothing here seems to fit: these are only the closest")
NOTHING_PASSES = Note("nothing_passes", "no picture passes the filter")
EMPTY = Note("nothing_passes", "the library has no pictures yet")


class Searcher:
    """Encodes queries, asks for candidates, and makes hits of them."""

    def __init__(
        self,
        encoder: SearchEncoder,
        library: LibraryStore | CandidateSource,
        engine: Engine = "exact",
    ) -> None:
        self._encoder = encoder
        self._source: CandidateSource = (
            LibraryCandidates(encoder, library, engine)
            if isinstance(library, LibraryStore)
            else library
        )

    @property
    def size(self) -> int:
        """How many pictures it searches."""
        return self._source.size

    @property
    def plain_passes(self) -> int:
        """How many queries needed a pass over every row in float32."""
        return self._source.plain_passes if isinstance(self._source, LibraryCandidates) else 0

    def search(self, query: Query) -> Results:
        """The best pictures for a query, equal ones in the order they were added."""
        answer = self.search_all([query])[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def search_all(self, queries: Sequence[Query]) -> list[Results | Exception]:
        """Answer queries together; when that fails, one by one, so that each fails on its own."""
        try:
            return [*self._search_together(queries)]
        except Exception as error:  # whatever one query provokes, the others are answered
            if len(queries) == 1:
                return [error]
        return [answer for query in queries for answer in self.search_all([query])]

    def rank(self, asked: EncodedQuery, id: str) -> int | None:
        """The place of a picture among all, best first; None where ranking all is expensive."""
        return self._source.rank(asked, id)

    def _search_together(self, queries: Sequence[Query]) -> list[Results | DeixisError]:
        """Answer queries, encoded in one batch and compared in one pass per filter."""
        asked = encode_queries(self._encoder, queries)
        answers: dict[int, Results | DeixisError] = {}
        for where in {query.where for query in queries}:
            group = [place for place, query in enumerate(queries) if query.where == where]
            sound = {p: a for p in group if isinstance(a := asked[p], EncodedQuery)}
            answers |= {p: a for p in group if isinstance(a := asked[p], DeixisError)}
            answers |= self._answer({p: queries[p] for p in sound}, sound, where)
        return [answers[place] for place in range(len(queries))]

    def search_encoded(self, query: Query, asked: EncodedQuery) -> Results:
        """The best pictures for a query that was encoded elsewhere, by the same model."""
        return self._answer({0: query}, {0: asked}, query.where)[0]

    def search_mixed(self, query: MixedQuery, asked: Sequence[EncodedQuery]) -> Results:
        """The best pictures for a mixture, whose parts were encoded in their order."""
        first = replace(query.parts[0].query, k=query.k, where=query.where)
        return self.search_encoded(first, mixture(self.scaled(query, asked)))

    def scaled(self, query: MixedQuery, asked: Sequence[EncodedQuery]) -> list[ScaledPart]:
        """The parts of a mixture, each in units of its own spread over a sample."""
        samples = self._source.scores_at([one.whole for one in asked], self._sample)
        widths = [Spread.over(sample).width for sample in samples]
        return [
            ScaledPart(one, part.weight / width)
            for one, part, width in zip(asked, query.parts, widths, strict=True)
        ]

    def _answer(
        self, queries: dict[int, Query], asked: dict[int, EncodedQuery], where: Filter | None
    ) -> dict[int, Results]:
        if not queries:
            return {}
        # Near-duplicates are folded away afterwards, so more are fetched than are shown.
        k = max(2 * query.k + 8 for query in queries.values())
        found = self._source.best([asked[place] for place in queries], k, where)
        answers = {}
        for candidates, (place, query) in zip(found, queries.items(), strict=True):
            hits = self._hits(query, asked[place], candidates)
            answers[place] = Results(
                query,
                tuple(hits),
                candidates.allowed,
                candidates.text_order[: query.k] or self._text_order(query, asked[place], where),
                (*asked[place].notes, *self._notes(query, hits), *_absent(query, candidates)),
                candidates.coverage,
            )
        return answers

    def _hits(self, query: Query, asked: EncodedQuery, found: Candidates) -> list[Hit]:
        """The first pictures of a ranking, near-duplicates folded into the best of them."""
        stacks = stacked([one.look for one in found.best])[: query.k]
        chosen = [found.best[stack[0]] for stack in stacks]
        bands = self._bands(query, asked, chosen)
        return [
            _hit(one, band, tuple(found.best[place].id for place in below))
            for one, band, (_, *below) in zip(chosen, bands, stacks, strict=True)
        ]

    def _text_order(
        self, query: Query, asked: EncodedQuery, where: Filter | None
    ) -> tuple[str, ...]:
        if asked.text is None:
            return ()
        (found,) = self._source.best([EncodedQuery(asked.text)], query.k, where)
        return tuple(one.id for one in found.best)

    def _notes(self, query: Query, hits: Sequence[Hit]) -> list[Note]:
        notes = []
        points = self._encoder.reads_traces or self._encoder.places is not None
        if query.drawing.strokes and not points:
            notes.append(NOT_READ)
        if hits and all(hit.band == "rest" for hit in hits):
            notes.append(NOTHING_FITS)
        return notes

    def _bands(self, query: Query, asked: EncodedQuery, hits: Sequence[Candidate]) -> list[Band]:
        if self._calibration is None:
            return ["maybe"] * len(hits)
        terms = asked.terms or ((1.0, asked.whole),)
        samples = self._source.scores_at([vectors for _, vectors in terms], self._sample)
        sample = np.array([scale for scale, _ in terms], dtype=np.float32) @ samples
        by_words = query.text is not None and not asked.terms
        unit = self._unit(asked.whole) if by_words else 1
        scores = [score / unit for score in self._judged(asked, hits)]
        comparable = by_words and (self._encoder.exact or self._adds_words)
        return self._calibration.bands(sample / unit, scores, comparable=comparable)

    def _judged(self, asked: EncodedQuery, hits: Sequence[Candidate]) -> list[float]:
        """The scores that tell whether hits fit; with places pointed at, those of the words."""
        if asked.pointed is None and not (self._adds_words and asked.text is not None):
            return [one.score for one in hits]
        # Words say whether a picture fits at all; a hit stands out no less than those below it.
        by_text = [one.score if one.text_score is None else one.text_score for one in hits]
        return np.maximum.accumulate(by_text[::-1])[::-1].tolist() if by_text else []

    def _unit(self, words: Vectors) -> int:
        """By what a text's scores are divided, so that a long one compares with a short one."""
        return len(words) if self._adds_words else 1

    @cached_property
    def _adds_words(self) -> bool:
        """Whether a text's score is a sum over its words: said twice, it scores twice as much."""
        if self._encoder.exact:
            return False
        said = senseless_vectors(self._encoder)[0]
        once, twice = self._source.scores_at([said, np.concatenate([said, said])], self._sample)
        return bool(np.allclose(twice, 2 * once, rtol=1e-3))

    @cached_property
    def _sample(self) -> Int64[ndarray, " sampled"]:
        size, most = self._source.size, self._source.sample
        if size <= most:
            return np.arange(size)
        return np.sort(np.random.default_rng(0).choice(size, most, replace=False))

    @cached_property
    def _calibration(self) -> Calibration | None:
        """What senseless queries reach in this library; None when it is too small."""
        if len(self._sample) < FEWEST:
            return None
        asked = [EncodedQuery(vectors) for vectors in senseless_vectors(self._encoder)]
        samples = self._source.scores_at([one.whole for one in asked], self._sample)
        found = self._source.best(asked, 1, None)
        best = [one.best[0].score for one in found if one.best]
        if len(best) < len(asked):  # an indexer is removing pictures at this very moment
            return None
        units = np.array([self._unit(one.whole) for one in asked], dtype=np.float32)
        reached = np.array(best, dtype=np.float32) / units
        maybe = MAYBE_OF_SUMS if self._adds_words else MAYBE
        return Calibration(samples / units[:, None], reached, maybe)


def _absent(query: Query, found: Candidates) -> list[Note]:
    """What is missing: pictures to search, or the places of some."""
    asked, of = found.coverage or (0, 0)
    if not found.allowed and asked == of:  # a part that did not answer may have some
        return [EMPTY if query.where is None else NOTHING_PASSES]
    if not found.unplaced:
        return []
    text = f"{found.unplaced} pictures have no places yet and were ordered by the text; index again"
    return [Note("places_missing", text)]


def _hit(found: Candidate, band: Band, stack: tuple[str, ...]) -> Hit:
    size = None if found.look is None else (found.look.width, found.look.height)
    return Hit(found.id, found.score, found.paths, band, found.text_score, size, stack)
