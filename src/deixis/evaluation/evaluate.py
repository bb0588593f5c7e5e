"""A model on a split: the measures, and under which protocol they were taken."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from jaxtyping import Float
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.evaluation.encode import encode
from deixis.evaluation.measures import both_ways
from deixis.methods.model import Model
from deixis.similarity.blocks import score_matrix


@dataclass(frozen=True)
class Result:
    """Measures with what they were measured on; two results compare only when these agree."""

    measures: dict[str, float]
    protocol: str
    images: int
    texts: int
    split_sha: str
    tie_rule: str = "against the system"

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return asdict(self)


def scores_of(model: Model, dataset: Dataset) -> Float[ndarray, "image text"]:
    """Score every image of a dataset with every text."""
    images, texts = encode(model, dataset)
    return score_matrix(model.similarity, images, texts).numpy()


def evaluate(model: Model, dataset: Dataset) -> Result:
    """Rank the whole split both ways."""
    return judge(scores_of(model, dataset), dataset.corpus)


def judge(scores: Float[ndarray, "image text"], corpus: Corpus) -> Result:
    """Measure a score matrix over a whole split."""
    measures = both_ways(scores, corpus.positives())
    return Result(measures, "whole split", len(corpus.files), len(corpus.texts), split_sha(corpus))


def split_sha(corpus: Corpus) -> str:
    """A hash of what is ranked: files, texts and pairs, in order."""
    digest = hashlib.sha256()
    for line in (*corpus.files, *corpus.texts):
        digest.update(line.encode() + b"\n")
    digest.update(corpus.pairs.astype("<i8").tobytes())
    return digest.hexdigest()[:16]
