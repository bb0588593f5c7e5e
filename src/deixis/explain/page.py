"""Sights as one HTML page that needs nothing beside it."""

import base64
import html
import io
from collections.abc import Mapping, Sequence

from jaxtyping import Float
from numpy import ndarray

from deixis.explain.draw import sheet
from deixis.explain.sight import Sight, mean_gate

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
img { max-width: 100%; border: 1px solid #ddd }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0 }
td, th { padding: 2px 6px; text-align: right; font-weight: normal }
caption { text-align: left; font-weight: bold }
"""


def page(title: str, sights: Sequence[Sight], measures: Mapping[str, float]) -> str:
    """The whole page; a run's measures say how its gates stood over the judged split."""
    body = "".join(_section(sight) for sight in sights)
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>"
    heading = f"<h1>{html.escape(title)}</h1>{_gates(sights)}{_checked(measures)}"
    return (
        f"<!doctype html><html lang='en'><head>{head}</head><body>{heading}{body}</body></html>\n"
    )


def _section(sight: Sight) -> str:
    kind = "given" if sight.belongs else "swapped"
    heading = f"<h2>{html.escape(sight.text)}</h2><p>{kind}, score {sight.score:.4f}</p>"
    content = io.BytesIO()
    sheet(sight).save(content, "PNG")
    encoded = base64.b64encode(content.getvalue()).decode()
    alt = html.escape(f"attention of “{sight.text}” over {sight.picture.name}")
    image = f"<img alt='{alt}' src='data:image/png;base64,{encoded}'>"
    regions = [f"region {number}" for number in range(1, len(sight.boxes) + 1)]
    tables = _matrix("Sentence to image", sight.to_regions, sight.words, regions)
    tables += _matrix("Image to sentence", sight.to_words, regions, sight.words)
    return f"<section>{heading}{image}{tables}</section>"


def _matrix(
    title: str,
    weights: Float[ndarray, "row column"] | None,
    rows: Sequence[str],
    columns: Sequence[str],
) -> str:
    if weights is None:
        return ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", *columns))
    body = ""
    for name, line in zip(rows, weights, strict=True):
        cells = "".join(
            f"<td style='background:rgba(220,40,30,{0.8 * share:.3f})'>{share:.2f}</td>"
            for share in line.tolist()
        )
        body += f"<tr><th>{html.escape(name)}</th>{cells}</tr>"
    return f"<table><caption>{title}</caption><tr>{head}</tr>{body}</table>"


def _gates(sights: Sequence[Sight]) -> str:
    given, swapped = (mean_gate(sights, belongs=belongs) for belongs in (True, False))
    if given is None:
        return ""
    line = f"Mean gate of the given pairs: {given:.3f}"
    return f"<p>{line}</p>" if swapped is None else f"<p>{line}; of the swapped: {swapped:.3f}</p>"


def _checked(measures: Mapping[str, float]) -> str:
    if not {"gate", "gate_swapped"} <= measures.keys():
        return ""
    own, swapped = measures["gate"] / 100, measures["gate_swapped"] / 100
    told = f"Over the judged split: {own:.3f} where a text belongs, {swapped:.3f} where swapped."
    return f"<p>{told}</p>"
