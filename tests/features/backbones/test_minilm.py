import numpy as np
import pytest
import torch

from deixis.features.backbones.minilm import LONGEST, MiniLM

TEXTS = [
    "A black dog runs.",
    "Two children in red coats are playing with a ball in front of a wooden house by the sea.",
    "",
    "Größe, naïveté & 東京",
    "A man.",
    "A cat.",
]


@pytest.fixture(scope="module")
def minilm():
    return MiniLM()


@pytest.fixture(scope="module")
def reference(minilm):
    transformers = pytest.importorskip("transformers")
    model = transformers.BertModel.from_pretrained(minilm._folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm._folder)

    def encode(texts):
        batch = tokenizer(texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            states = model(**batch).last_hidden_state
        mask = batch["attention_mask"]
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        pooled = torch.nn.functional.normalize(mean, dim=1)
        return states[mask.bool()].numpy(), pooled.numpy(), batch["input_ids"][mask.bool()].numpy()

    return encode


def test_its_size_is_the_number_of_its_word_pieces(minilm):
    assert minilm.size == 30522
    assert minilm.word(minilm.size - 1).startswith("##")


def test_states_and_vectors_equal_bert(minilm, reference):
    states, pooled, ids = reference(TEXTS)
    found = minilm(TEXTS)
    assert np.array_equal(found.ids, ids)
    assert np.abs(found.values - states).max() < 1e-4
    assert np.abs(found.pooled - pooled).max() < 1e-4


def test_company_does_not_change_a_vector(minilm):
    together = minilm(TEXTS)
    for index, text in enumerate(TEXTS):
        alone = minilm([text])
        rows = slice(together.offsets[index], together.offsets[index + 1])
        assert np.abs(alone.values - together.values[rows]).max() < 1e-5
        assert np.abs(alone.pooled - together.pooled[index]).max() < 1e-6


def test_batches_leave_the_order_of_texts(minilm):
    small = MiniLM(batch=1)(TEXTS)
    assert np.abs(small.pooled - minilm(TEXTS).pooled).max() < 1e-6


def test_a_very_long_text_is_cut(minilm):
    found = minilm(["word " * 1000])
    assert found.offsets.tolist() == [0, LONGEST]


def test_no_texts_give_no_rows(minilm):
    empty = minilm([])
    assert len(empty) == 0
    assert empty.values.shape == (0, 384)
    assert empty.pooled.shape == (0, 384)


def test_like_texts_are_near(minilm):
    dog, puppy, car = minilm(["A dog runs.", "A puppy is running.", "He sells used cars."]).pooled
    assert dog @ puppy > dog @ car + 0.3


def test_every_place_of_a_text_has_a_name(minilm):
    names = [minilm.word(int(id)) for id in minilm(["a dachshund"]).ids]
    assert names[:2] == ["[CLS]", "a"]
    assert "".join(names[2:-1]).replace("##", "") == "dachshund"
