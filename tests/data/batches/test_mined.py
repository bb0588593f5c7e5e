"""Mined negatives in batches: the right items, in one pass, the same at every visit."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deixis.data.batches.images import ImageBatches
from deixis.data.batches.mined import MinedBatches
from deixis.data.batches.pairs import PairBatches
from deixis.data.negatives.mined_negatives import MinedNegatives, MiningSource
from deixis.errors import DataError
from deixis.methods.aoq import AOQ
from deixis.training.gradients import Gradients
from deixis.types import Sizes
from made import made_dataset
from made import made_negatives as made

SIZES = Sizes(region=8, vocabulary=30)


@pytest.mark.parametrize("kind", [PairBatches, ImageBatches])
@pytest.mark.parametrize("sampler", ["uniform", "normal"])
def test_every_pair_meets_negatives_of_its_lists(kind, sampler):
    dataset = made_dataset()
    negatives = made(dataset)
    plain = kind(dataset, 8, seed=1)
    batches = MinedBatches(plain, negatives, sampler)
    images, texts = plain.items(3)
    batch = batches.at(3)
    offline = batch.offline
    assert (offline.own_images, offline.own_texts) == (len(images), len(texts))
    assert torch.equal(batch.own().positives, plain.at(3).positives)
    assert torch.equal(offline.pair, batch.own().positives.nonzero())
    values = {tuple(v.flatten()[:16].tolist()) for v in batch.images.values}
    assert len(values) == len(batch.images.values), "an image came twice"
    known = {name: numbers(dataset, batch, name) for name in ("images", "texts")}
    for (i, t), (hard_i, hard_t), (own_i, own_t) in zip(
        *(x.tolist() for x in (offline.pair, offline.negative, offline.partner)), strict=True
    ):
        hard_text, hard_image = known["texts"][hard_t], known["images"][hard_i]
        assert hard_text & set(negatives.texts[images[i]].tolist())
        assert hard_image & set(negatives.images[texts[t]].tolist())
        assert any(dataset.corpus.owners[x] in known["images"][own_i] for x in hard_text)
        assert any(dataset.corpus.owners[x] in hard_image for x in known["texts"][own_t])


def numbers(dataset, batch, name):
    """Which items of the split each row of a batch may be, found by what it holds."""
    if name == "images":
        return [
            {i for i in range(len(dataset.images)) if same(dataset, i, values[mask])}
            for values, mask in zip(batch.images.values, batch.images.mask, strict=True)
        ]
    offsets, ids = dataset.tokens.offsets, dataset.tokens.ids
    return [
        {
            t
            for t in range(len(dataset.texts))
            if ids[offsets[t] : offsets[t + 1]].tolist() == row[mask].tolist()
        }
        for row, mask in zip(batch.texts.ids, batch.texts.mask, strict=True)
    ]


def same(dataset, image, values):
    start, end = dataset.regions.offsets[image : image + 2]
    own = dataset.regions.values[start:end]
    return own.shape == tuple(values.shape) and np.allclose(own, values.numpy())


def test_a_step_draws_the_same_every_time_and_steps_differ():
    dataset = made_dataset()
    batches = MinedBatches(PairBatches(dataset, 8, seed=1), made(dataset))
    assert torch.equal(batches.at(2).offline.negative, batches.at(2).offline.negative)
    assert torch.equal(batches.at(2).texts.ids, batches.at(2).texts.ids)
    epoch = len(batches)
    assert not torch.equal(batches.at(0).texts.ids, batches.at(epoch).texts.ids)


def test_the_normal_sampler_seldom_draws_the_very_first():
    dataset = made_dataset(images=40)
    random = np.random.default_rng(0)
    shares = {}
    for sampler in ("uniform", "normal"):
        batches = MinedBatches(PairBatches(dataset, 8, seed=1), made(dataset), sampler)
        drawn = batches._depths(60, 20_000, random)
        shares[sampler] = (drawn < 6).mean()
        assert drawn.min() >= 0
        assert drawn.max() < 60
    assert shares["uniform"] == pytest.approx(0.1, abs=0.02)
    assert shares["normal"] < 0.02


@pytest.mark.parametrize("coupled", [False, True])
def test_coupled_lists_are_read_equally_far_down(coupled):
    dataset = made_dataset(images=40)
    texts = np.tile(np.arange(60), (len(dataset.images), 1))
    images = np.tile(np.arange(12), (len(dataset.texts), 1))
    negatives = MinedNegatives(texts, images, MiningSource("m", "s"))
    batches = MinedBatches(PairBatches(dataset, 16, seed=1), negatives, "uniform", coupled)
    drawn = []
    for step in range(4):
        batch = batches.at(step)
        for image, text in batch.offline.negative.tolist():
            known = numbers(dataset, batch, "texts")[text], numbers(dataset, batch, "images")[image]
            drawn.append(any(i == t // 5 for t in known[0] for i in known[1]))
    assert all(drawn) if coupled else not all(drawn)


@pytest.mark.parametrize("chunk", [0, 5])
def test_all_items_are_embedded_in_one_pass_and_learn(chunk):
    torch.manual_seed(0)
    dataset = made_dataset()
    batch = MinedBatches(PairBatches(dataset, 8, seed=1), made(dataset)).at(0)
    method = AOQ(base={"name": "vsepp", "dim": 8, "word_dim": 4}, offline_margin=0.2)
    model, objective = method.model(SIZES), method.objective(SIZES)
    seen = []
    model.text.register_forward_hook(lambda module, inputs, out: seen.append(len(out)))
    terms, out = Gradients(model, objective, chunk).add(batch, 0, seed=0)
    assert (len(seen) == 1 and seen[0] == len(batch.texts.ids)) or chunk
    assert terms["rank"] > 0
    assert len(out.texts) == 8
    rows = model.text.body.embed.weight.grad.abs().sum(1) > 0
    assert set(batch.texts.ids[batch.texts.mask].tolist()) <= set(rows.nonzero()[:, 0].tolist())


def test_lists_of_another_split_are_refused():
    dataset = made_dataset()
    negatives = made(dataset)
    with pytest.raises(DataError, match="24 images|split has"):
        MinedBatches(
            PairBatches(dataset, 8, seed=1), replace(negatives, texts=negatives.texts[:-1])
        )
