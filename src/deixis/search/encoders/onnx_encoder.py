"""A run that was exported, as the encoder of a library: pictures and texts without torch."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import RunError
from deixis.features.backbones.backbone import (
    ImageBackbone,
    TextBackbone,
    image_backbone,
    text_source,
)
from deixis.features.backbones.onnx_graph import session_of
from deixis.features.store.content_hashes import content_hash
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.features.store.padding import padded_arrays
from deixis.features.trace.narration import Narration
from deixis.features.words.vocabulary import Vocabulary
from deixis.files import parse_json
from deixis.runs.export.shared_weights import shared_matrices
from deixis.runs.run import Run
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.encoders.torch_encoder import TorchEncoder
from deixis.shapes import Float32

MANIFEST = "export.json"
GRAPHS = {"image.onnx", "text.onnx"}
KEYS = ("weights", "image", "text", "identity", "exact", "reads_traces")


class OnnxEncoder(TorchEncoder):
    """Encodes by the graphs of a run; torch is loaded only to score what no inner product can."""

    def __init__(self, run: Path, source: str = "") -> None:
        super().__init__(run, source)
        self._graphs = Run(run).path("onnx")
        self._manifest = read_export(self._graphs / MANIFEST)
        self._config = Run(run).read("config")
        for key in ("image", "text"):
            if not isinstance(self._config.get(key), str):
                raise RunError(f"{Run(run).path('config')} is damaged: it names no {key} features")

    @cached_property
    def identity(self) -> str:
        """The run's identity, refused when the run or a backbone is no longer what was exported."""
        found = {
            "weights": content_hash(Run(self._run).path("weights")),
            "image": self._images.identity(),
            "text": self._texts.identity(),
        }
        for key, value in found.items():
            if self._manifest[key] != value:
                raise RunError(f"{self._graphs} was exported with other {key}; export again")
        for name, value in self._manifest.get("graphs", {}).items():
            if content_hash(self._graphs / name) != value:
                raise RunError(f"{self._graphs / name} is not what was exported; export again")
        return str(self._manifest["identity"])

    @property
    def exact(self) -> bool:
        """Whether a score is the inner product of single vectors."""
        return bool(self._manifest["exact"])

    @property
    def reads_traces(self) -> bool:
        """Whether strokes drawn with a text change its vector."""
        return bool(self._manifest["reads_traces"])

    @property
    def concurrent(self) -> bool:
        """Whether threads may encode at once: a session serves any number."""
        return True

    def encode_text(self, texts: Sequence[str]) -> EmbeddedParts:
        """Embed texts."""
        return run_graph(self._text_graph, self._texts(texts))

    def encode_narration(self, narrations: Sequence[Narration]) -> EmbeddedParts:
        """Embed texts together with the traces drawn for them, where the model reads traces."""
        if not self.reads_traces:
            raise RunError(f"{self.source} reads words alone, no traces")
        return super().encode_narration(narrations)

    def score(self, texts: EmbeddedParts, images: EmbeddedParts) -> Float32[ndarray, "text image"]:
        """Score embedded texts against embedded pictures."""
        if not self.exact:
            return super().score(texts, images)
        return np.asarray(texts.vectors[:, 0] @ images.vectors[:, 0].T)

    def _embed(self, files: Sequence[PictureSource]) -> EncodedFiles:
        if self.places is not None and self._one_pass:
            both = self.places.images
            features = both([both.read(file) for file in files])
            parts, cells = run_graph(self._image_graph, features), self.places.cells_of(features)
            return EncodedFiles(parts, {}, cells)
        return super()._embed(files)

    def _parts_of(self, files: Sequence[PictureSource]) -> EmbeddedParts:
        backbone = self._images
        return run_graph(self._image_graph, backbone([backbone.read(f) for f in files]))

    @cached_property
    def _one_pass(self) -> bool:
        """Whether the place head's backbone also gives what the run reads of pictures."""
        images = None if self.places is None else self.places.images
        read = self._config["image"]
        return read in (getattr(images, "pooled_as", None), getattr(images, "name", None))

    @cached_property
    def _image_graph(self) -> Any:
        return self._session("image.onnx")

    @cached_property
    def _text_graph(self) -> Any:
        return self._session("text.onnx")

    def _session(self, name: str) -> Any:
        weights, shared = Run(self._run).path("weights"), self._manifest.get("shared", {})
        return session_of(
            self._graphs / name, lacking=shared_matrices(weights, shared.get(name, {}))
        )

    @cached_property
    def _images(self) -> ImageBackbone:
        return image_backbone(self._config["image"])

    @cached_property
    def _texts(self) -> TextBackbone:
        words = Run(self._run).path("vocabulary")
        return (
            Vocabulary.load(words) if words.exists() else text_source(self._config["text"]).fit([])
        )


def read_export(path: Path) -> dict[str, Any]:
    """The record of an export, refused if it is incomplete."""
    try:
        record = parse_json(path.read_text(encoding="utf-8"))
        missing = [key for key in KEYS if key not in record]
        if not isinstance(record, dict) or not _names_graphs(record):
            raise ValueError("its graphs are no table of names")
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{path} is damaged: {error}; export the run again") from error
    if missing:
        raise RunError(f"{path} is damaged: it has no '{missing[0]}'; export the run again")
    return dict(record)


def _names_graphs(record: dict[str, Any]) -> bool:
    """Whether hashes and shared matrices are listed by the names of graphs, and no other path."""
    graphs, shared = record.get("graphs", {}), record.get("shared", {})
    if not isinstance(graphs, dict) or not isinstance(shared, dict):
        return False
    tables = all(isinstance(matrices, dict) for matrices in shared.values())
    return tables and {*graphs, *shared} <= GRAPHS


def run_graph(session: Any, packed: PackedRegions | PackedTokens) -> EmbeddedParts:
    """Embed what a backbone made of pictures or texts."""
    wanted = {one.name for one in session.get_inputs()}
    arrays = padded_arrays(packed, {"values", "boxes"} - wanted)
    taken = {name: arrays[name] for name in wanted}
    vectors, mask = session.run(["vectors", "parts"], taken)
    return EmbeddedParts(np.asarray(vectors, dtype=np.float32), np.asarray(mask, dtype=bool))
