"""A library of shards as the server sees it: opened by its state, pictures read where they lie."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

from deixis.errors import DeixisError
from deixis.scale.serving.merged_candidates import Groups, MergedCandidates
from deixis.scale.sharded_library import ShardedLibrary, hash_of
from deixis.scale.store import open_store
from deixis.search.browse.example_queries import example_queries
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.query.searcher import Searcher
from deixis.serve.served_library import (
    Browsed,
    BrowseRequest,
    LibraryFacts,
    LibraryPicture,
    MissingPictureError,
    OpenedLibrary,
)

POLL = 1.0  # seconds between looks at which state counts


class ClusterLibrary:
    """A sharded library whose groups answer from elsewhere.

    A new state is opened by all groups in the background while the one before still answers.
    """

    def __init__(self, url: str, groups: Groups) -> None:
        self._sharded, self._groups = ShardedLibrary(open_store(url)), groups
        self._candidates: MergedCandidates | None = None
        self._coming: _Coming | None = None
        self._looked = 0.0

    def open(self, encoder: SearchEncoder | None) -> OpenedLibrary:
        """Open the state that counts now, or the one that was prepared."""
        if self._coming is None:
            self._coming = _Coming(self._sharded, self._groups, self._sharded.current())
            self._coming.candidates.prepare()
        coming, self._coming = self._coming, None
        if encoder is None or encoder.identity != coming.manifest.model:
            encoder = load_encoder(coming.manifest.source)
        self._candidates = coming.candidates
        return OpenedShards(self, encoder, Searcher(encoder, coming.candidates), coming)

    def is_current(self, state: str) -> bool:
        """Whether no other state counts and is prepared; a store that is away changes nothing."""
        if self._coming is not None:
            return not self._coming.ready.is_set()
        if time.monotonic() - self._looked < POLL:
            return True
        self._looked = time.monotonic()
        try:
            now = self._sharded.current()
            if now is not None and now != state:
                self._coming = _Coming(self._sharded, self._groups, now)
                threading.Thread(target=self._coming.prepare, daemon=True).start()
        except DeixisError:
            self._coming = None
        return True

    def picture(self, id: str) -> LibraryPicture:
        """Read a picture from the first place that still has it."""
        if self._candidates is None:
            raise MissingPictureError(f"picture {id} cannot be shown before the library is opened")
        reason = f"there is no picture {id} in this library"
        for path in self._candidates.files_of(id):
            folder, _, name = path.rpartition("/")
            try:
                content = open_store(folder).read(name)
            except DeixisError as error:
                reason = str(error)
                continue
            if hash_of(content) == id:
                return LibraryPicture(Path(name), content)
            reason = f"{path} changed since it was indexed; index again"
        raise MissingPictureError(reason)


class _Coming:
    """A state that is about to count."""

    def __init__(self, sharded: ShardedLibrary, groups: Groups, state: str | None) -> None:
        self.manifest = sharded.manifest(state)
        self.candidates = MergedCandidates(groups, self.manifest.name, self.manifest.pictures)
        self.ready = threading.Event()

    def prepare(self) -> None:
        """Let the groups open it; a group that cannot is left out of answers later."""
        try:
            self.candidates.prepare()
        finally:
            self.ready.set()


@dataclass(frozen=True, slots=True)
class OpenedShards:
    """One state of a sharded library."""

    library: ClusterLibrary
    encoder: SearchEncoder
    searcher: Searcher
    state: _Coming

    def is_current(self) -> bool:
        """Whether no other state has taken over."""
        return self.library.is_current(self.state.manifest.name)

    def facts(self, labels: int) -> LibraryFacts:
        """What the groups report about themselves."""
        found = tuple(label for label, _ in self.state.candidates.labels[:labels])
        return LibraryFacts(self.state.candidates.size, (), self.encoder.identity, found)

    def browse(self, asked: BrowseRequest) -> Browsed:
        """Nothing: shards keep no common order."""
        return Browsed((), ())

    def examples(self) -> tuple[str, ...]:
        """The most frequent labels, or common things that stand out."""
        return example_queries(self.searcher, [], self.facts(6).labels)

    def close(self) -> None:
        """Nothing is held here."""
