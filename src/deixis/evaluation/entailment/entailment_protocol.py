"""The protocol ``entailment``: for one photograph, a true sentence above a contradicted one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import split_sha
from deixis.data.dataset import Dataset
from deixis.errors import EvaluationError
from deixis.evaluation.entailment.judged_sentences import JudgedSentence
from deixis.evaluation.image_bootstrap import interval_over_images
from deixis.runs.embed_dataset import encode
from deixis.runs.matcher import Matcher
from deixis.types import Embedding, concatenate

SENTENCES = 256  # encoded at once
Interval = tuple[float, float, float]  # a share in percent, and its 95 % interval over images


@dataclass(frozen=True)
class EntailmentResult:
    """How often what is true of a photograph scores above what contradicts it; chance is 50."""

    accuracy: Interval  # a true sentence above a contradicted one
    captions: Interval  # a caption above a contradicted one
    images: int  # with a sentence of both kinds
    pairs: int
    split_sha: str
    right: Float[ndarray, " pair"] = field(repr=False)  # 100 or 0
    owners: Int[ndarray, " pair"] = field(repr=False)  # the image of each pair

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it; single pairs are left out."""
        apart = ("right", "owners")
        return {key: value for key, value in vars(self).items() if key not in apart}

    def above(self, other: "EntailmentResult") -> Interval:
        """Accuracy minus another run's, paired over images."""
        if self.split_sha != other.split_sha or not np.array_equal(self.owners, other.owners):
            raise EvaluationError("these runs were judged by other sentences; they do not compare")
        return interval_over_images(self.right - other.right, self.owners)


def judge_entailment(
    matcher: Matcher, dataset: Dataset, sentences: Sequence[JudgedSentence]
) -> EntailmentResult:
    """Score every judged sentence, and every caption, with the photograph it is about.

    Every true sentence of a photograph meets every contradicted one; equal scores count against the
    system. Intervals draw photographs, since sentences about one succeed and fail together.
    """
    about = np.array([sentence.image for sentence in sentences])
    true = np.array([sentence.true for sentence in sentences])
    images, captions = encode(matcher.model, dataset)
    of_sentences = _scores(matcher, images, _encoded(matcher, sentences), about)
    owners = dataset.corpus.owners
    of_captions = _scores(matcher, images, captions, owners)
    right, own = _above(of_sentences[true], about[true], of_sentences[~true], about[~true])
    if not len(right):
        raise EvaluationError("no image has both a true sentence and a contradicted one")
    by_caption = _above(of_captions, owners, of_sentences[~true], about[~true])
    return EntailmentResult(
        accuracy=interval_over_images(right, own),
        captions=interval_over_images(*by_caption),
        images=len(set(own.tolist())),
        pairs=len(right),
        split_sha=split_sha(dataset.corpus),
        right=right,
        owners=own,
    )


def _encoded(matcher: Matcher, sentences: Sequence[JudgedSentence]) -> Embedding:
    texts = [sentence.text for sentence in sentences]
    starts = range(0, len(texts), SENTENCES)
    return concatenate([matcher.encode_text(texts[a : a + SENTENCES]) for a in starts])


@torch.no_grad()
def _scores(
    matcher: Matcher, images: Embedding, texts: Embedding, about: Int[ndarray, " text"]
) -> Float[ndarray, " text"]:
    rows = torch.arange(len(about))
    found = matcher.model.similarity.score_pairs(images, texts, torch.from_numpy(about), rows)
    return found.numpy().astype(np.float64)


def _above(
    better: Float[ndarray, " one"],
    of_better: Int[ndarray, " one"],
    worse: Float[ndarray, " other"],
    of_worse: Int[ndarray, " other"],
) -> tuple[Float[ndarray, " pair"], Int[ndarray, " pair"]]:
    """Whether each score beats each of the same image that it should, and that image."""
    one, other = (of_better[:, None] == of_worse).nonzero()
    return 100.0 * (better[one] > worse[other]), of_better[one]
