"""Mining equals brute force whatever the blocks, and a killed pass goes on."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deixis.data.batches.mined import OfflineSpec
from deixis.data.negatives.mined_negatives import IMAGES, MinedNegatives, MiningSource
from deixis.errors import DataError
from deixis.evaluation.judge import scores_of
from deixis.methods.bfan import BFAN
from deixis.methods.dive import DivE
from deixis.methods.vsepp import VSEPP
from deixis.runs.hard_negatives import block_pass, mining_state, nearest_pass
from deixis.runs.hard_negatives.mining import mine, rescore, same_wording, source_of
from deixis.types import Sizes
from made import made_dataset

SIZES = Sizes(region=8, vocabulary=30)
METHODS = {
    "one vector": VSEPP(dim=8, word_dim=4),
    "sets": DivE(dim=8, word_dim=8, parts=2, head_dim=8),
    "cross-attention": BFAN(dim=8, word_dim=4),
}


def made(method="one vector", *, shared=True):
    torch.manual_seed(3)
    dataset = made_dataset(images=24, texts_per_image=3)
    if not shared:
        return METHODS[method].model(SIZES).eval(), dataset
    # One text fits a second image, as corpora with shared texts have it.
    pairs = np.concatenate([dataset.corpus.pairs, [[5, 0]]])
    dataset = replace(dataset, corpus=replace(dataset.corpus, pairs=pairs))
    return METHODS[method].model(SIZES).eval(), dataset


def brute(scores, positives, k):
    hidden = np.where(positives, -np.inf, scores)
    order = [np.lexsort((np.arange(len(row)), -row)) for row in hidden]
    return np.stack(order)[:, :k]


def silent(done, total):
    pass


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("block", "strip"), [(2500, 7), (2**25, 256)])
def test_mining_equals_brute_force(method, block, strip, tmp_path, monkeypatch):
    monkeypatch.setattr(block_pass, "BLOCK", block)
    monkeypatch.setattr(nearest_pass, "STRIP", strip)
    model, dataset = made(method)
    found = mine(
        model, dataset, OfflineSpec(texts=7, images=4), MiningSource("m", "s"), tmp_path, silent
    )
    scores, positives = scores_of(model, dataset), dataset.corpus.positives()
    wanted = brute(scores, positives, 7), brute(scores.T, positives.T, 4)
    for lists, best, row in zip(
        (found.texts, found.images), wanted, (scores, scores.T), strict=True
    ):
        # Scores of equal items may differ in the last bit between block shapes.
        by_ours, by_force = (np.take_along_axis(row, x.astype(int), 1) for x in (lists, best))
        np.testing.assert_allclose(by_ours, by_force, atol=1e-6)
    assert not positives[np.arange(24)[:, None], found.texts].any()
    assert not positives[found.images, np.arange(72)[:, None]].any()


def test_lists_longer_than_the_negatives_there_are_hold_them_all(tmp_path):
    model, dataset = made()
    found = mine(
        model, dataset, OfflineSpec(texts=300, images=60), MiningSource("m", "s"), tmp_path, silent
    )
    assert found.texts.shape == (24, 72 - 4)
    assert found.images.shape == (72, 24 - 2)
    assert all(len(set(row)) == len(row) for row in found.texts)


def in_small_steps(monkeypatch):
    """Blocks and strips of few items, a state on disk after each."""
    monkeypatch.setattr(block_pass, "BLOCK", 400)
    monkeypatch.setattr(nearest_pass, "STRIP", 4)
    monkeypatch.setattr(mining_state, "SAVE_EVERY", -1.0)


@pytest.mark.parametrize("method", METHODS)
def test_a_killed_pass_goes_on_and_ends_the_same(method, tmp_path, monkeypatch):
    in_small_steps(monkeypatch)
    model, dataset = made(method)
    whole = mine(
        model,
        dataset,
        OfflineSpec(texts=7, images=4),
        MiningSource("m", "s"),
        tmp_path / "whole",
        silent,
    )

    def killed(done, total):
        if done >= 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mine(
            model,
            dataset,
            OfflineSpec(texts=7, images=4),
            MiningSource("m", "s"),
            tmp_path / "cut",
            killed,
        )
    steps = []
    again = mine(
        model,
        dataset,
        OfflineSpec(texts=7, images=4),
        MiningSource("m", "s"),
        tmp_path / "cut",
        lambda done, total: steps.append(done),
    )
    assert steps[0] > 10
    np.testing.assert_array_equal(again.texts, whole.texts)
    np.testing.assert_array_equal(again.images, whole.images)
    assert not (tmp_path / "cut" / mining_state.FILE).exists()


@pytest.mark.parametrize("method", ["one vector", "sets"])
def test_a_state_of_another_task_is_not_taken_up(method, tmp_path, monkeypatch):
    in_small_steps(monkeypatch)
    model, dataset = made(method)

    def killed(done, total):
        if done >= 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mine(
            model, dataset, OfflineSpec(texts=7, images=4), MiningSource("m", "s"), tmp_path, killed
        )
    steps = []
    other = MiningSource("another model", "s")
    mine(
        model,
        dataset,
        OfflineSpec(texts=7, images=4),
        other,
        tmp_path,
        lambda d, n: steps.append(d),
    )
    assert steps[0] < 15


def test_mined_lists_are_read_back_and_belong_to_their_model(tmp_path):
    model, dataset = made()
    source = source_of("m", dataset)
    first = mine(model, dataset, OfflineSpec(texts=7, images=4), source, tmp_path, silent)
    again = mine(model, dataset, OfflineSpec(texts=7, images=4), source, tmp_path, silent)
    np.testing.assert_array_equal(again.images, first.images)
    with pytest.raises(DataError, match="another model"):
        mine(
            model,
            dataset,
            OfflineSpec(texts=7, images=4),
            replace(source, model="x"),
            tmp_path,
            silent,
        )


def test_a_damaged_list_is_refused(tmp_path):
    model, dataset = made()
    mine(model, dataset, OfflineSpec(texts=7, images=4), MiningSource("m", "s"), tmp_path, silent)
    content = bytearray((tmp_path / IMAGES).read_bytes())
    content[-1] ^= 1
    (tmp_path / IMAGES).write_bytes(content)
    with pytest.raises(DataError, match="damaged"):
        MinedNegatives.load(tmp_path)


def test_a_slow_model_orders_what_a_fast_one_recalled(tmp_path):
    fast, dataset = made(shared=False)  # so that the longest lists hold every negative
    slow, _ = made("cross-attention")
    wide = mine(
        fast,
        dataset,
        OfflineSpec(texts=300, images=60),
        MiningSource("fast", "s"),
        tmp_path,
        silent,
    )
    found = rescore(slow, dataset, wide, OfflineSpec(texts=5, images=3), MiningSource("slow", "s"))
    scores, positives = scores_of(slow, dataset), dataset.corpus.positives()
    np.testing.assert_array_equal(found.texts, brute(scores, positives, 5))
    np.testing.assert_array_equal(found.images, brute(scores.T, positives.T, 3))


def test_texts_that_say_the_same_are_reported(tmp_path):
    model, dataset = made()
    texts = list(dataset.corpus.texts)
    texts[0], texts[40] = "A red boat.", "a red  boat"
    dataset = replace(dataset, corpus=replace(dataset.corpus, texts=tuple(texts)))
    found = mine(
        model, dataset, OfflineSpec(texts=300, images=60), MiningSource("m", "s"), tmp_path, silent
    )
    reported = {tuple(pair) for pair in same_wording(found, dataset.corpus).tolist()}
    assert {(0, 40), (40 // 3, 0)} <= reported
