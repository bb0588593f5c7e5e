"""A model trained elsewhere as a run folder: a pretrained pair, or a released checkpoint."""

from pathlib import Path

from deixis.errors import RunError
from deixis.extras import need
from deixis.features.backbones.hub_access import allow_hub
from deixis.runs.adopt_pretrained import adopt_pretrained
from deixis.runs.matcher import Matcher
from deixis.runs.released.adopt_checkpoint import AuthorsFiles, adopt_checkpoint


def adopt_model(
    source: str, folder: Path, method: str = "", files: AuthorsFiles | None = None
) -> Matcher:
    """Make a run folder of ``hf:PATH``, or of a checkpoint of a method, nothing trained."""
    if source.startswith("hf:"):
        need("transformers", "hub")
        allow_hub(source)
        return adopt_pretrained(source, folder)
    if not method:
        raise RunError("name the method the checkpoint is of, as in --method vsrn")
    return adopt_checkpoint(method, files or AuthorsFiles(Path(source)), folder)
