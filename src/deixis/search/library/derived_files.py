"""Files that were made from others: copies of vectors beside a library, graphs of its model."""

from collections.abc import Iterator
from pathlib import Path

from deixis.errors import DeixisError
from deixis.files import file_hash
from deixis.neighbours.eight_bit_store import FOLDER, damaged_blocks
from deixis.runs.run import Run
from deixis.search.encoders.load_encoder import PHOTOS, packaged
from deixis.search.encoders.onnx_encoder import MANIFEST, read_export
from deixis.search.index.ivf import FILE, damaged_cells


def damaged_copies(generation: Path) -> list[Path]:
    """What was made from the vectors and has changed since; the next search makes it again."""
    cells = generation / FILE
    return damaged_blocks(generation / FOLDER) + ([cells] if damaged_cells(cells) else [])


def damaged_graphs(source: str) -> Iterator[tuple[Path, str]]:
    """The weights and graphs of a library's model that are not what was exported, and why.

    A model that is not on this machine, or was never exported, has nothing to compare.
    """
    try:
        run = Run(packaged() if source == PHOTOS else Path(source))
        record = read_export(run.path("onnx") / MANIFEST)
    except DeixisError:
        return
    wanted = {run.path("weights"): record["weights"]}
    wanted |= {run.path("onnx") / name: sum_ for name, sum_ in record.get("graphs", {}).items()}
    for path, written in wanted.items():
        if not path.is_file():
            yield path, "it is missing"
        elif file_hash(path) != written:
            yield path, "its bytes are not those that were exported"
