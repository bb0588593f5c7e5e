from dataclasses import replace

import numpy as np
import pytest

from deixis.data.batches.twins import TwinBatches
from deixis.data.dataset import Dataset
from deixis.errors import DataError
from made import made_dataset


def twins(images: int = 20, groups: int = 3) -> Dataset:
    dataset = made_dataset(images=images, texts_per_image=2)
    places = np.full((images, 2), -1)
    places[: 4 * groups, 0] = np.repeat(np.arange(groups), 4)
    places[: 4 * groups, 1] = np.tile(np.arange(4), groups)
    return replace(dataset, corpus=replace(dataset.corpus, twins=places))


def drawn(batches: TwinBatches, epoch: int) -> list[np.ndarray]:
    """The texts of every batch of an epoch, distinguished by their words."""
    seen: list[np.ndarray] = []
    dataset = batches.dataset

    class Watched(Dataset):
        def batch(self, images, texts):
            seen.append(texts)
            return super().batch(images, texts)

    watched = Watched(
        dataset.corpus, dataset.regions, dataset.tokens, dataset.images, dataset.texts
    )
    watching = replace(batches, dataset=watched)
    for step in range(epoch * len(batches), (epoch + 1) * len(batches)):
        watching.at(step)
    return seen


@pytest.mark.parametrize("epoch", [0, 3])
def test_twins_meet_in_a_batch_and_every_text_comes_once(epoch):
    dataset = twins()
    batches = drawn(TwinBatches(dataset, 8, 0), epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(40))
    for texts in batches:
        owners = dataset.corpus.owners[texts]
        group, place = dataset.corpus.twins[owners].T
        for number in set(group.tolist()) - {-1}:
            of_group = sorted(place[group == number].tolist())
            assert of_group in ([0, 1, 2, 3], [0, 0, 1, 1, 2, 2, 3, 3])


def test_batches_are_about_as_large_as_asked():
    sizes = [len(texts) for texts in drawn(TwinBatches(twins(40, 10), 16, 0), 0)]
    assert all(16 - 3 <= size <= 16 + 3 for size in sizes)


def test_the_order_depends_on_seed_and_epoch_alone():
    first, again = (drawn(TwinBatches(twins(), 8, 1), 1) for _ in range(2))
    other = drawn(TwinBatches(twins(), 8, 2), 1)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_a_corpus_without_twins_is_refused():
    with pytest.raises(DataError, match="no twin groups"):
        TwinBatches(made_dataset(), 8, 0)
