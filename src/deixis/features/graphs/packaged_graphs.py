"""The eight-bit graphs that come with deixis: where they are, and how to make them again.

``made.json`` beside them records what they were made from.
"""

from pathlib import Path
from typing import Literal

from deixis.errors import FeatureError

FOLDER = Path(__file__).parents[2] / "weights"
MADE = "made.json"

GraphName = Literal["lite0-int8", "lite2-int8", "minilm-int8", "minilm-tokenizer"]


def graph_file(name: str) -> Path:
    """The file of a packaged graph, or of the tokenizer."""
    path = FOLDER / f"{name}.{'json' if name.endswith('tokenizer') else 'onnx'}"
    if not path.is_file():
        raise FeatureError(
            f"'{name}' has no graph at {path}; deixis quantise CORPUS makes the graphs again"
        )
    return path
