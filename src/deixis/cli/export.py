"""`deixis export`: a run's towers for machines without torch."""

from dataclasses import asdict

from deixis.cli.command import app
from deixis.cli.shared.options import Json, RunFolder
from deixis.cli.shared.printing import print_json, say


@app.command()
def export(run: RunFolder, as_json: Json = False) -> None:
    """Write both encoders as ONNX graphs, checked against torch; search then needs no torch."""
    from deixis.runs.export.onnx_export import export_run
    from deixis.runs.run import Run

    done = export_run(Run(run))
    if as_json:
        print_json(asdict(done))
        return
    say(f"{done.folder}: differs from torch by {done.image:.1g} (images), {done.text:.1g} (texts)")
