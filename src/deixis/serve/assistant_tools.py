"""A library as tools of an assistant, over the Model Context Protocol."""

from collections.abc import Callable
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from mcp.server.mcpserver import Image as SentImage
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from deixis.errors import DeixisError, SearchError
from deixis.features.store.image_files import PictureBytes, open_picture
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.library.library import Library
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query, Results
from deixis.search.query.whole_characters import require_whole
from deixis.serve.served_library import FolderLibrary

P = ParamSpec("P")
T = TypeVar("T")
SIDE = 768  # pixels of the longer side of a picture that is shown
MOST = 100  # pictures per answer
USE = (
    "Search the pictures of this person's own library by describing what they show. "
    "Answers name files on this machine; show_picture lets you look at one."
)


def assistant_server(folder: Path) -> MCPServer:
    """A server whose tools search one library; nothing is written and nothing leaves the machine.

    Every tool opens only what the library names and only while it is what was indexed.
    """
    LibraryStore(folder).close()  # a folder that is no library is refused at once
    library = Library(folder)
    server = MCPServer("deixis", instructions=USE)

    @server.tool()
    @_refusing
    def search_pictures(
        text: str,
        count: int = 10,
        where: str | None = None,
        places: dict[str, list[float]] | None = None,
    ) -> dict[str, Any]:
        """Find pictures by a description in English, best first.

        places: optionally where phrases of the text are in the picture, such as
        {"a dog": [0.0, 0.4, 0.5, 1.0]}: left, right, top and bottom edge from 0 to 1, the origin
        top left; or only a point [x, y]. The phrase "" says that something is there.
        where: an optional filter, such as 'taken:2024-06..2024-08 near:48.1,11.6,5km',
        'path:holiday AND NOT label:dog'. band says how far a picture stands out.
        """
        points = {phrase.strip() or None: place for phrase, place in (places or {}).items()}
        return _listed(library.search(text, points=points, k=_count(count), where=where))

    @server.tool()
    @_refusing
    def similar_pictures(id: str, count: int = 10) -> dict[str, Any]:
        """Find the pictures most like one of the library, by its id."""
        picture = PictureBytes(id, _content(library, id))
        return _listed(library.search(Query(image=picture, k=_count(count))))

    @server.tool()
    @_refusing
    def show_picture(id: str) -> SentImage:
        """Look at a picture of the library, by its id."""
        picture = open_picture(PictureBytes(id, _content(library, id)), SIDE)
        picture.thumbnail((SIDE, SIDE))
        out = BytesIO()
        picture.save(out, "JPEG", quality=85)
        return SentImage(data=out.getvalue(), format="jpeg")

    @server.tool()
    @_refusing
    def describe_library() -> dict[str, Any]:
        """How many pictures there are, in which folders, and which labels they have."""
        with LibraryStore(library.folder) as store:
            manifest = store.generation.manifest
            return {
                "pictures": len(manifest.live()),
                "folders": manifest.folders(),
                "labels": [label for label, _ in manifest.facts.labels(20)],
            }

    return server


def _refusing(tool: Callable[P, T]) -> Callable[P, T]:
    """Hand what deixis refuses to the assistant as a sentence, not as a crash."""

    @wraps(tool)
    def called(*given: P.args, **named: P.kwargs) -> T:
        try:
            return tool(*given, **named)
        except DeixisError as error:
            raise ToolError(str(error)) from error

    return called


def _count(count: int) -> int:
    if not 1 <= count <= MOST:
        raise SearchError(f"count is {count}; ask for 1 to {MOST} pictures")
    return count


def _listed(results: Results) -> dict[str, Any]:
    hits = [
        {"id": hit.id, "score": hit.score, "band": hit.band, "files": list(hit.paths)}
        for hit in results.hits
    ]
    return {"hits": hits, "notes": [note.text for note in results.notes]}


def _content(library: Library, id: str) -> bytes:
    name = require_whole(id, "the id")
    return FolderLibrary(library.folder, load_encoder).picture(name).content
