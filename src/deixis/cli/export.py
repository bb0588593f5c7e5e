"""`deixis export`: a run's towers for machines without torch."""

from typing import Annotated

import typer

from deixis.cli.app import app
from deixis.cli.options import RunFolder
from deixis.cli.progress import say


@app.command()
def export(
    run: RunFolder,
    onnx: Annotated[bool, typer.Option("--onnx", help="Write ONNX graphs.")] = False,
) -> None:
    """Write both towers as ONNX, checked against torch; index and search then use them."""
    from deixis.methods.export import export_run

    if not onnx:
        raise typer.BadParameter("name the format to write: --onnx")

    done = export_run(run)
    say(f"{done.folder}: differs from torch by {done.image:.1g} (images), {done.text:.1g} (texts)")
