"""Texts are cut as published vocabularies were: NLTK's words of the lower-cased caption."""

import pytest

from deixis.errors import DataError
from deixis.features.words.treebank_words import treebank_words
from deixis.features.words.vocabulary import Vocabulary

# What NLTK 3.10 gives for each, written down.
CAPTIONS = {
    "A man in an Air-Force T-shirt, waving.": "a man in an air-force t-shirt , waving .",
    "The dogs' owner can't see what's there": "the dogs ' owner ca n't see what 's there",
    'He says "stop!" (twice) & leaves...': "he says `` stop ! '' ( twice ) & leaves ...",
    "It's 3:30, 10,000 people; 50% wait.": "it 's 3:30 , 10,000 people ; 50 % wait .",
    "They cannot leave -- I'm gonna stay.": "they can not leave -- i 'm gon na stay .",
    "A dog runs. A cat sleeps.": "a dog runs . a cat sleeps .",
    "'A pizza' at 5 o'clock": "' a pizza ' at 5 o'clock",
}


@pytest.mark.parametrize("text", CAPTIONS)
def test_words_are_those_of_the_treebank(text):
    assert treebank_words(text) == CAPTIONS[text].split()


def test_a_vocabulary_remembers_how_its_words_were_cut(tmp_path):
    path = tmp_path / "vocabulary.json"
    Vocabulary(("dog", "'s", "."), "treebank").save(path)
    found = Vocabulary.load(path)
    assert found(["The dog's."]).ids.tolist() == [1, 3, 5, 6, 7, 2]
    assert found.identity() != Vocabulary(("dog", "'s", ".")).identity()
    with pytest.raises(DataError, match="printed byte string"):
        found(["b'a dog'"])
