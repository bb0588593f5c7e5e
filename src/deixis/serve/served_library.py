"""A library as the server uses it: the searcher of its present state, and its pictures."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from deixis.errors import DataError, DeixisError
from deixis.search.browse.browsing import BrowsedPicture, Heading, Order
from deixis.search.browse.example_queries import CANDIDATES, example_queries
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.manifest_file import damage_reported
from deixis.search.library.pictures.opened_beneath import read_indexed
from deixis.search.query.filters import Filter
from deixis.search.query.library_candidates import Engine
from deixis.search.query.searcher import Searcher


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    """What a library reports about itself."""

    pictures: int
    folders: tuple[str, ...]
    model: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrowseRequest:
    """Which pictures are looked through."""

    order: Order
    start: int
    count: int
    where: Filter | None = None


@dataclass(frozen=True, slots=True)
class Browsed:
    """Some pictures, and at the beginning every heading with its count."""

    pictures: tuple[BrowsedPicture, ...]
    headings: tuple[Heading, ...]


@dataclass(frozen=True, slots=True)
class LibraryPicture:
    """A picture of the library, read and proved to be what was indexed."""

    path: Path
    content: bytes


class MissingPictureError(DataError):
    """A picture that a library does not have, or not as it was indexed."""


@runtime_checkable
class OpenedLibrary(Protocol):
    """A library with its model and searcher, as long as nobody changes it."""

    @property
    def encoder(self) -> SearchEncoder:
        """The model."""

    @property
    def searcher(self) -> Searcher:
        """Answers queries."""

    def is_current(self) -> bool:
        """Whether the library still is as it was opened."""

    def facts(self, labels: int) -> LibraryFacts:
        """What the library reports about itself, with its most frequent labels."""

    def browse(self, asked: BrowseRequest) -> Browsed:
        """Pictures in the order people look through them."""

    def examples(self) -> tuple[str, ...]:
        """Queries that find something here."""

    def close(self) -> None:
        """Let go of it."""


@runtime_checkable
class ServedLibrary(Protocol):
    """A library that can be opened, and opened again when it has changed."""

    def open(self, encoder: SearchEncoder | None) -> OpenedLibrary:
        """Open it as it is now; the model that is loaded already serves if it is the right one."""

    def picture(self, id: str) -> LibraryPicture:
        """A picture by its content's hash."""


@dataclass(frozen=True, slots=True)
class FolderLibrary:
    """A library in a folder of this machine."""

    folder: Path
    load: Callable[[str], SearchEncoder]
    engine: Engine = "exact"

    def open(self, encoder: SearchEncoder | None) -> OpenedLibrary:
        """Open the folder."""
        store = LibraryStore(self.folder)
        try:
            if encoder is None or encoder.identity != store.header.model:
                encoder = self.load(store.header.source)
            return OpenedFolder(store, encoder, Searcher(encoder, store, self.engine))
        except DeixisError:
            store.close()
            raise

    def picture(self, id: str) -> LibraryPicture:
        """A file that still is the picture with this id."""
        with LibraryStore(self.folder) as library:
            manifest = library.generation.manifest
            with damage_reported(library.generation.folder):
                entries, roots = manifest.files_of(id), manifest.roots()
        reason = f"there is no picture {id} in this library"
        for entry in entries:
            try:
                content = read_indexed(entry.path, roots, entry.size, id)
            except DataError as error:
                reason = f"{error}; index again"
            else:
                return LibraryPicture(Path(entry.path), content)
        raise MissingPictureError(reason)


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """An opened folder."""

    store: LibraryStore
    encoder: SearchEncoder
    searcher: Searcher

    def is_current(self) -> bool:
        """Whether nobody has written to the folder since."""
        return self.store.is_current()

    def facts(self, labels: int) -> LibraryFacts:
        """What the manifest says."""
        manifest = self.store.generation.manifest
        with damage_reported(self.store.generation.folder):
            return LibraryFacts(
                self.searcher.size,  # not the manifest's: an indexer may be writing to it just now
                tuple(manifest.folders()),
                self.store.header.model,
                tuple(label for label, _ in manifest.facts.labels(labels)),
            )

    def browse(self, asked: BrowseRequest) -> Browsed:
        """Read the manifest."""
        browsing = self.store.generation.manifest.browsing
        with damage_reported(self.store.generation.folder):
            pictures = browsing.pictures(asked.order, asked.start, asked.count, asked.where)
            headings = browsing.headings(asked.order, asked.where) if asked.start == 0 else []
        return Browsed(tuple(pictures), tuple(headings))

    def examples(self) -> tuple[str, ...]:
        """Captions, labels, or common things that stand out."""
        with damage_reported(self.store.generation.folder):
            captions = self.store.generation.manifest.browsing.captions(CANDIDATES)
        return example_queries(self.searcher, captions, self.facts(len(captions) or 6).labels)

    def close(self) -> None:
        """Close the manifest."""
        self.store.close()
