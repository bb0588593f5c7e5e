"""A model's part in pointing: pictures become cells, phrases become vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.errors import RunError
from deixis.features.backbones.backbone import (
    ImageBackbone,
    TextBackbone,
    image_backbone,
    text_source,
)
from deixis.features.places.cell_grid import CELLS
from deixis.features.places.phrase_inputs import CharSpan, SpannedText, phrase_inputs
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import PackedRegions
from deixis.files import json_hash
from deixis.runs.places.place_head import PlaceHead, StoredCells
from deixis.runs.run import Run
from deixis.shapes import Float32
from deixis.similarity.places.place_score import PlaceScore


@dataclass(frozen=True)
class PlaceReader:
    """The place head of a run, with the backbones it reads; only numpy and ONNX Runtime."""

    head: PlaceHead
    game: float | None = None  # percent of peaks inside the human box, where it was measured

    @classmethod
    def of(cls, run: Path) -> "PlaceReader | None":
        """The reader of a run folder; None when the run has no place head."""
        path = Run(run).path("places")
        if not path.is_file():
            return None
        return cls(PlaceHead.read(path), _measured(Run(run)))

    @cached_property
    def identity(self) -> str:
        """Hash of head and backbones: equal exactly when cells may be read by phrases."""
        return json_hash([self.head.identity, self.images.identity(), self._texts.identity()])

    @property
    def score(self) -> PlaceScore:
        """How a phrase at a region is scored."""
        return self.head.score

    @property
    def anything(self) -> Float32[ndarray, " dim"]:
        """The vector of "something is here"."""
        return self.head.anything

    @property
    def dim(self) -> int:
        """Numbers of a cell's vector."""
        return len(self.head.anything)

    def cells(self, files: Sequence[PictureSource]) -> StoredCells:
        """The cells of picture files, by a pass of their own through the networks."""
        return self.cells_of(self.images([self.images.read(file) for file in files]))

    def cells_of(self, features: PackedRegions) -> StoredCells:
        """The cells of pictures whose features are there already."""
        if not (np.diff(features.offsets) == CELLS).all():
            raise RunError(f"'{self.head.image}' gives no {CELLS} cells per picture; pack again")
        return self.head.cells(features.values.reshape(len(features), CELLS, -1))

    def phrases(self, text: str, spans: Sequence[CharSpan]) -> Float32[ndarray, "phrase dim"]:
        """Vectors of some phrases of a text, given by their characters."""
        if not spans:
            return np.zeros((0, self.dim), np.float32)
        return self.head.phrases(phrase_inputs([text], [spans], self.texts))

    @cached_property
    def images(self) -> ImageBackbone:
        """What reads pictures."""
        return image_backbone(self.head.image)

    @cached_property
    def texts(self) -> SpannedText:
        """What reads phrases."""
        if not isinstance(self._texts, SpannedText):
            raise RunError(f"the place head reads texts by '{self.head.text}', which has no states")
        return self._texts

    @cached_property
    def _texts(self) -> TextBackbone:
        return text_source(self.head.text).fit([])


def _measured(run: Run) -> float | None:
    """The pointing game of the head as it was packed, if the run says."""
    if not run.finished:
        return None
    try:
        found = run.metrics.get("pointing", {}).get("game", {}).get("all")
        return None if found is None else float(found)
    except (AttributeError, TypeError, ValueError) as error:
        path = run.path("metrics")
        raise RunError(f"{path} is damaged: it says nothing of pointing ({error})") from error
