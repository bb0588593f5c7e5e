"""The data table of a recipe: corpus, features, splits."""

from dataclasses import dataclass
from typing import Literal

from deixis.data.split_names import split_name
from deixis.errors import RecipeError
from deixis.features.backbones.tower_names import with_side
from deixis.features.trace.boxes_of_trace import WINDOW


@dataclass(frozen=True)
class DataSpec:
    """Which corpus, which features, which splits.

    Splits are found by any of their usual names: ``dev`` and ``validation`` are ``val``.
    """

    corpus: str = "scenes"  # a path, or "scenes": the simulated ones
    also: tuple[str, ...] = ()  # paths of further corpora whose training images are added
    size: int = 1600  # pictures drawn when the corpus is the embedded one
    image: str = "lite0"
    side: int = 0  # pixels of the square an hf: or tuned: tower is shown; 0: the tower's own
    parts_of: str = ""  # a run folder: its image encoder's vectors stand in for the regions
    text: str = "words"
    # Narrations: texts with a trace alone; both: captions beside them. Phrases: parts of captions
    # with human boxes; grounded: whole captions with such phrases, their boxes circled.
    texts: Literal["captions", "narrations", "both", "phrases", "grounded"] = "captions"
    window: float = WINDOW  # seconds of trace in a box
    train: str = "train"
    val: str = "val"
    test: str = "test"
    label_words: tuple[str, ...] = ()  # labels by what the first captions name, when none are given
    val_images: int = 0  # only the first N validation images choose the model; 0: all
    holdout: int = 0  # the last N training images become the validation split

    def __post_init__(self) -> None:
        for key in ("train", "val", "test"):
            object.__setattr__(self, key, split_name(getattr(self, key)))
        if self.side > 0:
            object.__setattr__(self, "image", with_side(self.image, self.side))
        names = {key: getattr(self, key) for key in ("train", "val", "test")}
        for key, other in (("val", "test"), ("train", "test"), ("train", "val")):
            # A stage that is only built upon may be judged by the images it holds out itself.
            own = (key, other) == ("val", "test") and self.holdout > 0
            if names[key] == names[other] and not own:
                raise RecipeError(
                    f"data.{key} and data.{other} are both '{names[key]}'; what is trained on, "
                    "chosen by and reported must be three different splits"
                )
        for key, least in (("holdout", 0), ("side", 0), ("size", 1)):
            if getattr(self, key) < least:
                raise RecipeError(f"data.{key} is {getattr(self, key)}; give {least} or more")
        if not 0 < self.window < float("inf"):
            raise RecipeError(f"data.window is {self.window}; give seconds above 0")
