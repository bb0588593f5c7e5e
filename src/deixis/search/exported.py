"""A run that was exported, as the encoder of a library: pictures and texts without torch."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from deixis.errors import RunError
from deixis.features.backbones import ImageBackbone, TextBackbone, image_backbone, text_source
from deixis.features.files import file_hash
from deixis.features.graph import session_of
from deixis.features.packed import PackedRegions, PackedTokens
from deixis.features.padding import padded_arrays
from deixis.features.words import Vocabulary
from deixis.search.matching import RunEncoder
from deixis.search.parts import Parts

FOLDER, MANIFEST = "onnx", "export.json"


class ExportedRun(RunEncoder):
    """Encodes by the graphs of a run; torch is loaded only to score what no inner product can."""

    def __init__(self, run: Path, graphs: Path | None = None, source: str = "") -> None:
        super().__init__(run, source)
        self._graphs = graphs or run / FOLDER
        self._manifest = json.loads((self._graphs / MANIFEST).read_text(encoding="utf-8"))
        self._config = json.loads((run / "config.json").read_text(encoding="utf-8"))

    @cached_property
    def identity(self) -> str:
        """The run's identity, refused when the run or a backbone is no longer what was exported."""
        found = {
            "weights": file_hash(self._run / "model.safetensors"),
            "image": self._images.identity(),
            "text": self._texts.identity(),
        }
        for key, value in found.items():
            if self._manifest[key] != value:
                raise RunError(f"{self._graphs} was exported with other {key}; export again")
        return str(self._manifest["identity"])

    @property
    def exact(self) -> bool:
        """Whether a score is the inner product of single vectors."""
        return bool(self._manifest["exact"])

    @property
    def reads_traces(self) -> bool:
        """Whether strokes drawn with a text change its vector."""
        return bool(self._manifest["reads_traces"])

    def encode_text(self, texts: Sequence[str]) -> Parts:
        """Embed texts."""
        return _run(self._text_graph, self._texts(texts))

    def _embed(self, files: Sequence[Path]) -> Parts:
        backbone = self._images
        return _run(self._image_graph, backbone([backbone.read(Path(f)) for f in files]))

    @cached_property
    def _image_graph(self) -> Any:
        return session_of(self._graphs / "image.onnx")

    @cached_property
    def _text_graph(self) -> Any:
        return session_of(self._graphs / "text.onnx")

    @cached_property
    def _images(self) -> ImageBackbone:
        return image_backbone(self._config["image"])

    @cached_property
    def _texts(self) -> TextBackbone:
        words = self._run / "vocabulary.json"
        return (
            Vocabulary.load(words) if words.exists() else text_source(self._config["text"]).fit([])
        )


def _run(session: Any, packed: PackedRegions | PackedTokens) -> Parts:
    arrays = padded_arrays(packed)
    taken = {one.name: arrays[one.name] for one in session.get_inputs()}
    vectors, mask = session.run(["vectors", "parts"], taken)
    return Parts(np.asarray(vectors, dtype=np.float32), np.asarray(mask, dtype=bool))
