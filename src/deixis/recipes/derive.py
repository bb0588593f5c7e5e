"""Rows that need no training: averaged, corrected or re-ranked scores, controls of a trace."""

from collections.abc import Sequence
from pathlib import Path

from jaxtyping import Float
from numpy import ndarray

from deixis.errors import RecipeError
from deixis.evaluation.cost import Scoring
from deixis.evaluation.encode import encode
from deixis.evaluation.evaluate import ensemble, judge
from deixis.evaluation.hubness import corrected, popularity
from deixis.evaluation.sweep import together
from deixis.evaluation.trace_controls import controlled
from deixis.methods.matcher import load
from deixis.recipes.prepare import Prepared
from deixis.recipes.recipe import Derived
from deixis.similarity.blocks import score_matrix


def derive(derived: Derived, runs: Sequence[tuple[Path, Prepared]]) -> dict[str, float]:
    """Measure the average of some runs' scores on the test split; each has its own features."""
    if derived.rerank:
        return _reranked(derived, runs)
    matrices = [_scores(run, prepared, derived) for run, prepared in runs]
    return judge(ensemble(matrices), runs[0][1].splits["test"].corpus).measures


def _reranked(derived: Derived, runs: Sequence[tuple[Path, Prepared]]) -> dict[str, float]:
    if len(runs) != 2:
        raise RecipeError(f"'{derived.label}' re-ranks: of = [a fast row, a slow row]")
    if derived.bank or derived.control:
        raise RecipeError(f"'{derived.label}' re-ranks: it takes neither bank nor control")
    scorings = []
    for run, prepared in runs:
        model = load(run).model
        scorings.append(Scoring(model.similarity, *encode(model, prepared.splits["test"])))
    corpus = runs[0][1].splits["test"].corpus
    found = together(scorings[0], scorings[1], derived.rerank, corpus)
    return found.measures | found.costs


def _scores(run: Path, prepared: Prepared, derived: Derived) -> Float[ndarray, "image text"]:
    model = load(run).model
    test = prepared.splits["test"]
    if derived.control:
        test = controlled(test, prepared.vocabulary, derived.control)
    images, texts = encode(model, test)
    scores = score_matrix(model.similarity, images, texts).numpy()
    if not derived.bank:
        return scores
    known = encode(model, prepared.splits["train"])
    return corrected(scores, *popularity(model.similarity, images, texts, known, derived.bank))
