"""The verbs of the command, as functions of parsed arguments; they print nothing.

Exit codes: 0 done, 1 refused with a ``DeixisError``, 3 done but there is something to look at.
"""

from collections.abc import Sequence
from pathlib import Path

from deixis.search.indexing import Report
from deixis.search.library import Library, OnFile, silent
from deixis.search.opening import PHOTOS, open_run
from deixis.search.query import Query, Results
from deixis.search.running import ask_running
from deixis.search.searcher import Searcher
from deixis.search.status import Status

DONE, REFUSED, LOOK = 0, 1, 3


def index(
    paths: Sequence[Path],
    library: Path,
    model: str | Path | None = None,
    rebuild: bool = False,
    on_file: OnFile = silent,
) -> Report:
    """Bring a library in line with the pictures below some paths.

    Without a model a library goes on with its own, and a new one begins with the packaged one.
    """
    encoder = open_run(model or _model_of(library))
    with Library.open_or_create(library, encoder) as opened:
        work = opened.rebuild if rebuild else opened.add
        return work(paths, encoder, on_file)


def search(query: Query, library: Path) -> Results:
    """Search a library with the model that made it, or through its server when one is running."""
    answered = ask_running(query, library)
    if answered is not None:
        return answered
    with Library(library) as opened:
        return Searcher(open_run(opened.header.source), opened).search(query)


def exit_code(result: Report | Results | Status) -> int:
    """What the command ends with: nothing usable, nothing found or problems ask for a look."""
    match result:
        case Report():
            return LOOK if result.failed else DONE
        case Results():
            return DONE if result.hits else LOOK
        case Status():
            return LOOK if result.problems else DONE


def _model_of(library: Path) -> str:
    if not (library / "current").exists():
        return PHOTOS
    with Library(library) as opened:
        return opened.header.source
