"""The configuration needed to build a trained model again."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deixis.errors import RecipeError, RunError
from deixis.features.trace.boxes_of_trace import WINDOW
from deixis.registry import build_dataclass
from deixis.types import Sizes


@dataclass(frozen=True)
class RunConfig:
    """The method, the sizes of its inputs, and the features it reads."""

    method: Mapping[str, Any]  # its name and options, as the recipe wrote them
    sizes: Sizes
    image: str  # image features
    text: str  # text features
    recipe: str = ""
    seed: int = 0
    window: float = WINDOW  # seconds of trace per box

    @classmethod
    def of(cls, record: Mapping[str, Any], path: Path) -> "RunConfig":
        """From the JSON of a run folder; ``path`` is for the message of an error."""
        known = {key: value for key, value in record.items() if key != "deixis"}
        try:
            sizes = build_dataclass(Sizes, known.pop("sizes"), "sizes")
            if not isinstance(known["method"]["name"], str):
                raise TypeError("the method's name is not a text")
            return build_dataclass(cls, {**known, "sizes": sizes}, str(path))
        except (KeyError, TypeError, AttributeError, RecipeError) as error:
            raise RunError(f"{path} does not describe a run: {error}") from error
