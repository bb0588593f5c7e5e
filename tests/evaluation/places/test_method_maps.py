"""The pointing game by a model's own maps, on pictures of nine cells whose content is known."""

from pathlib import Path

import numpy as np
import pytest
import torch

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.data.groundings.groundings import Groundings
from deixis.data.groundings.placed_phrase import GroundedPhrase
from deixis.encoders.encoder import Encoder
from deixis.encoders.frozen_features import FrozenFeatures
from deixis.errors import EvaluationError
from deixis.evaluation.places.method_maps import judge_maps
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.heads.all_parts import UnitParts
from deixis.heads.pooling import MeanPool
from deixis.heads.slots import Slots, SlotShape
from deixis.methods.model import Model
from deixis.runs.matcher import Matcher
from deixis.runs.run_config import RunConfig
from deixis.similarity.scan_attention import CrossAttention
from deixis.similarity.set_similarity import BestPair
from deixis.similarity.similarity import Cosine
from deixis.types import Sizes, Tokens

TEXT, IMAGES, CELLS = "a dog and a man", 8, 9
SPANS = {"a dog": (0, 5), "a man": (10, 15)}
PIECES = ("[CLS]", "a", "dog", "and", "a", "man", "[SEP]")  # as MiniLM cuts the text
DOG, MAN, NOTHING = torch.eye(3)
MEANING = {"dog": DOG, "man": MAN}


class Reader(Matcher):
    """A matcher that knows a dog and a man when it reads of them."""

    def __init__(self, model: Model) -> None:
        super().__init__(model, RunConfig({"name": "scan"}, Sizes(), "lite0", "minilm"), None)

    def encode_text(self, texts):
        values = torch.stack([MEANING[text.split()[-1]] for text in texts]).unsqueeze(1)
        one = torch.ones(len(texts), 1, dtype=torch.bool)
        return self.model.text(Tokens(torch.zeros(len(texts), 1, dtype=torch.long), one, values))


@pytest.fixture
def shown():
    """A dog in one cell and a man in another, here and there; boxes around both."""
    random, boxes = np.random.default_rng(0), grid_boxes(3)
    values = np.tile(NOTHING.numpy(), (IMAGES * CELLS, 1))
    found = {}
    for image in range(IMAGES):
        cells = random.choice(CELLS, 2, replace=False)
        for cell, meaning in zip(cells, (DOG, MAN), strict=True):
            values[image * CELLS + cell] = meaning.numpy()
        found[f"{image}.jpg", TEXT] = tuple(
            GroundedPhrase(*span, words, ("other",), (tuple(boxes[cell, :4].tolist()),))
            for cell, (words, span) in zip(cells, SPANS.items(), strict=True)
        )
    numbers = np.arange(IMAGES)
    corpus = Corpus(
        name="made",
        root=Path(),
        files=tuple(f"{image}.jpg" for image in numbers),
        texts=(TEXT,) * IMAGES,
        owners=numbers,
        pairs=np.stack([numbers, numbers], axis=1),
        splits=("val",) * IMAGES,
    )
    regions = PackedRegions(values, numbers_of(CELLS), np.tile(boxes, (IMAGES, 1)))
    states = torch.stack([MEANING.get(piece, NOTHING) for piece in PIECES]).repeat(IMAGES, 1)
    ids = np.zeros(IMAGES * len(PIECES), np.int64)
    tokens = PackedTokens(ids, numbers_of(len(PIECES)), states.numpy())
    return Dataset(corpus, regions, tokens, numbers, numbers), Groundings(found)


def numbers_of(each: int) -> np.ndarray:
    return np.arange(IMAGES + 1) * each


def tower(head) -> Encoder:
    return Encoder(FrozenFeatures(), head)


def test_words_that_attend_to_their_thing_win_the_game(shown):
    similarity = CrossAttention("t2i", 9.0, "mean", 6.0)
    result = judge_maps(Reader(Model(tower(UnitParts()), tower(UnitParts()), similarity)), *shown)
    assert result.games["attention"] == (100, 100, 100)
    assert result.games["removal"] == (100, 100, 100)
    assert (result.phrases, result.images, result.best) == (2 * IMAGES, IMAGES, 100)
    assert result.random == pytest.approx(100 / CELLS)


def test_of_a_single_vector_the_region_that_is_missed_most_counts(shown):
    result = judge_maps(Reader(Model(tower(MeanPool()), tower(MeanPool()), Cosine())), *shown)
    assert result.games == {"removal": (100, 100, 100)}


def test_slots_have_maps_of_their_own(shown):
    head = Slots(3, SlotShape(dim=3, parts=2, head_dim=3), None)
    result = judge_maps(Reader(Model(tower(head), tower(UnitParts()), BestPair())), *shown)
    assert set(result.games) == {"removal", "slots"}


def test_a_picture_of_one_region_has_no_peak(shown):
    dataset, groundings = shown
    few = PackedRegions(dataset.regions.values[:IMAGES], numbers_of(1), grid_boxes(1).repeat(8, 0))
    one = Dataset(dataset.corpus, few, dataset.tokens, dataset.images, dataset.texts)
    with pytest.raises(EvaluationError, match="no regions with places"):
        judge_maps(Reader(Model(tower(MeanPool()), tower(MeanPool()), Cosine())), one, groundings)


def test_phrases_to_look_at_are_drawn_by_a_fixed_seed(shown):
    reader = Reader(Model(tower(MeanPool()), tower(MeanPool()), Cosine()))
    one, two = judge_maps(reader, *shown), judge_maps(reader, *shown)
    assert [drawn.words for drawn in one.drawn] == [drawn.words for drawn in two.drawn]
    assert len(one.drawn) == 8 and "drawn" not in one.to_dict()
    for drawn in one.drawn:
        cell = one.boxes[drawn.maps["removal"].argmax(), :4]
        assert np.allclose(cell, drawn.human[0])
