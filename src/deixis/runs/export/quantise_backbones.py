"""The backbones in eight bits, calibrated on photographs: the graphs that come with deixis."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deixis import __version__
from deixis.data.read_corpus import read_corpus
from deixis.errors import DataError
from deixis.features.backbones.efficientnet_lite import Lite0, Lite2, read_weights
from deixis.features.backbones.minilm import MiniLM
from deixis.features.graphs.activation_ranges import ranges_of
from deixis.features.graphs.lite_int8_graph import LiteInt8Graph
from deixis.features.graphs.minilm_int8_graph import BLOCK, MinilmInt8Graph
from deixis.features.graphs.packaged_graphs import FOLDER, MADE
from deixis.files import file_hash, json_hash, write_atomic, write_json
from deixis.runs.advance import Advance, silent

PHOTOGRAPHS = 128  # more widen no range that matters


@dataclass(frozen=True)
class QuantisedGraph:
    """A graph in eight bits, and how large it is."""

    path: Path
    megabytes: float


def quantise_on(
    corpus: Path, split: str, folder: Path | None = None, advance: Advance = silent
) -> list[QuantisedGraph]:
    """Write the backbones in eight bits, calibrated on the photographs of a split."""
    chosen = read_corpus(corpus).split(split)
    return quantise([chosen.path(place) for place in range(len(chosen.files))], folder, advance)


def quantise(
    photographs: Sequence[Path], folder: Path | None = None, advance: Advance = silent
) -> list[QuantisedGraph]:
    """Write Lite0, Lite2 and MiniLM in eight bits, by default over those that come with deixis.

    Activations of the image networks get the range between the lowest and the highest value over
    the first 128 photographs; weights get a scale per output channel. The text network rounds by
    the row and needs no examples.
    """
    if len(photographs) < PHOTOGRAPHS:
        raise DataError(f"{len(photographs)} photographs to calibrate on; {PHOTOGRAPHS} are needed")
    folder, some = folder or FOLDER, photographs[:PHOTOGRAPHS]
    sources: dict[str, str] = {}
    written = []
    for place, lite in enumerate((Lite0(), Lite2())):
        path = folder / f"{lite.name}-int8.onnx"
        write_atomic(path, _lite(lite, some))
        sources[lite.package] = file_hash(lite._path)
        written.append(path)
        advance("quantising", place + 1, 3)
    text = MiniLM()
    written.append(folder / f"{text.name}-int8.onnx")
    write_atomic(written[-1], MinilmInt8Graph(text.weights()).build())
    write_atomic(folder / f"{text.name}-tokenizer.json", text._tokenizer_file.read_bytes())
    sources[text.package] = file_hash(text._weights_file)
    advance("quantising", 3, 3)
    write_json(folder / MADE, _record(sources, some))
    return [QuantisedGraph(path, path.stat().st_size / 1e6) for path in written]


def _lite(lite: Lite0, photographs: Sequence[Path]) -> bytes:
    weights = read_weights(lite._path)
    watched = lite.graph()
    graph = watched.build(watch=True)
    examples = ({"pixels": lite.read(path)[None]} for path in photographs)
    ranges = ranges_of(graph, watched.watched, examples)
    return LiteInt8Graph(weights, lite.side, ranges).build()


def _record(sources: dict[str, str], photographs: Sequence[Path]) -> dict[str, object]:
    return {
        "deixis": __version__,
        "weights": sources,
        "photographs": {
            "number": len(photographs),
            "names": json_hash([p.name for p in photographs]),
        },
        "image networks": "static, min-max, bytes for activations, a scale per output channel",
        "text network": f"eight-bit weights in blocks of {BLOCK}, rows rounded as they come",
    }
