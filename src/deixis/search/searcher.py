"""The searcher: queries go in, ranked pictures come out."""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, Int64
from numpy import ndarray

from deixis.errors import DeixisError
from deixis.search.asking import Asked, Vectors, ask
from deixis.search.calibration import FEWEST, SENSELESS, Calibration
from deixis.search.encoder import Encoder
from deixis.search.exact import Exact
from deixis.search.filters import Filter
from deixis.search.ivf import FILE, Ivf
from deixis.search.library import Library
from deixis.search.look import stacked
from deixis.search.query import Band, Hit, Query, Results
from deixis.search.ranking import Ranking, SingleRanking
from deixis.search.two_stage import TwoStageRanking

NO_TRACES = "this model does not read traces: the words alone were searched for"
NOTHING = "nothing here seems to fit: these are only the least unlike"

Engine = Literal["exact", "ivf"]  # how single vectors are recalled

SENSELESS_QUERIES = tuple(Query(text=text) for text in SENSELESS)


class Searcher:
    """Ranks the pictures a library held when the searcher was made."""

    def __init__(self, encoder: Encoder, library: Library, engine: Engine = "exact") -> None:
        library.require(encoder)
        self._encoder, self._manifest = encoder, library.generation.manifest
        live = self._manifest.live()
        vectors = library.generation.vectors()
        self._live = np.zeros(len(vectors), dtype=bool)
        self._live[np.array([content.row for content in live], dtype=np.int64)] = True
        single = encoder.exact and all(content.parts == 1 for content in live)
        self._ranking: Ranking
        if single:
            cells = library.generation.folder / FILE
            index = Ivf(vectors, cells) if engine == "ivf" else Exact(vectors)
            self._ranking = SingleRanking(vectors, index)
        else:
            self._ranking = TwoStageRanking(vectors, live, encoder)

    def search(self, query: Query) -> Results:
        """The best pictures for a query, equal ones in the order they were added."""
        answer = self.search_all([query])[0]
        if isinstance(answer, DeixisError):
            raise answer
        return answer

    def search_all(self, queries: Sequence[Query]) -> list[Results | DeixisError]:
        """Answer queries together: encoded in one batch, compared in one pass a filter."""
        asked = ask(self._encoder, queries)
        answers: dict[int, Results | DeixisError] = {}
        for where in {query.where for query in queries}:
            group = [place for place, query in enumerate(queries) if query.where == where]
            sound = {p: a for p in group if isinstance(a := asked[p], Asked)}
            answers |= {p: a for p in group if isinstance(a := asked[p], DeixisError)}
            answers |= self._answer({p: queries[p] for p in sound}, sound, where)
        return [answers[place] for place in range(len(queries))]

    def rank(self, asked: Vectors, name: str) -> int | None:
        """The place of a picture among all, best first; None where ranking everything is dear."""
        content = self._manifest.content(name)
        if not isinstance(self._ranking, SingleRanking) or content is None:
            return None
        rows = np.flatnonzero(self._live)
        scores = self._ranking.scores(asked, rows)
        own = self._ranking.scores(asked, np.array([content.row]))[0]
        return 1 + int(np.count_nonzero((scores > own) & (rows != content.row)))

    def _answer(
        self, queries: dict[int, Query], asked: dict[int, Asked], where: Filter | None
    ) -> dict[int, Results]:
        if not queries:
            return {}
        allowed = self._allowed(where)
        # Near-duplicates are folded away afterwards, so more are fetched than are shown.
        k = max(2 * query.k + 8 for query in queries.values())
        found = self._ranking.best([asked[place].whole for place in queries], k, allowed)
        answers = {}
        for number, (place, query) in enumerate(queries.items()):
            hits = self._hits(query, asked[place], found.rows[number], found.scores[number])
            answers[place] = Results(
                query,
                tuple(hits),
                int(allowed.sum()),
                self._text_order(query, asked[place], allowed),
                (*asked[place].notes, *self._notes(query, hits)),
            )
        return answers

    def _allowed(self, where: Filter | None) -> Bool[ndarray, " row"]:
        if where is None:
            return self._live
        passing = np.zeros_like(self._live)
        rows = self._manifest.facts.passing(where)
        passing[rows[rows < len(passing)]] = True  # later rows came after the searcher was made
        return passing & self._live

    def _hits(
        self, query: Query, asked: Asked, rows: Int64[ndarray, " k"], scores: Float32[ndarray, " k"]
    ) -> list[Hit]:
        """The first pictures of a ranking, near-duplicates folded into the best of them."""
        known = self._manifest.items_at(rows.tolist())
        there = np.flatnonzero([row in known for row in rows.tolist()])  # removed ones are not
        items = [known[row] for row in rows[there].tolist()]
        looks = self._manifest.facts.looks([name for name, _ in items])
        stacks = stacked([looks.get(name) for name, _ in items])[: query.k]
        chosen = there[[stack[0] for stack in stacks]] if stacks else there[:0]
        bands = self._bands(asked, scores[chosen].tolist())
        by_text = self._text_scores(asked, rows[chosen])
        hits = []
        for number, (first, *below) in enumerate(stacks):
            name, paths = items[first]
            look = looks.get(name)
            size = None if look is None else (look.width, look.height)
            score, names = float(scores[chosen[number]]), tuple(items[place][0] for place in below)
            hits.append(Hit(name, score, paths, bands[number], by_text[number], size, names))
        return hits

    def _text_scores(self, asked: Asked, rows: Int64[ndarray, " k"]) -> list[float | None]:
        if asked.words is None:
            return [None] * len(rows)
        return [float(score) for score in self._ranking.scores(asked.words, rows)]

    def _text_order(
        self, query: Query, asked: Asked, allowed: Bool[ndarray, " row"]
    ) -> tuple[str, ...]:
        if asked.words is None:
            return ()
        rows = self._ranking.best([asked.words], query.k, allowed).rows[0]
        known = self._manifest.items_at(rows.tolist())
        return tuple(known[row][0] for row in rows.tolist() if row in known)

    def _notes(self, query: Query, hits: Sequence[Hit]) -> list[str]:
        notes = []
        if query.strokes and not self._encoder.reads_traces:
            notes.append(NO_TRACES)
        if hits and all(hit.band == "rest" for hit in hits):
            notes.append(NOTHING)
        return notes

    def _bands(self, asked: Asked, scores: Sequence[float]) -> list[Band]:
        if self._calibration is None:
            return ["maybe"] * len(scores)
        return self._calibration.bands(self._ranking.scores(asked.whole, self._sample), scores)

    @cached_property
    def _sample(self) -> Int64[ndarray, " sampled"]:
        rows = np.flatnonzero(self._live)
        most = self._ranking.sample
        if len(rows) <= most:
            return rows
        return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))

    @cached_property
    def _calibration(self) -> Calibration | None:
        """What senseless queries reach in this library; None when it is too small to tell."""
        if len(self._sample) < FEWEST:
            return None
        asked = [a.whole for a in ask(self._encoder, SENSELESS_QUERIES) if isinstance(a, Asked)]
        samples = np.stack([self._ranking.scores(vectors, self._sample) for vectors in asked])
        return Calibration(samples, self._ranking.best(asked, 1, self._live).scores[:, 0])
