"""`deixis status`: whether a library agrees with the disk."""

from deixis.cli.command import app
from deixis.cli.shared.exit_codes import end
from deixis.cli.shared.options import Json, LibraryPlace
from deixis.cli.shared.printing import print_json, say


@app.command()
def status(library: LibraryPlace = "library", as_json: Json = False) -> None:
    """Compare disk, manifest and vectors, and list every file that search cannot find."""
    from deixis.scale.here_or_remote import library_status

    found = library_status(library)
    if as_json:
        print_json(found.to_dict())
    else:
        say(found.summary)
        for problem in found.problems:
            say(f"{problem.path}: {problem.reason}", mark=problem.kind)
    raise end(found)
