"""What turns pictures into regions and texts into tokens, by the names recipes use.

A backbone says who it is (``name``, ``identity``) and maps a batch to packed features. An image
backbone also reads one file, so that reading can run in threads beside the network.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from deixis.features.backbones.cells import Cells, CellsInt8
from deixis.features.backbones.coarse_cells import CoarseCells
from deixis.features.backbones.combined import CombinedBackbones, MirroredMean
from deixis.features.backbones.efficientnet_lite import Lite0, Lite0Int8, Lite2, Lite2Int8
from deixis.features.backbones.minilm import MiniLM, MiniLMInt8
from deixis.features.backbones.precomputed import PrecomputedRegions
from deixis.features.backbones.trainable_inputs import (
    PREFIX,
    TrainableImageInputs,
    TrainableTextInputs,
)
from deixis.features.backbones.transformers_features import HFImages, HFTexts
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.features.words.vocabulary import Vocabulary
from deixis.registry import Registry


@runtime_checkable
class ImageBackbone(Protocol):
    """Picture files to regions."""

    @property
    def name(self) -> str: ...  # noqa: D102
    def identity(self) -> dict[str, str]: ...  # noqa: D102
    def read(self, path: PictureSource) -> Any: ...  # noqa: D102
    def __call__(self, pictures: Sequence[Any]) -> PackedRegions: ...  # noqa: D102


@runtime_checkable
class TextBackbone(Protocol):
    """Texts to tokens."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    def identity(self) -> dict[str, str]: ...  # noqa: D102
    def __call__(self, texts: Sequence[str]) -> PackedTokens: ...  # noqa: D102
    def word(self, id: int) -> str: ...  # noqa: D102


@runtime_checkable
class TextSource(Protocol):
    """A text backbone, or what becomes one after seeing the training texts."""

    def fit(self, texts: Sequence[str]) -> TextBackbone: ...  # noqa: D102


@dataclass(frozen=True)
class VocabularySource:
    """A vocabulary of the words that occur at least ``minimum`` times in the training texts."""

    minimum: int = 4

    def fit(self, texts: Sequence[str]) -> Vocabulary:
        """Count the words of the training texts."""
        return Vocabulary.count(texts, self.minimum)


image_backbones: Registry[ImageBackbone] = Registry("image backbone")
image_backbones.register("lite0")(Lite0)
image_backbones.register("lite2")(Lite2)
image_backbones.register("lite0-int8")(Lite0Int8)
image_backbones.register("lite2-int8")(Lite2Int8)
image_backbones.register("cells")(Cells)
image_backbones.register("cells-int8")(CellsInt8)
image_backbones.register("regions")(PrecomputedRegions)

text_backbones: Registry[TextSource] = Registry("text backbone")
text_backbones.register("minilm")(MiniLM)
text_backbones.register("minilm-int8")(MiniLMInt8)
text_backbones.register("words")(VocabularySource)


def image_backbone(name: str) -> ImageBackbone:
    """The image backbone a recipe names.

    ``hf:<folder or hub id>`` is a tower of the transformers library; ``lite0:both`` also sees
    pictures mirrored; ``lite0+lite2`` puts several whole-image vectors side by side. ``tuned:`` in
    place of ``hf:`` is for a tower trained with the head. ``lite0-int8`` computes in eight bits.
    ``cells`` are both networks on one grid, for pointing; ``cells:3x3`` averages them into nine.
    """
    if name.startswith(PREFIX):
        return TrainableImageInputs(name.removeprefix(PREFIX))
    views = [_view(part) for part in name.split("+")]
    return views[0] if len(views) == 1 else CombinedBackbones(tuple(views))


def text_source(name: str) -> TextSource:
    """The text backbone a recipe names: a known one, or ``hf:<folder or hub id>``.

    ``words:glove`` and ``words:<file>`` are words whose vectors start from others'.
    """
    if name.startswith("hf:"):
        return HFTexts(name.removeprefix("hf:"))
    if name.startswith(PREFIX):
        return TrainableTextInputs(name.removeprefix(PREFIX))
    return text_backbones.build("words" if vectors_of(name) else name, {})


def in_eight_bits(name: str) -> str:
    """The same backbones in eight bits, where deixis comes with such.

    >>> in_eight_bits("lite0:both+lite2"), in_eight_bits("words")
    ('lite0-int8:both+lite2-int8', 'words')
    """
    views = [part.partition(":") for part in name.split("+")]
    known = (*image_backbones.names(), *text_backbones.names())
    swapped = [(f"{one}-int8" if f"{one}-int8" in known else one, *rest) for one, *rest in views]
    return "+".join("".join(view) for view in swapped)


def vectors_of(name: str) -> str:
    """Where word vectors start from, by a text backbone's name; "" when random.

    >>> vectors_of("words:glove"), vectors_of("words")
    ('glove', '')
    """
    return name.removeprefix("words:") if name.startswith("words:") else ""


def _view(name: str) -> ImageBackbone:
    if grid := re.fullmatch(r"(cells|cells-int8):([1-8])x\2", name):
        cells = Cells() if grid[1] == Cells.name else CellsInt8()
        return CoarseCells(cells, int(grid[2]))
    plain = name.removesuffix(":both")
    hf = plain.startswith("hf:")
    backbone = HFImages(plain.removeprefix("hf:")) if hf else image_backbones.build(plain, {})
    return backbone if plain == name else MirroredMean(backbone)
