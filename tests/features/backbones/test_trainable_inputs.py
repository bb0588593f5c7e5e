"""A tower in training hides words behind its own mark, or says that it has none."""

import pytest

from deixis.errors import RecipeError
from deixis.features.words.vocabulary import MASK, SPECIAL
from deixis.recipes.batching import batches_of, masking_of
from deixis.training.spec import TrainSpec
from made import made_dataset
from tiny_towers import WORDS, tiny_bert, tiny_clip


def test_a_bert_hides_words_behind_its_mask(tmp_path):
    masking = masking_of(f"tuned:{tiny_bert(tmp_path)}", 3)
    assert masking.mask == WORDS.index("[MASK]")
    assert (masking.first, masking.size) == (0, len(WORDS))
    assert masking.continues is not None and masking.continues.shape == (len(WORDS),)


def test_a_clip_has_no_mark_for_hidden_words(tmp_path):
    assert masking_of(f"tuned:{tiny_clip(tmp_path)}", 3).mask is None


def test_words_of_a_vocabulary_are_hidden_behind_its_own():
    masking = masking_of("words", 30)
    assert (masking.mask, masking.first, masking.size) == (MASK, len(SPECIAL), 30)


def test_masked_prediction_over_word_pieces_is_refused(tmp_path):
    masking = masking_of(f"tuned:{tiny_bert(tmp_path)}", 3)
    spec = TrainSpec(batch=4, mask=0.15)
    batches_of(spec, made_dataset(), 0, masking_of("words", 30)).at(0)
    with pytest.raises(RecipeError, match="train.mask predicts words of a vocabulary"):
        batches_of(spec, made_dataset(), 0, masking)
