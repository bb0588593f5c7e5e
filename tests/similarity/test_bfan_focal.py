"""BFAN's score equals the published one, and is defined where the published one is not."""

import pytest
import torch
from plain_formulas import bfan, ragged, table

from deixis.losses.miners import hardest
from deixis.losses.triplet import Triplet
from deixis.similarity.bfan_focal import FocalAttention
from deixis.types import Batch, Embedding, Outputs, Regions, Tokens

KINDS = ["equal", "prob"]


def embedding(vectors, lengths=None, dtype=torch.float64) -> Embedding:
    tensor = torch.from_numpy(vectors).to(dtype)
    if lengths is None:
        return Embedding(tensor, torch.ones(tensor.shape[:2], dtype=torch.bool))
    return Embedding(tensor, torch.arange(tensor.shape[1]) < torch.from_numpy(lengths)[:, None])


def plain(focus: str):
    return lambda v, w: bfan(w, v, focus) + bfan(v, w, focus)


@pytest.mark.parametrize(("dtype", "within"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
@pytest.mark.parametrize("focus", KINDS)
def test_equals_the_published_scores(golden, focus, dtype, within):
    arrays = golden("camp/bfan_scores")
    images = embedding(arrays["images"], dtype=dtype)
    texts = embedding(arrays["captions"], arrays["caption_lengths"], dtype)
    scores = FocalAttention(focus, 20.0)(images, texts)
    published = torch.from_numpy(arrays[f"score_{focus}"]).to(dtype)
    torch.testing.assert_close(scores, published, atol=within, rtol=0)


@pytest.mark.parametrize("focus", KINDS)
def test_equals_the_published_loss_and_gradients(golden, focus):
    arrays = golden("camp/bfan_scores")
    images = embedding(arrays["images"])
    texts = embedding(arrays["captions"], arrays["caption_lengths"]).rows(slice(6))
    images.vectors.requires_grad_()
    texts.vectors.requires_grad_()
    scores = FocalAttention(focus, 20.0)(images, texts)
    batch = Batch(
        Regions(images.vectors.detach(), images.mask),
        Tokens(torch.zeros(texts.mask.shape, dtype=torch.long), texts.mask),
        torch.eye(6, dtype=torch.bool),
    )
    loss = Triplet(0.2, hardest)(Outputs(images, texts, scores, batch), 0)
    assert loss.item() == pytest.approx(float(arrays[f"loss_{focus}"]), abs=1e-9)
    v, w = torch.autograd.grad(loss, (images.vectors, texts.vectors))
    for ours, name in ((v, "images"), (w, "captions")):
        published = torch.from_numpy(arrays[f"grad_{name}_{focus}"])
        torch.testing.assert_close(ours, published, atol=1e-9, rtol=0)


@pytest.mark.parametrize("focus", KINDS)
def test_equals_the_other_published_code_on_grids_and_rows(golden, focus):
    arrays = golden(f"aoq/bfan_{focus}")
    images = embedding(arrays["im"])
    texts = embedding(arrays["cap"], arrays["cap_len"])
    offline = embedding(arrays["cap_off"], arrays["cap_off_len"])
    similarity = FocalAttention(focus, 20.0)
    sim = torch.from_numpy(arrays["sim"])
    torch.testing.assert_close(similarity(images, texts), sim, atol=1e-9, rtol=0)
    paired = torch.from_numpy(arrays["sim_pair_im_capoff"])
    torch.testing.assert_close(similarity.pairs(images, offline), paired, atol=1e-9, rtol=0)


@pytest.mark.parametrize("focus", KINDS)
def test_float32_scores_equal_those_of_float64_where_a_choice_flips(focus, monkeypatch):
    images, texts = ragged(60, 9, 16, torch.float32, 9), ragged(60, 6, 16, torch.float32, 5)
    similarity = FocalAttention(focus, 20.0)
    exact = similarity(
        Embedding(images.vectors.double(), images.mask),
        Embedding(texts.vectors.double(), texts.mask),
    )
    torch.testing.assert_close(similarity(images, texts).double(), exact, atol=1e-5, rtol=0)
    doubtful = []
    monkeypatch.setattr(
        FocalAttention,
        "_settled",
        lambda self, scores, doubt, *sides: doubtful.append(int(doubt.sum())) or scores,
    )
    similarity(images, texts)
    assert 0 < sum(doubtful) < 0.1 * 60 * 60  # there was something to settle, and not much


@pytest.mark.parametrize("focus", KINDS)
def test_grid_agrees_with_rows_and_padding_changes_nothing(focus):
    images, texts = ragged(6, 5, 8), ragged(6, 7, 8)
    similarity = FocalAttention(focus, 20.0)
    grid = similarity(images, texts)
    torch.testing.assert_close(grid.diagonal(), similarity.pairs(images, texts))
    many = images.mask.sum(1) > 1, texts.mask.sum(1) > 1  # the plain formula divides 0 by 0 at one
    expected = table(
        images.rows(many[0].nonzero()[:, 0]), texts.rows(many[1].nonzero()[:, 0]), plain(focus)
    )
    torch.testing.assert_close(grid[many[0]][:, many[1]], expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("focus", KINDS)
def test_uniform_attention_keeps_everything_and_stays_finite(focus, dtype):
    region, words = (torch.nn.functional.normalize(torch.randn(n, 16, dtype=dtype)) for n in (1, 5))
    alike = region.expand(1, 7, 16).clone().requires_grad_()
    text = Embedding(words.unsqueeze(0), torch.ones(1, 5, dtype=torch.bool))
    image = Embedding(alike, torch.ones(1, 7, dtype=torch.bool))
    score = FocalAttention(focus, 20.0)(image, text)
    expected = (words @ region.T).mean() + bfan(alike.detach()[0], words, focus)
    assert score.item() == pytest.approx(expected.item(), abs=1e-5)
    score.sum().backward()
    assert alike.grad.isfinite().all()


@pytest.mark.parametrize("focus", KINDS)
def test_a_lone_word_is_kept(focus):
    images, texts = ragged(3, 4, 8), ragged(2, 1, 8)
    scores = FocalAttention(focus, 20.0)(images, texts)
    expected = table(images, texts, lambda v, w: bfan(w, v, focus) + (v @ w.T).mean())
    several = images.mask.sum(1) > 1
    torch.testing.assert_close(scores[several], expected[several], atol=1e-9, rtol=0)
    assert scores.isfinite().all()


@pytest.mark.parametrize("focus", KINDS)
def test_what_a_pair_looks_at_equals_the_published_attention(golden, focus):
    arrays = golden("camp/bfan_scores")
    images = embedding(arrays["images"]).rows(slice(0, 1))
    texts = embedding(arrays["captions"], arrays["caption_lengths"]).rows(slice(3, 4))
    found = FocalAttention(focus, 20.0).align(images, texts)
    for shown, way in ((found.to_regions, "t2i"), (found.to_words, "i2t")):
        given = torch.from_numpy(arrays[f"pair_0_3_{way}_preassigned_attention"])
        kept = given * torch.from_numpy(arrays[f"pair_0_3_{way}_mask_{focus}"])
        expected = kept / kept.sum(dim=1, keepdim=True)
        torch.testing.assert_close(shown, expected, atol=1e-9, rtol=0)
