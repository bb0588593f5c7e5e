"""Pieces of the method pages, read from the methods and from the recipes."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from deixis.methods import load_all
from deixis.methods.model import Method, methods
from deixis.recipes.recipe import Recipe

ROOT = Path(__file__).parents[1]
# Options whose meaning is the same wherever they occur and needs no comment in the code.
COMMON = {
    "dim": "width of the shared space",
    "word_dim": "width of a word vector",
    "margin": "margin of the hinge",
    "dropout": "dropout in training",
    "parts": "vectors per image and per text, K",
    "iterations": "rounds of slot attention, T",
    "head_dim": "width of an attention head",
    "heads": "attention heads",
    "layers": "transformer layers",
    "inner": "width of the feed-forward layer",
    "hidden": "width of each modality's own layer",
    "text_hidden": "width of the text perceptron's hidden layer; 0: a linear map",
    "image_dropout": "dropout on image features",
    "text_dropout": "dropout on text features",
    "temperature": "temperature of the softmax",
    "caption_dim": "width of the caption generator",
    "attend": "regions and words exchange messages; false: the paper's “without cross-attention”",
    "fuse": "messages are fused through gates; false: the paper's “without fusion”",
    "fusion": "how a part and its message are joined",
    "pool": "how the scores of the parts become one",
    "stage": "which stage of the released code is trained",
    "start": "where slots start: one learned set, or drawn per item",
    "update": "how a slot takes up what it attended to",
    "image": "image features: detector regions or grid cells",
    "similarity": "how two sets are compared",
    "base": "the method whose ranking loss is replaced, with its options",
    "variant": "which of the paper's three losses",
    "alpha": "α of the adaptive weight",
    "beta": "β of the adaptive weight",
    "offline_margin": "margin against mined negatives, γ₂",
    "position": "what a position is: the place in the sequence, or the time in seconds",
    "geometry": "how the five numbers of a box are encoded",
    "eta": "η, the weight of the consistency term",
}
MEASURES = {
    "flops_ratio": "FLOPs, first row 1",
    "top10_ms": "best 10 of each, ms",
    "query_ms": "per query, ms",
    "whole_s": "whole split, s",
    "i2t_hit@1": "i→t R@1",
    "i2t_hit@5": "R@5",
    "i2t_hit@10": "R@10",
    "t2i_hit@1": "t→i R@1",
    "t2i_hit@5": "R@5",
    "t2i_hit@10": "R@10",
    "rsum": "RSUM",
    "image_f1": "image F1",
    "text_f1": "text F1",
    "eccv_i2t_map@r": "i→t mAP@R",
    "eccv_i2t_rprecision": "R-P",
    "eccv_i2t_hit@1": "R@1",
    "cxc_i2t_hit@1": "CxC R@1",
    "eccv_t2i_map@r": "t→i mAP@R",
    "eccv_t2i_rprecision": "R-P",
    "eccv_t2i_hit@1": "R@1",
    "cxc_t2i_hit@1": "CxC R@1",
}


def method_names() -> tuple[str, ...]:
    """Every method a recipe can name."""
    load_all()
    return methods.names()


def citation(name: str) -> str:
    """The paper of a method, in one line."""
    load_all()
    paper = methods.find(name).paper
    return f"*{paper.title}*. {paper.authors}. {paper.venue} {paper.year}."


def option_table(name: str) -> str:
    """The options of a method: default, and what the code says about it."""
    load_all()
    cls = methods.find(name)
    hints = get_type_hints(cls)
    known = [field for field in fields(cls) if field.init]
    if not known:
        return "This method has no options."
    lines = ["| option | default | meaning |", "|---|---|---|"]
    for field in known:
        meaning = _meaning(cls, field.name)
        if not meaning:
            raise SystemExit(f"{name}.{field.name} has no comment that says what it is")
        choices = _choices(hints[field.name])
        lines.append(f"| `{field.name}` | {_default(field)} | {meaning}{choices} |")
    return "\n".join(lines)


def paper_tables(name: str) -> str:
    """What the papers print for a method, as the recipes carry it."""
    found = [_paper_table(recipe, file, name) for file, recipe in _recipes()]
    tables = [table for table in found if table]
    if not tables:
        return "No recipe carries printed numbers for this method."
    return "\n\n".join(tables)


def recipe_list(name: str) -> str:
    """The recipes that use a method."""
    lines = [
        f"- `recipes/{file}`: {recipe.title}"
        for file, recipe in _recipes()
        if any(row.method.name == name for row in recipe.rows)
    ]
    return "\n".join(lines) or "No recipe uses it."


def _recipes() -> Iterator[tuple[str, Recipe]]:
    for path in sorted((ROOT / "recipes").glob("*.toml")):
        yield path.name, Recipe.load(path)


def _paper_table(recipe: Recipe, file: str, name: str) -> str:
    of = {row.label for row in recipe.rows if row.method.name == name}
    rows: list[tuple[str, Mapping[str, float]]] = [
        (row.label, row.printed) for row in recipe.rows if row.label in of and row.printed
    ]
    rows += [(d.label, d.printed) for d in recipe.derived if d.printed and of & set(d.of)]
    if not rows:
        return ""
    keys = [key for key in MEASURES if any(key in printed for _, printed in rows)]
    unknown = {key for _, printed in rows for key in printed} - set(MEASURES)
    if unknown:
        raise SystemExit(f"recipes/{file} prints measures without a heading: {sorted(unknown)}")
    lines = [
        f"**{recipe.title}** (`recipes/{file}`). {recipe.note}",
        "",
        "| | " + " | ".join(MEASURES[key] for key in keys) + " |",
        "|---|" + "---:|" * len(keys),
    ]
    for label, printed in rows:
        cells = (_number(printed[key]) if key in printed else "–" for key in keys)
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _meaning(cls: type[Method], option: str) -> str:
    """The comment beside the option in the code, else the common meaning."""
    for kind in cls.__mro__:
        if option in vars(kind).get("__annotations__", {}):
            source = inspect.getsource(kind)
            beside = re.search(rf"^    {option}: [^\n]*?  # (.+)$", source, re.MULTILINE)
            above = re.search(rf"((?:^    # .+\n)+)    {option}: ", source, re.MULTILINE)
            if beside:
                return beside[1]
            if above:
                return " ".join(line.strip(" #") for line in above[1].splitlines())
    return COMMON.get(option, "")


def _choices(hint: Any) -> str:
    if get_origin(hint) is not Literal:
        return ""
    return "; one of " + ", ".join(f"`{value}`" for value in get_args(hint))


def _default(field: "Field[Any]") -> str:
    if field.default is not MISSING:
        return f"`{field.default!r}`".replace("'", '"')
    if field.default_factory is not MISSING:
        return f"`{field.default_factory()!r}`".replace("'", '"')
    return "required"


def _number(value: float) -> str:
    return f"{value:.1f}" if round(value, 1) == value else f"{value:g}"
