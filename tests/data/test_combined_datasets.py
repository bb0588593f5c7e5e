"""Two corpora as one dataset."""

from dataclasses import replace

import numpy as np
import pytest

from deixis.data.combined_datasets import joined
from deixis.errors import DataError
from deixis.runs.data_spec import DataSpec
from deixis.runs.prepare import prepare, prepare_split

SPEC = DataSpec(size=60, image="regions", text="minilm-int8")


def nothing(*args) -> None:
    pass


@pytest.fixture(scope="module")
def parts():
    splits = prepare(SPEC, nothing).splits
    return splits["train"], splits["test"]


def test_items_keep_their_features_and_their_partners(parts):
    first, second = parts
    both = joined(parts)
    assert len(both.images) == len(first.images) + len(second.images)
    image, text = len(first.images) + 1, len(first.texts) + 2
    one = both.batch(np.array([0, image]), np.array([1, text]))
    apart = [first.batch(np.array([0]), np.array([1])), second.batch(np.array([1]), np.array([2]))]
    for row, alone in enumerate(apart):
        count = int(alone.images.mask.sum())
        assert (one.images.values[row, :count] == alone.images.values[0]).all()
        assert (one.texts.pooled[row] == alone.texts.pooled[0]).all()
    assert one.positives.tolist() == [[True, False], [False, bool(apart[1].positives[0, 0])]]


def test_files_are_found_from_a_common_root(parts):
    both = joined(parts)
    assert both.corpus.path(len(parts[0].images)).is_file()


def test_a_recipe_adds_training_images_of_other_corpora(tmp_path, parts):
    root = parts[0].corpus.root
    prepared = prepare(replace(SPEC, also=(str(root),)), nothing)
    assert len(prepared.splits["train"].images) == 2 * len(parts[0].images)
    assert len(prepared.splits["test"].images) == len(parts[1].images)
    train = prepare_split(replace(SPEC, also=(str(root),)), "train", None, nothing)
    assert len(train.images) == 2 * len(parts[0].images)


def test_traces_are_refused(parts):
    narrated = prepare(replace(SPEC, text="words", texts="narrations"), nothing).splits["train"]
    with pytest.raises(DataError, match="traces"):
        joined([narrated, narrated])
