"""The inputs of towers that are trained with the head: pixels and word pieces.

``tuned:<folder or hub id>`` names a tower as ``hf:`` does; its weights become part of the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import ndarray

from deixis.features.backbones.transformers_features import HFImages, HFTexts
from deixis.features.store.image_files import DECODING, PictureSource, open_square
from deixis.features.store.packed import PackedRegions, PackedTokens, offsets_of
from deixis.features.words.masking import Masking, of_pieces
from deixis.files import json_hash
from deixis.shapes import UInt8

PREFIX = "tuned:"


@dataclass(frozen=True)
class TrainableImageInputs:
    """Pictures for a vision tower in training: every pixel is a region of three numbers."""

    path: str

    @property
    def name(self) -> str:
        """What a recipe calls it."""
        return f"{PREFIX}{self.path}"

    def identity(self) -> dict[str, str]:
        """Pixels depend on how a picture is opened; the tower's weights are the run's own."""
        return {"weights": "none", "preprocessing": json_hash({**DECODING, "side": self.side})}

    def read(self, path: PictureSource) -> UInt8[ndarray, "y x 3"]:
        """Open one picture as the tower wants it."""
        return open_square(path, self.side)

    def __call__(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> PackedRegions:
        """Lay the pixels of each picture out row by row."""
        pixels = [picture.reshape(-1, 3) for picture in pictures]
        values = np.concatenate([np.zeros((0, 3), np.uint8), *pixels]).astype(np.float32)
        return PackedRegions(values, offsets_of([len(rows) for rows in pixels]))

    @cached_property
    def side(self) -> int:
        """Pixels of a picture in each direction."""
        return HFImages(self.path).side


@dataclass(frozen=True)
class TrainableTextInputs:
    """Texts for a text tower in training: word pieces without states."""

    path: str

    @property
    def name(self) -> str:
        """What a recipe calls it."""
        return f"{PREFIX}{self.path}"

    @property
    def size(self) -> int:
        """How many word pieces there are."""
        return self._texts.size

    def fit(self, texts: Sequence[str]) -> "TrainableTextInputs":
        """The pieces are the tower's own: there is nothing to learn from the texts."""
        return self

    def identity(self) -> dict[str, str]:
        """Pieces depend on the tokenizer; the tower's weights are the run's own."""
        return {"weights": "none", "preprocessing": self._texts.identity()["preprocessing"]}

    def __call__(self, texts: Sequence[str]) -> PackedTokens:
        """Cut texts into word pieces."""
        ids, mask = self._texts.pieces(texts or [""])
        counts = mask.sum(dim=1).numpy()[: len(texts)]
        pieces = ids[mask].numpy()[: int(counts.sum())]
        return PackedTokens(pieces, offsets_of(counts))

    def word(self, id: int) -> str:
        """The word piece behind an id, as the tokenizer marks it."""
        return self._texts.word(id)

    @property
    def masking(self) -> Masking:
        """How words of several pieces are hidden in training."""
        tokenizer = self._texts.tokenizer
        return of_pieces([self.word(id) for id in range(self.size)], tokenizer.mask_token_id)

    @cached_property
    def _texts(self) -> HFTexts:
        return HFTexts(self.path)
