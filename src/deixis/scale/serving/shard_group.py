"""One share of a sharded library, opened on one machine: what a server of the cluster hosts."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from jaxtyping import Float32, Int64
from numpy import ndarray

from deixis.scale.library_transfer import join_shards
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import open_store
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.candidates import Candidates
from deixis.search.query.encode_queries import EncodedQuery, Vectors
from deixis.search.query.filters import Filter
from deixis.search.query.library_candidates import Engine, LibraryCandidates

KEPT = 2  # states of the library that stay open: the current one and the one before


class GroupFacts(NamedTuple):
    """What a group reports when a state of the library is opened."""

    size: int
    sample: int
    labels: tuple[tuple[str, int], ...]


class ShardGroup:
    """Group ``number`` of ``of``: a run of consecutive shards, copied to disk and mapped.

    Every request names the state of the library it is about, by its manifest: while a new state
    takes over, requests about the old one are still answered from it, and none is mixed.
    """

    def __init__(
        self, url: str, number: int, of: int, cache: Path, engine: Engine = "exact"
    ) -> None:
        self._sharded = ShardedLibrary(open_store(url))
        self._number, self._of, self._cache = number, of, cache
        self._engine: Engine = engine
        self._opened: OrderedDict[str, tuple[LibraryStore, LibraryCandidates]] = OrderedDict()
        self._encoder: SearchEncoder | None = None

    def has_open(self, state: str) -> bool:
        """Whether a state can be asked about at once."""
        return state in self._opened

    def copy(self, state: str) -> Path:
        """Copy this group's share of a state to this machine's disk, once; any thread may."""
        folder = self._cache / f"{state}-{self._number}-of-{self._of}"
        if not (folder / "current").is_file():
            manifest = self._sharded.manifest(state)
            own = manifest.shards[share(len(manifest.shards), self._number, self._of)]
            join_shards(self._sharded, manifest, own, folder)
        return folder

    def facts(self, state: str, labels: int) -> GroupFacts:
        """Open a state of the library and describe this group's share of it."""
        store, candidates = self._state(state)
        found = tuple(store.generation.manifest.facts.labels(labels))
        return GroupFacts(candidates.size, candidates.sample, found)

    def best(
        self, state: str, asked: Sequence[EncodedQuery], k: int, where: Filter | None
    ) -> list[Candidates]:
        """The k best pictures of this group for each query."""
        return self._state(state)[1].best(asked, k, where)

    def scores_at(
        self, state: str, asked: Sequence[Vectors], places: Int64[ndarray, " place"]
    ) -> Float32[ndarray, "query place"]:
        """The scores of this group's pictures at some places."""
        return self._state(state)[1].scores_at(asked, places)

    def score_of(self, state: str, asked: Vectors, id: str) -> float | None:
        """The score of one picture, if it is here."""
        return self._state(state)[1].score_of(asked, id)

    def above(self, state: str, asked: Vectors, score: float, id: str) -> int:
        """How many pictures of this group score higher than a score."""
        return self._state(state)[1].above(asked, score, id)

    def files_of(self, state: str, id: str) -> list[str]:
        """Where a picture can be read, if it is here."""
        store, _ = self._state(state)
        return [entry.path for entry in store.generation.manifest.files_of(id)]

    def _state(self, state: str) -> tuple[LibraryStore, LibraryCandidates]:
        if state not in self._opened:
            self._opened[state] = self._open(state)
            while len(self._opened) > KEPT:
                self._opened.popitem(last=False)[1][0].close()
        self._opened.move_to_end(state)
        return self._opened[state]

    def _open(self, state: str) -> tuple[LibraryStore, LibraryCandidates]:
        manifest = self._sharded.manifest(state)
        if self._encoder is None or self._encoder.identity != manifest.model:
            self._encoder = load_encoder(manifest.source)
        store = LibraryStore(self.copy(state))
        try:
            return store, LibraryCandidates(self._encoder, store, self._engine)
        except BaseException:
            store.close()
            raise


def share(items: int, number: int, of: int) -> slice:
    """The consecutive items that fall to one of several, as even as can be."""
    return slice(items * number // of, items * (number + 1) // of)
