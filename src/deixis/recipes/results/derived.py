"""Rows that need no training: averaged, corrected or re-ranked scores, controls of a trace."""

from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.errors import RecipeError
from deixis.evaluation.judge import ensemble
from deixis.evaluation.probes.scoring_cost import Scoring
from deixis.evaluation.probes.trace_controls import controlled
from deixis.evaluation.protocol_names import ProtocolName
from deixis.evaluation.protocol_table import PROTOCOLS
from deixis.evaluation.reranking.hubness import corrected, popularity
from deixis.evaluation.reranking.rerank_sweep import together
from deixis.recipes.recipe_parts import Derived
from deixis.runs.embed_dataset import encode
from deixis.runs.prepare import Prepared
from deixis.runs.run import Run
from deixis.similarity.blocked.blocked_scoring import score_matrix


def derive(
    derived: Derived, runs: Sequence[tuple[Run, Prepared]], judge: ProtocolName = "whole"
) -> dict[str, float]:
    """Measure the average of some runs' scores on the test split; each has its own features."""
    protocol = PROTOCOLS[derived.judge or judge]
    if derived.rerank:
        if protocol is not PROTOCOLS["whole"]:
            raise RecipeError(f"'{derived.label}' re-ranks: only judge = \"whole\" measures that")
        return _reranked(derived, runs)
    if len(runs) == 1 and not derived.bank:
        return protocol.evaluate(runs[0][0].matcher.model, _asked(runs[0][1], derived)).measures
    matrices = [_scores(run, prepared, derived) for run, prepared in runs]
    return protocol.on_scores(ensemble(matrices), runs[0][1].splits["test"].corpus).measures


def _reranked(derived: Derived, runs: Sequence[tuple[Run, Prepared]]) -> dict[str, float]:
    if len(runs) != 2:
        raise RecipeError(f"'{derived.label}' re-ranks: of = [a fast row, a slow row]")
    if derived.bank or derived.control:
        raise RecipeError(f"'{derived.label}' re-ranks: it takes neither bank nor control")
    scorings = []
    for run, prepared in runs:
        model = run.matcher.model
        scorings.append(Scoring(model.similarity, *encode(model, prepared.splits["test"])))
    corpus = runs[0][1].splits["test"].corpus
    found = together(scorings[0], scorings[1], derived.rerank, corpus)
    return found.measures | found.costs


def _asked(prepared: Prepared, derived: Derived) -> Dataset:
    """The test split, its traces removed or perturbed where the line says so."""
    test = prepared.splits["test"]
    return controlled(test, prepared.vocabulary, derived.control) if derived.control else test


def _scores(run: Run, prepared: Prepared, derived: Derived) -> Float[ndarray, "image text"]:
    model = run.matcher.model
    images, texts = encode(model, _asked(prepared, derived))
    scores = score_matrix(model.similarity, images, texts).numpy()
    if not derived.bank:
        return scores
    known = encode(model, prepared.splits["train"])
    return corrected(scores, *popularity(model.similarity, images, texts, known, derived.bank))
