"""The model card of a run: what it is, its data, its scores."""

from collections.abc import Mapping
from typing import Any

from deixis.recipes.recipe import Recipe
from deixis.recipes.recipe_parts import Row


def model_card(recipe: Recipe, row: Row, seed: int, result: Mapping[str, Any]) -> str:
    """Markdown that says how a model was made and how far to trust it."""
    paper = row.method.paper
    measures = "\n".join(f"| {key} | {value:.2f} |" for key, value in result["measures"].items())
    return f"""# {row.label}

A model of **{paper.title}** ({paper.authors}, {paper.venue} {paper.year}), trained by recipe
`{recipe.name}` ({recipe.title}), seed {seed}.

- Data: `{row.data.corpus}`, split `{row.data.train}` to train, `{row.data.val}` to choose.
- Features: images `{row.data.image}`, texts `{row.data.text}`.
- Judged on `{row.data.test}`: {result["protocol"]}, split {result["split_sha"]}, ties
  {result["tie_rule"]}; {result["gallery"]["t2i"]} images, {result["gallery"]["i2t"]} texts.

| measure | value |
|---|---|
{measures}
{_gates(result["measures"])}
Load it with `deixis.load("this folder")`. It knows what its training data shows, no more.
"""


def _gates(measures: Mapping[str, float]) -> str:
    """Whether gates open wider where picture and text belong together."""
    if not {"gate", "gate_swapped"} <= measures.keys():
        return ""
    own, swapped = measures["gate"], measures["gate_swapped"]
    verdict = "as they should" if own > swapped else "**against what the method promises**"
    return f"""
Gates are open {own:.1f} % on average where a text belongs to its image and {swapped:.1f} % where it
was swapped for another's, {verdict}.
"""
