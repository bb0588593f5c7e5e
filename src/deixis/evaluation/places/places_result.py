"""What pointing reaches: a line per way to point, the pointing game, mirrored twins."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from deixis.evaluation.image_bootstrap import interval_over_images
from deixis.evaluation.measures import DEPTHS, hits

Ranks = Int[ndarray, " query"]


@dataclass(frozen=True)
class PlacesLine:
    """One way to point: R@1, R@5, R@10 in percent, for all phrases and for only the first.

    ``gain`` is R@1 above the text alone on the same queries, with its 95 % interval, paired over
    images; without it where the line is the text's own.
    """

    label: str
    queries: int
    every: tuple[float, ...]
    first: tuple[float, ...] = ()
    gain: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class PlacesResult:
    """Every line of the protocol, on how many images, and what the maps alone reach."""

    lines: tuple[PlacesLine, ...]
    images: int
    split_sha: str
    game: dict[str, float] = field(default_factory=dict)  # percent, by type of phrase
    # Percent, by phrase and by text, that prefer a picture to its mirror image: by the score that
    # ranks, by the mean of the map alone, and by that mean at people's own boxes.
    ranked_twins: dict[str, float] = field(default_factory=dict)
    twins: dict[str, float] = field(default_factory=dict)
    exact_twins: dict[str, float] = field(default_factory=dict)

    def line(self, label: str) -> PlacesLine:
        """The line with a label."""
        return next(line for line in self.lines if line.label == label)

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return asdict(self)


def line_of(
    label: str,
    every: Ranks,
    text: Ranks,
    images: Int[ndarray, " query"],
    first: Ranks | None = None,
    among: Bool[ndarray, " query"] | None = None,
) -> PlacesLine:
    """Measure one way to point, optionally on only the queries in ``among``."""
    kept = np.ones(len(every), dtype=bool) if among is None else among
    return PlacesLine(
        label,
        int(kept.sum()),
        rates(every[kept]),
        () if first is None else rates(first[kept]),
        None if every is text else gain_over(every[kept], text[kept], images[kept]),
    )


def rates(ranks: Ranks) -> tuple[float, ...]:
    """R@1, R@5 and R@10 in percent."""
    return tuple(float(100.0 * hits(ranks, k).mean()) for k in DEPTHS)


def gain_over(
    ranks: Ranks, text: Ranks, images: Int[ndarray, " query"], seed: int = 0
) -> tuple[float, float, float]:
    """R@1 above the text's, and its 95 % interval over images drawn with replacement."""
    gap = 100.0 * (hits(ranks, 1).astype(float) - hits(text, 1))
    return interval_over_images(gap, images, seed)
