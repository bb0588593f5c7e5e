"""Labels by words: what the first captions name, and only the others stay texts."""

from pathlib import Path

import numpy as np
import pytest

from deixis.data.corpus import Corpus
from deixis.data.labels_from_captions import label_by_words
from deixis.errors import DataError


def corpus(*captions):
    owners = np.array([image for image, own in enumerate(captions) for _ in own])
    return Corpus(
        name="made",
        root=Path("."),
        files=tuple(f"{n}.jpg" for n in range(len(captions))),
        texts=tuple(text for own in captions for text in own),
        owners=owners,
        pairs=np.stack([owners, np.arange(len(owners))], axis=1),
        splits=("train",) * len(captions),
    )


def test_the_first_two_captions_name_labels_and_the_others_stay_texts():
    made = corpus(
        ["Two dogs run .", "A man and grass", "a cat"], ["A boy", "boys play", "a dog", "a man"]
    )
    found = label_by_words(made, ("dog|dogs", "man", "boy|boys"))
    assert found.labels.tolist() == [[True, True, False], [False, False, True]]
    assert found.texts == ("a cat", "a dog", "a man")
    assert found.owners.tolist() == [0, 1, 1]
    assert found.label_names == ("dog", "man", "boy")


def test_an_image_without_a_text_left_is_refused():
    with pytest.raises(DataError, match="2 captions"):
        label_by_words(corpus(["a", "b"], ["c", "d", "e"]), ("dog",))
