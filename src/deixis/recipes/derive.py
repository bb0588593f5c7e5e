"""Rows that need no training: averaged scores, and scores corrected by a training bank."""

from collections.abc import Sequence
from pathlib import Path

from jaxtyping import Float
from numpy import ndarray

from deixis.evaluation.encode import encode
from deixis.evaluation.evaluate import ensemble, judge
from deixis.evaluation.hubness import corrected, popularity
from deixis.methods.matcher import load
from deixis.recipes.prepare import Prepared
from deixis.recipes.recipe import Derived
from deixis.similarity.blocks import score_matrix


def derive(derived: Derived, runs: Sequence[tuple[Path, Prepared]]) -> dict[str, float]:
    """Measure the average of some runs' scores on the test split; each has its own features."""
    matrices = [_scores(run, prepared, derived.bank) for run, prepared in runs]
    return judge(ensemble(matrices), runs[0][1].splits["test"].corpus).measures


def _scores(run: Path, prepared: Prepared, bank: int) -> Float[ndarray, "image text"]:
    model = load(run).model
    images, texts = encode(model, prepared.splits["test"])
    scores = score_matrix(model.similarity, images, texts).numpy()
    if not bank:
        return scores
    known = encode(model, prepared.splits["train"])
    return corrected(scores, *popularity(model.similarity, images, texts, known, bank))
