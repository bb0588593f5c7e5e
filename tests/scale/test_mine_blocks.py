"""Mining in blocks gives the lists that one process gives, whatever the blocks and the ties."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deixis.data.batches.mined import OfflineSpec
from deixis.data.negatives.mined_negatives import MiningSource
from deixis.methods.bfan import BFAN
from deixis.methods.dive import DivE
from deixis.methods.vsepp import VSEPP
from deixis.runs.hard_negatives import block_pass
from deixis.runs.hard_negatives.mining import mine
from deixis.runs.hard_negatives.mining_state import MiningState
from deixis.runs.hard_negatives.mining_work import BlockMiner, MiningWork
from deixis.scale.engine import LocalEngine
from deixis.scale.mine_blocks import miner_on
from deixis.similarity.similarity import Cosine
from deixis.types import Embedding, Sizes
from made import made_dataset

SIZES = Sizes(region=8, vocabulary=30)
METHODS = {
    "one vector": VSEPP(dim=8, word_dim=4),
    "sets": DivE(dim=8, word_dim=8, parts=2, head_dim=8),
    "cross-attention": BFAN(dim=8, word_dim=4),
}
NO_STATE = MiningState(Path(), "none")
SPEC = OfflineSpec(texts=7, images=4)


class Watched(LocalEngine):
    """Counts the blocks."""

    blocks = 0

    def cross(self, function, sides, merges, on_block):
        self.blocks = len(sides[0]) * len(sides[1])
        return super().cross(function, sides, merges, on_block)


def silent(done, total):
    pass


@pytest.mark.parametrize("method", METHODS)
def test_blocks_give_the_lists_of_one_process(method, tmp_path, monkeypatch):
    # Cells of a few hundred pairs, whatever a pair needs.
    monkeypatch.setattr(block_pass, "BLOCK", 100_000 if method == "cross-attention" else 4000)
    torch.manual_seed(3)
    dataset, model = made_dataset(images=60, texts_per_image=3), METHODS[method].model(SIZES).eval()
    given, source = (model, dataset, SPEC), MiningSource("m", "s")
    alone = mine(*given, source, tmp_path / "alone", silent)
    engine, steps = Watched(), []
    seen = mine(
        *given, source, tmp_path / "blocks", lambda *step: steps.append(step), miner_on(engine)
    )
    assert engine.blocks > 3 and steps[-1] == (engine.blocks, engine.blocks)
    for file in ("texts.npy", "images.npy", "negatives.json"):
        assert (tmp_path / "alone" / file).read_bytes() == (tmp_path / "blocks" / file).read_bytes()
    assert seen.texts.dtype == np.int32 and seen.texts.shape == alone.texts.shape


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=40),
    st.lists(st.integers(0, 3), min_size=4, max_size=40),
    st.sampled_from([40, 200, 2000]),
    st.data(),
)
def test_ties_are_broken_as_in_one_process(images, texts, block, data):
    """Items are one of four vectors, so nearly all scores are equal to others."""
    pairs = st.tuples(st.integers(0, len(images) - 1), st.integers(0, len(texts) - 1))
    matches = np.array(data.draw(st.lists(pairs, min_size=1, max_size=30, unique=True)))
    fewest = [
        size - int(np.bincount(matches[:, side]).max())
        for side, size in enumerate((len(texts), len(images)))
    ]
    if min(fewest) < 1:
        return
    lengths = tuple(data.draw(st.integers(1, most)) for most in fewest)
    sides = tuple(embedded(kinds) for kinds in (images, texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_pass, "BLOCK", block)
        work = MiningWork.of(Cosine(), sides, lengths, matches)
    assert work.single
    whole = [nearest.items for nearest in work.scoring().both_sides()]
    found = miner_on(LocalEngine())(work, NO_STATE, silent)
    for lists, wanted in zip(found, whole, strict=True):
        np.testing.assert_array_equal(np.concatenate(list(lists)), wanted)


def embedded(kinds):
    vectors = torch.eye(4)[torch.tensor(kinds)][:, None]
    return Embedding(vectors, torch.ones(len(kinds), 1, dtype=torch.bool))


def test_a_block_takes_nothing_along_but_its_own_items():
    items = Embedding(torch.randn(4096, 1, 16), torch.ones(4096, 1, dtype=torch.bool))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_pass, "BLOCK", 2**16)
        work = MiningWork.of(Cosine(), (items, items), (5, 5), np.array([[0, 0], [1, 1]]))
    rows, _ = work.strips()
    whole = 4096 * 16 * 4
    assert len(rows) > 4
    assert len(pickle.dumps(BlockMiner.of(work))) < whole / 20
    assert len(pickle.dumps(rows[0])) < 2 * whole / len(rows)


def test_an_item_with_few_negatives_in_a_block_makes_blocks_larger():
    """Image 0 matches all but one of the first texts: no block may have only those."""
    items = Embedding(torch.randn(128, 1, 4), torch.ones(128, 1, dtype=torch.bool))
    matches = np.array([[0, text] for text in range(30)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_pass, "BLOCK", 256)
        few, many = (
            MiningWork.of(Cosine(), (items, items), (3, 3), some) for some in (matches, matches[:1])
        )
    assert 1 < len(few.strips()[1]) < len(many.strips()[1])
