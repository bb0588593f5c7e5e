"""Calibration: whether a score means anything, by queries that fit no picture.

The best hit of a query is compared with the best hits of senseless queries in the same library.
Where a text's score is a cosine, or a sum over its words, it is compared as it is, or per word:
words that mean nothing are near no picture. Scores of pictures, of mixtures and of other models
differ in size from query to query; they are first put in units of their own spread over a sample of
the library.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from deixis.search.query.query import Band
from deixis.shapes import Float32

FEWEST = 32  # pictures below which there is nothing to compare with
CONFIDENT, MAYBE = 1.0, 0.75  # shares of senseless queries whose best hit is surpassed
ROUNDING = 1e-5  # relative; what the order of a sum may change
MAYBE_OF_SUMS = 0.9  # the same per word: unknown words all score alike, and true ones far above

# Made-up words, and sentences about what cannot be seen.
SENSELESS: tuple[str, ...] = (
    "flurb quant ozzle", "mipsa terrogan wu", "zxqv krrl pttn", "asdf jkl qwerty", "lorem ipsum",
    "brillig slithy tove", "wembling the garf", "ooo eee uuu aaa", "xyzzy plugh", "dolor sit amet",
    "the quarterly interest rate was revised", "therefore the theorem follows by induction",
    "please reset my password", "subject to the terms of clause seven", "it was not tomorrow",
    "she forgot why she had agreed", "an opinion nobody asked for", "the price of later",
    "if only it had been otherwise", "terms and conditions apply", "seventeen percent of nothing",
    "he promised to call back", "the square root of minus one", "version four fixes a bug",
    "grammar is a matter of habit", "an unproven conjecture", "their patience was wearing thin",
    "what was the question again", "error while parsing the header", "inflation slowed last month",
    "a rumour without a source", "the sum of all doubts",
)  # fmt: skip


class Calibration:
    """What the best hits of queries that fit nothing look like, as scores and in their spread."""

    def __init__(
        self,
        samples: Float32[ndarray, "query row"],
        best: Float32[ndarray, " query"],
        maybe: float = MAYBE,
    ) -> None:
        pairs = zip(samples, best, strict=True)
        reached = [Spread.over(sample).of(float(score)) for sample, score in pairs]
        self._in_spread = np.quantile(reached, [CONFIDENT, MAYBE]).tolist()
        self._as_scores = np.quantile(best, [CONFIDENT, maybe]).tolist()

    def bands(
        self, sample: Float32[ndarray, " row"], scores: Sequence[float], *, comparable: bool = False
    ) -> list[Band]:
        """How much each score of a query stands out, given its scores over a sample.

        ``comparable`` says that scores of different queries may be compared as they are.
        """
        if comparable:
            return [_band(score, *self._as_scores) for score in scores]
        own = Spread.over(sample)
        return [_band(own.of(score), *self._in_spread) for score in scores]


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle and width of some scores, whatever the few best and worst of them are."""

    middle: float
    width: float

    @classmethod
    def over(cls, scores: Float32[ndarray, " row"]) -> "Spread":
        """Measure by quartiles; for a normal distribution the width is its deviation."""
        low, middle, high = np.quantile(scores, [0.25, 0.5, 0.75])
        return cls(float(middle), max(float(high - low) / 1.349, 1e-9))

    def of(self, score: float) -> float:
        """A score in widths above the middle."""
        return (score - self.middle) / self.width


def _band(value: float, confident: float, maybe: float) -> Band:
    if _above(value, confident):
        return "confident"
    return "maybe" if _above(value, maybe) else "rest"


def _above(value: float, threshold: float) -> bool:
    """More than rounding apart: a senseless query must not stand above its own threshold."""
    return value > threshold + ROUNDING * abs(threshold)
