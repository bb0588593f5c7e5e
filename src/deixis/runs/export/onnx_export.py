"""Both encoders of a run as ONNX graphs, checked against torch.

What an encoder makes of features is traced; the features come from backbones that are ONNX
graphs, or need torch, on their own. Encoders branch on nothing but shapes, so tracing is exact;
torch's newer exporter refuses packed sequences and boolean indexing, which they use.
"""

import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy import ndarray
from PIL import Image
from safetensors.numpy import load_file
from torch import Tensor, nn

from deixis.errors import RunError
from deixis.features.backbones.onnx_graph import session_of
from deixis.features.store.packed import Packed
from deixis.features.store.padding import padded_arrays
from deixis.files import file_hash, locked, replacing, write_atomic, write_json
from deixis.runs.export.eight_bit_matrices import with_eight_bit_matrices
from deixis.runs.export.shared_weights import without_shared
from deixis.runs.matcher import Matcher
from deixis.runs.run import Run
from deixis.types import Regions, Tokens

MANIFEST = "export.json"
GRAPHS = ("image.onnx", "text.onnx")
TOLERANCE = 1e-4
OPSET = 17
TEXTS = (
    "a dog",
    "two people sit on a bench in front of the sea",
    "red car",
    "a very small bird with a yellow head looks out of a hole in an old wooden wall at noon",
)
SIZES = ((64, 48), (40, 90), (33, 33), (120, 100))  # sizes of the made-up pictures it is checked on


@dataclass(frozen=True)
class Export:
    """Where the graphs lie, and how far they are from torch at most."""

    folder: Path
    image: float
    text: float


def export_run(run: Run) -> Export:
    """Write both towers of a run as ONNX inside the run folder.

    Refused when they differ from torch by over 1e-4.
    """
    folder = run.path("onnx")
    with locked(folder / ".lock", seconds=1.0):
        return _export(run, run.matcher, folder)


def _export(run: Run, matcher: Matcher, folder: Path) -> Export:
    pictures = _pictures(matcher)
    texts = [matcher._text_backbone(list(some)) for some in (TEXTS, TEXTS[1:2], TEXTS[::2])]
    image = _tower(matcher.model.image, Regions, pictures, folder / "image.onnx")
    text = _tower(matcher.model.text, Tokens, texts, folder / "text.onnx")
    shared = {name: _shared(run, folder / name) for name in GRAPHS}
    record = {
        "identity": matcher.identity,
        "weights": file_hash(run.path("weights")),
        "image": matcher._image_backbone.identity(),
        "text": matcher._text_backbone.identity(),
        "exact": matcher.model.similarity.exact,
        "reads_traces": matcher.reads_traces,
        "graphs": {name: file_hash(folder / name) for name in GRAPHS},
        "shared": {name: matrices for name, matrices in shared.items() if matrices},
        "largest_difference": {"image": image, "text": text},
    }
    write_json(folder / MANIFEST, record)  # comes last and makes the export whole
    return Export(folder, image, text)


def _shared(run: Run, graph: Path) -> dict[str, str]:
    """Leave out of a graph the matrices that lie in the run's weights; eight-bit runs have some."""
    weights = load_file(run.path("weights"))
    small, found = without_shared(graph.read_bytes(), graph.stem, weights, run.path("weights").name)
    if found:
        write_atomic(graph, small)
    return found


def _pictures(matcher: Matcher) -> list[Packed]:
    """The features of a few made-up pictures, in batches of several sizes."""
    random = np.random.default_rng(0)
    backbone = matcher._image_backbone
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"{place}.png" for place in range(len(SIZES))]
        for path, (width, height) in zip(paths, SIZES, strict=True):
            pixels = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(path)
        opened = [backbone.read(path) for path in paths]
    return [backbone(opened), backbone(opened[1:2]), backbone(opened[2:])]


class _Traced(nn.Module):
    """An encoder whose inputs and outputs are plain tensors."""

    def __init__(self, encoder: nn.Module, kind: type, names: Sequence[str]) -> None:
        super().__init__()
        self.encoder, self.kind, self.names = encoder, kind, names

    def forward(self, *tensors: Tensor) -> tuple[Tensor, Tensor]:
        out = self.encoder(self.kind(**dict(zip(self.names, tensors, strict=True))))
        return out.vectors, out.mask


def _tower(encoder: nn.Module, kind: type, examples: Sequence[Packed], path: Path) -> float:
    arrays = [padded_arrays(example) for example in examples]
    names = [field.name for field in fields(kind) if field.name in arrays[0]]
    traced = _Traced(encoder, kind, names).eval()
    try:
        _write(traced, names, arrays[0], path)
    except OSError:  # of the disk, not of the method
        raise
    except Exception as error:  # the exporter raises many kinds for one cause
        raise RunError(f"{path.name}: this method cannot be written as ONNX ({error})") from error
    session = session_of(path)
    gap = max(_gap(session, traced, names, example) for example in arrays)
    if not gap <= TOLERANCE:
        path.unlink()
        raise RunError(f"{path.name} differs from torch by {gap:.2g}; {TOLERANCE:g} is allowed")
    return gap


def _write(traced: _Traced, names: Sequence[str], arrays: Mapping[str, Any], path: Path) -> None:
    axes = {name: {0: "item"} if name == "pooled" else {0: "item", 1: "place"} for name in names}
    with (
        replacing(path) as temporary,
        warnings.catch_warnings(),
        torch.no_grad(),
        _plain_attention(),
        _quiet_exporter(),
    ):
        warnings.simplefilter("ignore")  # of its age, and of shapes that the check below tries
        torch.onnx.export(
            traced,
            tuple(torch.from_numpy(arrays[name]) for name in names),
            str(temporary),
            dynamo=False,
            opset_version=OPSET,
            input_names=list(names),
            output_names=["vectors", "parts"],
            dynamic_axes=axes,
        )
        temporary.write_bytes(with_eight_bit_matrices(temporary.read_bytes()))


@contextmanager
def _plain_attention() -> Iterator[None]:
    """Attention as separate operators: torch's fused one has no ONNX form."""
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)


@contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Nothing on the standard error: the exporter's C++ warns there, past Python's filters.

    It warns of shapes it cannot infer, which the comparison with torch tries; what it refuses, it
    raises.
    """
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _gap(
    session: Any, traced: _Traced, names: Sequence[str], arrays: Mapping[str, ndarray]
) -> float:
    with torch.no_grad():
        wanted, mask = traced(*(torch.from_numpy(arrays[name]) for name in names))
    taken = {one.name: arrays[one.name] for one in session.get_inputs()}
    vectors, parts = session.run(["vectors", "parts"], taken)
    if not np.array_equal(parts, mask.numpy()):
        return float("inf")
    return float(np.abs(vectors - wanted.numpy())[parts].max(initial=0.0))
