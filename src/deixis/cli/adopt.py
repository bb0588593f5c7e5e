"""`deixis adopt`: a pretrained pair as a run folder, nothing trained."""

from pathlib import Path
from typing import Annotated

import typer

from deixis.cli.app import app


@app.command()
def adopt(
    tower: Annotated[str, typer.Argument(help="hf:PATH of a CLIP or SigLIP.")],
    folder: Annotated[Path, typer.Argument(help="The run folder to write.")],
) -> None:
    """Make a run folder of a pretrained pair, ready to index and search."""
    from deixis.methods.zero_shot import adopt as adopt_pair

    adopt_pair(tower, folder)
    print(folder)
