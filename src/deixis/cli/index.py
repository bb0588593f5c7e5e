"""`deixis index`: make or update a library from folders of pictures."""

from typing import TYPE_CHECKING, Annotated

import typer

from deixis.cli.command import app
from deixis.cli.shared.exit_codes import end
from deixis.cli.shared.options import Cluster, Json, LibraryPlace
from deixis.cli.shared.printing import print_json, say
from deixis.cli.shared.progress import Bars

if TYPE_CHECKING:
    from deixis.scale.index_shards import ShardedIndexReport
    from deixis.search.library.indexing import IndexingReport


@app.command()
def index(
    paths: Annotated[
        list[str], typer.Argument(help="Pictures, folders of them, or one s3://BUCKET/PREFIX.")
    ],
    library: LibraryPlace = "library",
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="A run folder, or hf:PATH of a CLIP or SigLIP; by default the library's own, "
            "and the model for photographs where there is none yet.",
        ),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Encode everything again, with another model.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running and follow changes in the folders.")
    ] = False,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Update a library from folders of pictures; only new or changed pictures are read.

    In a bucket or on a cluster the library is sharded; `deixis pull` copies it into one folder.
    """
    from deixis.scale.here_or_remote import follow_pictures, index_pictures

    if watch:
        follow_pictures(
            paths,
            library,
            model,
            cluster=cluster,
            on_pass=lambda report: _print(report, library, as_json),
            on_error=lambda error: say(f"{error}; trying again", mark="waiting"),
        )
        return
    with Bars() as bars:
        report = index_pictures(
            paths,
            library,
            model,
            rebuild=rebuild,
            cluster=cluster,
            advance=bars.advance,
            on_note=bars.note,
        )
    _print(report, library, as_json)
    raise end(report)


def _print(report: "IndexingReport | ShardedIndexReport", library: str, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
        return
    for problem in report.problems:
        say(f"{problem.path}: {problem.reason}", mark=problem.kind)
    say(f"{library}: {report.summary}")
