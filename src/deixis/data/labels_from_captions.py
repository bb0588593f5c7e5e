"""Labels for a captioned corpus without any: which of some words its first captions name."""

from dataclasses import replace

import numpy as np

from deixis.data.corpus import Corpus
from deixis.errors import DataError
from deixis.features.words.vocabulary import split_words

NAMING = 2  # captions of each image that name its labels and are then no text of the corpus


def label_by_words(corpus: Corpus, words: tuple[str, ...]) -> Corpus:
    """Label every image by the words its first two captions name; the others stay its texts.

    A stand-in for annotated labels: a label is missing where both captions pass it over. Words
    that mean one label are joined by ``|``, for example ``boy|boys``.
    """
    places = {word: n for n, label in enumerate(words) for word in label.split("|")}
    labels = np.zeros((len(corpus.files), len(words)), dtype=bool)
    kept = np.ones(len(corpus.texts), dtype=bool)
    seen = np.zeros(len(corpus.files), dtype=np.int64)
    for text, image in enumerate(corpus.owners):
        if seen[image] < NAMING:
            kept[text] = False
            named = [places[word] for word in split_words(corpus.texts[text]) if word in places]
            labels[image, named] = True
        seen[image] += 1
    if seen.min(initial=NAMING + 1) <= NAMING:
        raise DataError(
            f"corpus '{corpus.name}' has an image with {seen.min()} captions; labels by words take "
            f"{NAMING} of each and leave the others as texts"
        )
    names = tuple(label.split("|")[0] for label in words)
    return replace(corpus.keep(texts=kept), labels=labels, label_names=names)
