"""Which batches a row trains on, including negatives mined by an earlier row."""

from dataclasses import replace

import numpy as np

from deixis.data.batches.augmented import AugmentedBatches
from deixis.data.batches.cropped import CroppedBatches
from deixis.data.batches.images import ImageBatches
from deixis.data.batches.jittered import JitteredBatches
from deixis.data.batches.masked import MaskedBatches
from deixis.data.batches.mined import MinedBatches, OfflineSpec
from deixis.data.batches.pairs import PairBatches
from deixis.data.batches.twins import TwinBatches
from deixis.data.batches.untraced import WithUntraced
from deixis.data.dataset import Dataset
from deixis.data.negatives.mined_negatives import MinedNegatives
from deixis.errors import RecipeError, RunError
from deixis.features.backbones.trainable_inputs import PREFIX, TrainableTextInputs
from deixis.features.words.masking import Masking
from deixis.features.words.vocabulary import Vocabulary
from deixis.runs.hard_negatives.mining import mine, negatives_folder, source_of
from deixis.runs.matcher import Matcher
from deixis.runs.run import Run
from deixis.training.loop import Batches
from deixis.training.spec import TrainSpec

Mined = tuple[MinedNegatives, OfflineSpec]  # from before the round, and how to draw from it


def mined_by(run: Run, spec: OfflineSpec, train: Dataset, vocabulary: Vocabulary | None) -> Mined:
    """The negatives an earlier run mines, kept beside it for every row that wants them."""
    matcher = run.matcher
    if matcher.vocabulary != vocabulary:
        train = _in_words_of(matcher, train, run)
    folder = negatives_folder(run, spec)
    source = source_of(matcher.identity, train)
    mined = mine(matcher.model, train, spec, source, folder, lambda done, total: None)
    return mined, spec


def _in_words_of(matcher: Matcher, train: Dataset, run: Run) -> Dataset:
    """The split as the run reads it: a word's number in one vocabulary is another's elsewhere."""
    words = matcher.vocabulary
    if words is None or train.tokens.values is not None or train.tokens.trace is not None:
        raise RunError(
            f"{run} cannot mine for this row: it reads texts otherwise; give both the same "
            "data.text and, where texts have a trace, the same corpus"
        )
    texts = np.arange(len(train.texts))
    return replace(train, tokens=words(train.corpus.texts), texts=texts)


def masking_of(text: str, vocabulary: int) -> Masking:
    """How words are hidden from what reads the texts of a recipe: a tower has its own mark."""
    if text.startswith(PREFIX):
        return TrainableTextInputs(text.removeprefix(PREFIX)).masking
    return Masking.of_vocabulary(vocabulary)


def batches_of(
    spec: TrainSpec,
    train: Dataset,
    seed: int,
    masking: Masking,
    mined: Mined | None = None,
    *,
    partners: bool = True,
) -> Batches:
    """Draw batches as the recipe says; mined negatives with their partners, unless not needed."""
    batches: PairBatches | ImageBatches | TwinBatches | MinedBatches
    batches = PairBatches(train, spec.batch, seed)
    if spec.batching == "images":
        batches = ImageBatches(train, spec.batch, seed, spec.texts_per_image)
    elif spec.batching == "twins":
        batches = TwinBatches(train, spec.batch, seed)
    if mined is not None:
        if isinstance(batches, TwinBatches):
            raise RecipeError('mined negatives cannot be combined with train.batching = "twins"')
        negatives, drawing = mined
        batches = MinedBatches(batches, negatives, drawing.sampler, drawing.coupled, partners)
    drawn: Batches = batches
    if spec.drop_regions or spec.drop_words:
        drawn = AugmentedBatches(batches, spec.drop_regions, spec.drop_words, masking, seed)
    if spec.also_untraced:
        drawn = WithUntraced(drawn)
    if spec.mask:
        if masking.continues is not None:
            raise RecipeError(
                "train.mask predicts words of a vocabulary; word pieces are not built"
            )
        drawn = MaskedBatches(drawn, spec.mask, seed)
    if spec.jitter:
        drawn = JitteredBatches(drawn, spec.jitter, seed)
    return CroppedBatches(drawn, spec.crop, seed) if spec.crop else drawn
