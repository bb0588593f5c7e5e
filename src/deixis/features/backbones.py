"""What turns pictures into regions and texts into tokens, by the names recipes use.

A backbone says who it is (``name``, ``identity``) and maps a batch to packed features. An image
backbone also reads one file, so that reading can run in threads beside the network.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from deixis.features.hf import HFImages, HFTexts
from deixis.features.joined import BothWays, Joined
from deixis.features.lite0 import Lite0, Lite2
from deixis.features.minilm import MiniLM
from deixis.features.packed import PackedRegions, PackedTokens
from deixis.features.precomputed import PrecomputedRegions
from deixis.features.tuned import PREFIX, TunedImages, TunedTexts
from deixis.features.words import Vocabulary
from deixis.registry import Registry


@runtime_checkable
class ImageBackbone(Protocol):
    """Picture files to regions."""

    @property
    def name(self) -> str: ...  # noqa: D102
    def identity(self) -> dict[str, str]: ...  # noqa: D102
    def read(self, path: Path) -> Any: ...  # noqa: D102
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
    """A text backbone, or what becomes one once it has seen the training texts."""

    def fit(self, texts: Sequence[str]) -> TextBackbone: ...  # noqa: D102


@dataclass(frozen=True)
class Words:
    """Words that occur often enough in the training texts."""

    minimum: int = 4

    def fit(self, texts: Sequence[str]) -> Vocabulary:
        """Count the words of the training texts."""
        return Vocabulary.count(texts, self.minimum)


image_backbones: Registry[ImageBackbone] = Registry("image backbone")
image_backbones.register("lite0")(Lite0)
image_backbones.register("lite2")(Lite2)
image_backbones.register("regions")(PrecomputedRegions)

text_backbones: Registry[TextSource] = Registry("text backbone")
text_backbones.register("minilm")(MiniLM)
text_backbones.register("words")(Words)


def image_backbone(name: str) -> ImageBackbone:
    """The image backbone a recipe names.

    ``hf:<folder or hub id>`` is a tower of the transformers library; ``lite0:both`` also sees
    pictures mirrored; ``lite0+lite2`` puts several whole-image vectors side by side. ``tuned:`` in
    place of ``hf:`` is for a tower trained with the head.
    """
    if name.startswith(PREFIX):
        return TunedImages(name.removeprefix(PREFIX))
    views = [_view(part) for part in name.split("+")]
    return views[0] if len(views) == 1 else Joined(tuple(views))


def text_source(name: str) -> TextSource:
    """The text backbone a recipe names: a known one, or ``hf:<folder or hub id>``.

    ``words:glove`` and ``words:<file>`` are words whose vectors start from others'.
    """
    if name.startswith("hf:"):
        return HFTexts(name.removeprefix("hf:"))
    if name.startswith(PREFIX):
        return TunedTexts(name.removeprefix(PREFIX))
    return text_backbones.build("words" if vectors_of(name) else name, {})


def vectors_of(name: str) -> str:
    """Where the vectors of words come from, as a text backbone's name tells; "" when from chance.

    >>> vectors_of("words:glove"), vectors_of("words")
    ('glove', '')
    """
    return name.removeprefix("words:") if name.startswith("words:") else ""


def _view(name: str) -> ImageBackbone:
    plain = name.removesuffix(":both")
    hf = plain.startswith("hf:")
    backbone = HFImages(plain.removeprefix("hf:")) if hf else image_backbones.build(plain, {})
    return backbone if plain == name else BothWays(backbone)
