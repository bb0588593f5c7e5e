"""How a method describes its authors' released checkpoints, so that they can be read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from deixis.errors import RunError
from deixis.types import Sizes


@dataclass(frozen=True)
class Checkpoint:
    """Weights by their published names, such as ``img_enc.fc.weight``, and the authors' options."""

    weights: Mapping[str, Tensor]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor; one that is not there is named."""
        if name not in self.weights:
            some = ", ".join(sorted(self.weights)[:4])
            raise RunError(f"the checkpoint has no '{name}'; it has {some}, …")
        return tuple(self.weights[name].shape)

    def has(self, prefix: str) -> bool:
        """Whether any name begins so."""
        return any(name.startswith(prefix) for name in self.weights)

    def count(self, pattern: str) -> int:
        """How many of a numbered series of modules there are; ``{}`` marks the number.

        Counted from 0, or from 1 where there is no 0.
        """
        first = 0 if self.has(pattern.format(0)) else 1
        number = first
        while self.has(pattern.format(number)):
            number += 1
        return number - first


@dataclass(frozen=True)
class Released:
    """A checkpoint in a method's own words: its options, its sizes, and which name is which.

    ``names`` maps the beginnings of published names to those of ours; two of ours may share one.
    ``left`` are beginnings of names that carry nothing the model uses. ``shown`` says what the CNN
    inside is and how it sees pictures, where a folder of its architecture is rarely at hand; the
    names in ``blue_first`` are of convolutions over blue, green and red, which here are red first.
    """

    options: dict[str, Any]
    sizes: Sizes
    names: Mapping[str, str | tuple[str, ...]]
    left: tuple[str, ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict)
    blue_first: tuple[str, ...] = ()

    def renamed(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights by our names; one that has no place here is refused, not dropped."""
        state = {}
        for name, value in weights.items():
            if name.startswith(self.left):
                continue
            published = max((p for p in self.names if name.startswith(p)), key=len, default=None)
            if published is None:
                raise RunError(f"nothing here is the checkpoint's '{name}'; is it of this method?")
            ours = self.names[published]
            own = value.flip(1) if name in self.blue_first else value
            for prefix in (ours,) if isinstance(ours, str) else ours:
                state[prefix + name.removeprefix(published)] = own
        return state


# The towers of texts and pictures that are read by ``tuned:…``.
BERT, CNN = "text.tower.model.", "image.tower.model."

# What the text encoders of VSE++ and all that grew out of it have in common.
WORDS = {"txt_enc.embed.": "text.body.embed.", "txt_enc.rnn.": "text.body.gru."}


def region_sizes(found: Checkpoint, projection: str = "img_enc.fc.weight") -> Sizes:
    """Sizes of a model that projects regions and learns word vectors, or reads frozen states."""
    region = found.shape(projection)[1]
    if found.has("txt_enc.embed."):
        return Sizes(region=region, vocabulary=found.shape("txt_enc.embed.weight")[0])
    return Sizes(region=region, token=found.shape("txt_enc.linear.weight")[1])


def word_width(found: Checkpoint) -> dict[str, int]:
    """The option ``word_dim``, where word vectors are learned."""
    return (
        {"word_dim": found.shape("txt_enc.embed.weight")[1]} if found.has("txt_enc.embed") else {}
    )


# Options of VSE++ and PVSE, and of what grew out of them, that change vectors or scores and not one
# weight: without this list such a model would be adopted and rank wrongly.
UNBUILT = {
    "measure": "order",
    "order": True,
    "use_abs": True,
    "no_imgnorm": True,
    "no_txtnorm": True,
}


def only_unit_vectors(found: Checkpoint) -> None:
    """Refuse a model whose options say that it compares otherwise than by cosines."""
    for name, value in UNBUILT.items():
        if setting(found, name, None) == value:
            raise RunError(
                f"this model was trained with {name} = {value!r}, which is not supported: "
                "wanted one that compares unit vectors by their cosine"
            )


def only_built(found: Checkpoint, built: Mapping[str, Any]) -> None:
    """Refuse a model whose options differ from the only values built, where no weight shows it."""
    for name, value in built.items():
        if setting(found, name, value) != value:
            raise RunError(
                f"this model was trained with {name} = {setting(found, name, value)!r}: wanted "
                f"{value!r}, the only value built here"
            )


def setting(found: Checkpoint, name: str, otherwise: Any) -> Any:
    """One of the authors' options, or the paper's value if the file has none."""
    return found.settings.get(name, otherwise)
