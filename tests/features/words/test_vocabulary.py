import json

import pytest

from deixis.errors import DataError, FeatureError
from deixis.features.words.vocabulary import Vocabulary, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A Dog runs .", ["a", "dog", "runs"]),
        ("isn't, don’t", ["isn't", "don't"]),
        ("'quoted' dogs' rock'n'roll", ["quoted", "dogs", "rock'n'roll"]),
        ("tri-colored snake_case 3D", ["tri", "colored", "snake", "case", "3d"]),
        ("Größe, CAFÉ 東京!", ["größe", "café", "東京"]),
        ("", []),
        ("?!", []),
    ],
)
def test_the_rule_for_words(text, words):
    assert split_words(text) == words


def test_ids_have_start_end_and_unknown():
    vocabulary = Vocabulary.count(["a dog", "a cat"])
    tokens = vocabulary(["A dog sleeps", ""])
    assert tokens.ids.tolist() == [1, 5, 7, 3, 2, 1, 2]
    assert tokens.offsets.tolist() == [0, 5, 7]
    assert vocabulary.size == 8
    assert [vocabulary.word(id) for id in range(8)][4:] == ["<mask>", "a", "cat", "dog"]


def test_rare_words_are_left_out():
    assert Vocabulary.count(["a a b", "b c"], minimum=2).words == ("a", "b")


def test_the_order_of_texts_does_not_matter():
    assert Vocabulary.count(["b", "a"]) == Vocabulary.count(["a", "b"])


@pytest.mark.parametrize("text", ["b'a dog runs'", 'b"it\'s a dog"', " b'a dog'\n"])
def test_a_printed_byte_string_is_refused(text):
    with pytest.raises(DataError, match="printed byte string"):
        Vocabulary.count([text])
    with pytest.raises(DataError, match="printed byte string"):
        Vocabulary(())([text])


def test_a_text_that_only_begins_with_b_is_not_refused():
    assert split_words("b 'boys' play") == ["b", "boys", "play"]


def test_saved_and_loaded_is_the_same(tmp_path):
    vocabulary = Vocabulary.count(["größe don't"])
    vocabulary.save(tmp_path / "words.json")
    assert Vocabulary.load(tmp_path / "words.json") == vocabulary
    assert Vocabulary.load(tmp_path / "words.json").identity() == vocabulary.identity()


@pytest.mark.parametrize("content", ["", "[]", json.dumps({"words": ["a"]})])
def test_another_file_is_not_taken_for_a_vocabulary(tmp_path, content):
    (tmp_path / "words.json").write_text(content)
    with pytest.raises(FeatureError, match=r"words\.json"):
        Vocabulary.load(tmp_path / "words.json")
