"""Methods built from their options, as they are or narrow enough to train in seconds."""

from collections.abc import Collection, Mapping
from typing import Any

from deixis.errors import RecipeError
from deixis.methods.model import Method, methods

# What a method's sizes are cut down to where a table must run in seconds.
SMALL = {
    "dim": 32,
    "width": 32,  # of a trunk, which takes over maps that end in a dim
    "word_dim": 32,
    "hidden": 32,
    "head_dim": 16,
    "caption_dim": 32,
    "layers": 1,
    "query_depth": 2,
    "image_depth": 2,
    "inner": 32,
    "warmup": 5,
}
WIDTHS = ("dim", "word_dim", "head_dim", "caption_dim")  # of vectors: none may be empty
BERT_WIDTHS = ("bert", "dim", "inner")  # the checkpoint a method starts from, and its widths


def method_of(options: Mapping[str, Any]) -> Method:
    """The method that a table of options names."""
    method = methods.build(options["name"], {k: v for k, v in options.items() if k != "name"})
    for key in WIDTHS:
        if getattr(method, key, 1) < 1:
            raise RecipeError(
                f"method '{options['name']}': {key} is {getattr(method, key)}; give 1 or more"
            )
    return method


def narrowed(options: Mapping[str, Any], keep: Collection[str] = ()) -> dict[str, Any]:
    """A method's options with its sizes cut down, and those of the method it wraps."""
    method = method_of(options)
    small: dict[str, Any] = {
        key: min(limit, getattr(method, key))
        for key, limit in SMALL.items()
        if hasattr(method, key) and key not in keep
    }
    if options.get("bert") and "bert" not in keep:
        small["bert"] = ""  # a checkpoint's width is its own, which a narrow model cannot take
    if "base" in options:
        small["base"] = narrowed(options["base"], keep)
    return {**options, **small}
