"""What a row draws its batches from, negatives of an earlier round among them."""

from pathlib import Path

from deixis.data.also_bare import AlsoBare
from deixis.data.augment import Augmented
from deixis.data.batches import ImageBatches, PairBatches
from deixis.data.crops import Cropped
from deixis.data.dataset import Dataset
from deixis.data.hide import HidingBatches
from deixis.data.negatives import Negatives
from deixis.data.offline import OfflineBatches, OfflineSpec, Sampler
from deixis.data.twin_batches import TwinBatches
from deixis.errors import RecipeError
from deixis.methods.matcher import load
from deixis.recipes.mine import mine, source_of
from deixis.training.loop import Batches
from deixis.training.spec import TrainSpec

Mined = tuple[Negatives, Sampler]  # what was mined before the round, and how to draw from it


def mined_by(run: Path, spec: OfflineSpec, train: Dataset) -> Mined:
    """The negatives an earlier run mines, kept beside it for every row that wants them."""
    matcher = load(run)
    folder = run / f"negatives-{spec.texts}-{spec.images}"
    source = source_of(matcher.identity, train)
    mined = mine(matcher.model, train, spec, source, folder, lambda done, total: None)
    return mined, spec.sampler


def batches_of(
    spec: TrainSpec, train: Dataset, seed: int, vocabulary: int, mined: Mined | None = None
) -> Batches:
    """Draw batches as the recipe says."""
    batches: PairBatches | ImageBatches | TwinBatches | OfflineBatches
    batches = PairBatches(train, spec.batch, seed)
    if spec.batching == "images":
        batches = ImageBatches(train, spec.batch, seed, spec.texts_an_image)
    elif spec.batching == "twins":
        batches = TwinBatches(train, spec.batch, seed)
    if mined is not None:
        if isinstance(batches, TwinBatches):
            raise RecipeError('mined negatives do not go with train.batching = "twins"')
        batches = OfflineBatches(batches, *mined)
    drawn: Batches = batches
    if spec.drop_regions or spec.drop_words:
        drawn = Augmented(batches, spec.drop_regions, spec.drop_words, vocabulary, seed)
    if spec.also_bare:
        drawn = AlsoBare(drawn)
    if spec.hide:
        drawn = HidingBatches(drawn, spec.hide, seed)
    return Cropped(drawn, spec.crop, seed) if spec.crop else drawn
