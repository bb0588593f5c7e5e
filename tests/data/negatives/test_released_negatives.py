"""AOQ's released lists are offline negatives of the split they were made for, and of no other."""

import numpy as np
import pytest

from deixis.data.negatives.released_negatives import holds_released_lists, read_released_lists
from deixis.errors import DataError
from layouts.released_lists import write_released_lists
from made import made_dataset


def test_the_first_of_each_list_are_read(tmp_path):
    dataset = made_dataset()
    write_released_lists(tmp_path, dataset)
    assert holds_released_lists(tmp_path)
    found = read_released_lists(tmp_path, dataset, texts=5, images=2)
    assert found.texts.shape == (len(dataset.images), 5)
    assert found.images.shape == (len(dataset.texts), 2)
    assert np.array_equal(found.texts, np.load(tmp_path / "i2t_coco.npy")[:, :5])


def test_lists_in_another_order_hold_true_matches_and_are_refused(tmp_path):
    dataset = made_dataset()
    write_released_lists(tmp_path, dataset)
    lists = np.load(tmp_path / "i2t_coco.npy")
    np.save(tmp_path / "i2t_coco.npy", lists[::-1])
    with pytest.raises(DataError, match="holds a true match"):
        read_released_lists(tmp_path, dataset, texts=5, images=2)


def test_lists_of_a_larger_split_are_refused(tmp_path):
    dataset = made_dataset()
    write_released_lists(tmp_path, dataset)
    lists = np.load(tmp_path / "t2i_coco.npy")
    lists[3, 1] = len(dataset.images)
    np.save(tmp_path / "t2i_coco.npy", lists)
    with pytest.raises(DataError, match="the split has"):
        read_released_lists(tmp_path, dataset, texts=5, images=2)
    np.save(tmp_path / "t2i_coco.npy", lists[:-1])
    with pytest.raises(DataError, match="lists"):
        read_released_lists(tmp_path, dataset, texts=5, images=2)


def test_lists_of_two_corpora_in_one_folder_are_not_guessed_between(tmp_path):
    dataset = made_dataset()
    write_released_lists(tmp_path, dataset)
    np.save(tmp_path / "i2t_f30k.npy", np.load(tmp_path / "i2t_coco.npy"))
    with pytest.raises(DataError, match=r"has 2 files i2t_\*\.npy; wanted one"):
        read_released_lists(tmp_path, dataset, texts=5, images=2)
