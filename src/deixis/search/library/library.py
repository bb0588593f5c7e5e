"""A folder of pictures that can be searched: the class to use from a program."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import Event
from types import TracebackType

from deixis.errors import DeixisError, SearchError
from deixis.features.backbones.hub_access import allow_hub
from deixis.paths import expanded
from deixis.search.encoders.load_encoder import PHOTOS, load_encoder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.library.current_generation import CURRENT
from deixis.search.library.forgetting import Forgotten
from deixis.search.library.indexing import IndexingReport
from deixis.search.library.library_status import LibraryStatus, status
from deixis.search.library.library_store import LibraryStore, OnFile, silent
from deixis.search.places.named_places import Points, drawing_at
from deixis.search.query.filters import optional_filter
from deixis.search.query.query import Query, Results
from deixis.search.query.searcher import Searcher
from deixis.search.query.server_client import ask_running


class Library:
    """Pictures indexed into a folder; without a model the folder's own, or the packaged one.

    ```python
    library = deixis.Library("library")
    library.add("~/Pictures")
    for hit in library.search("a red boat", points=[(0.2, 0.7)]).hits:
        print(hit.score, hit.paths[0])
    ```
    """

    def __init__(self, folder: str | Path, model: str | Path | None = None) -> None:
        self.folder = expanded(folder)
        self._model = model
        self._searching: tuple[LibraryStore, Searcher] | None = None

    def __enter__(self) -> "Library":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the library."""
        if self._searching is not None:
            self._searching[0].close()
            self._searching = None

    @property
    def exists(self) -> bool:
        """Whether the folder is a library yet."""
        return (self.folder / CURRENT).is_file()

    @cached_property
    def encoder(self) -> SearchEncoder:
        """The model that reads pictures and texts; loaded on first use."""
        if self._model:
            allow_hub(str(self._model))  # a person named it
        return load_encoder(self._model or self._recorded_model())

    def add(
        self, *paths: str | Path, rebuild: bool = False, on_file: OnFile = silent
    ) -> IndexingReport:
        """Update the library from pictures and folders of them; only new or changed ones are read.

        ``rebuild`` encodes everything again, with another model, and switches when all is done.
        """
        self.close()
        given = [expanded(path) for path in paths]
        with LibraryStore.open_or_create(self.folder, self.encoder) as store:
            work = store.rebuild if rebuild else store.add
            return work(given, self.encoder, on_file)

    def forget(self, *paths: str | Path) -> Forgotten:
        """Take folders or pictures out of the library again; the files themselves stay."""
        self.close()
        with LibraryStore(self.folder) as store:
            return store.forget(map(expanded, paths))

    def follow(
        self,
        *paths: str | Path,
        on_pass: Callable[[IndexingReport], None],
        on_error: Callable[[DeixisError], None],
        on_file: OnFile = silent,
        stop: Event | None = None,
    ) -> None:
        """Update the library from folders now and whenever they change, until stopped."""
        from deixis.search.folder_watch import FolderWatch  # few follow folders

        watch = FolderWatch(paths, self.folder, on_pass, on_error)
        watch.run(lambda: self.add(*paths, on_file=on_file), stop or Event())

    def search(
        self,
        query: str | Query,
        *,
        points: Points = (),
        k: int = 10,
        where: str | None = None,
    ) -> Results:
        """The best pictures for a text, or for a ``Query``; a running server is asked first.

        ``points`` are places the text is about: ``(x, y)`` or a box ``(xmin, xmax, ymin, ymax)``,
        from 0 to 1 with the origin top left. A list goes with the phrases of the text in order; a
        table ``{"a dog": box}`` names the phrase, and ``{None: box}`` says that something is
        there. ``where`` is a filter such as ``label:dog AND NOT path:old``.
        """
        if isinstance(query, str):
            drawing = drawing_at(query, points)
            query = Query(text=query, k=k, where=optional_filter(where), drawing=drawing)
        elif points or where:
            raise SearchError("a Query already holds its strokes and filter; give them there")
        if self._searching is None:
            answered = ask_running(query, self.folder)
            if answered is not None:
                return answered
        return self._searcher().search(query)

    def status(self) -> LibraryStatus:
        """Compare the library with the disk, file by file."""
        return status(self.folder)

    def _searcher(self) -> Searcher:
        """A searcher over the library as it is; another process may have changed it."""
        if self._searching is not None and self._searching[0].is_current():
            return self._searching[1]
        self.close()
        store = LibraryStore(self.folder)
        try:
            self._searching = store, Searcher(self.encoder, store)
        except BaseException:
            store.close()
            raise
        return self._searching[1]

    def _recorded_model(self) -> str:
        if not self.exists:
            return PHOTOS
        with LibraryStore(self.folder) as store:
            return store.header.source
