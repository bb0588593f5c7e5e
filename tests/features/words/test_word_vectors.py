import struct

import numpy as np
import pytest

from deixis.errors import FeatureError
from deixis.features.words.vocabulary import SPECIAL, Vocabulary
from deixis.features.words.word_vectors import word_vectors

VOCABULARY = Vocabulary(("cat", "dog", "o'clock", "tshirt/top", "zzyzx"))
LINES = {"dog": [1.0, 2.0], "oclock": [3.0, 4.0], "tshirt": [5.0, 6.0], ". . .": [7.0, 8.0]}


def written(path, header):
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in LINES.items()]
    path.write_text((f"{len(LINES)} 2\n" if header else "") + "".join(lines))


@pytest.fixture(params=["glove.txt", "word2vec.txt", "word2vec.bin"])
def file(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix == ".bin":
        packed = [w.encode() + b" " + struct.pack("<2f", *row) + b"\n" for w, row in LINES.items()]
        path.write_bytes(b"4 2\n" + b"".join(packed[:3]) + b"x " + struct.pack("<2f", 0, 0))
    else:
        written(path, header=path.name.startswith("word2vec"))
    return path


def test_words_find_their_vectors_in_every_format_and_by_the_rule(file):
    vectors = word_vectors(str(file), VOCABULARY)
    assert vectors.found.tolist() == [False] * len(SPECIAL) + [False, True, True, True, False]
    assert vectors.values[-4:-1].tolist() == [[1, 2], [3, 4], [5, 6]]
    assert not vectors.values[~vectors.found].any()


def test_packaged_glove_knows_common_words_as_its_authors_trained_them():
    vectors = word_vectors("glove", VOCABULARY)
    assert vectors.values.shape == (len(SPECIAL) + 5, 50)
    cat, dog, clock = vectors.values[-5:-2] / np.linalg.norm(vectors.values[-5:-2], axis=1)[:, None]
    assert cat @ dog > 0.9
    assert cat @ clock < 0.6
    assert not vectors.found[: len(SPECIAL)].any()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("dog 1 2\ncat 1\n", "v.txt:2: wanted 2 finite numbers|v.txt:2: not a word"),
        ("dog 1 nan\n", "v.txt:1: wanted 2 finite numbers"),
        ("dog one two\n", "v.txt:1: not a word and numbers"),
        ("ufo 1 2\n", "has a vector for none of 5 words"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(tmp_path, content, message):
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(FeatureError, match=message):
        word_vectors(str(tmp_path / "v.txt"), VOCABULARY)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FeatureError, match="put a file of GloVe's"):
        word_vectors(str(tmp_path / "none.txt"), VOCABULARY)
