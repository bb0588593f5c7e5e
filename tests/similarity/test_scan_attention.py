"""SCAN's score equals the published one, however it is computed."""

import pytest
import torch
from plain_formulas import ragged, scan, table

from deixis.errors import DataError, RecipeError
from deixis.similarity.blocked.blocked_scoring import score_matrix
from deixis.similarity.scan_attention import CrossAttention
from deixis.types import Embedding

KINDS = [(d, p) for d in ("t2i", "i2t") for p in ("lse", "mean")]
PUBLISHED = {"lse": "LogSumExp", "mean": "Mean"}


def similarity(direction: str, pool: str) -> CrossAttention:
    temperature, sharpness = (9.0, 6.0) if direction == "t2i" else (4.0, 5.0)
    return CrossAttention(direction, temperature, pool, sharpness)


def plain(direction: str, pool: str):
    temperature, sharpness = (9.0, 6.0) if direction == "t2i" else (4.0, 5.0)
    lse = sharpness if pool == "lse" else None
    if direction == "t2i":
        return lambda v, w: scan(w, v, temperature, lse)
    return lambda v, w: scan(v, w, temperature, lse)


def sets(arrays: dict, dtype: torch.dtype, suffix: str = "") -> tuple[Embedding, Embedding]:
    images = torch.from_numpy(arrays[f"images{suffix}"]).to(dtype)
    texts = torch.from_numpy(arrays[f"captions{suffix}"]).to(dtype)
    mask = torch.arange(texts.shape[1]) < torch.from_numpy(arrays["caption_lengths"]).unsqueeze(1)
    return Embedding(images, torch.ones(images.shape[:2], dtype=torch.bool)), Embedding(texts, mask)


@pytest.mark.parametrize(("dtype", "within"), [(torch.float64, 1e-9), (torch.float32, 1e-5)])
@pytest.mark.parametrize(("direction", "pool"), KINDS)
def test_equals_the_published_scores(golden, direction, pool, dtype, within):
    arrays = golden("camp/scan_scores")
    scores = similarity(direction, pool)(*sets(arrays, dtype))
    published = arrays[f"score__{direction}__clipped_l2norm__{PUBLISHED[pool]}"]
    torch.testing.assert_close(scores, torch.from_numpy(published).to(dtype), atol=within, rtol=0)


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_equals_the_published_scores_of_parts_that_are_not_unit(golden, direction):
    arrays = golden("camp/scan_scores")
    scores = similarity(direction, "mean")(*sets(arrays, torch.float64, "_unnormalised"))
    published = arrays[f"score_unnormalised__{direction}__clipped_l2norm__Mean"]
    torch.testing.assert_close(scores, torch.from_numpy(published), atol=1e-9, rtol=0)


@pytest.mark.parametrize(("direction", "pool"), KINDS)
def test_scores_and_gradients_equal_the_plain_formula(direction, pool):
    images, texts = ragged(5, 6, 10), ragged(7, 4, 10)
    found = []
    for score in (
        similarity(direction, pool),
        lambda a, b: table(a, b, plain(direction, pool)),
    ):
        v = images.vectors.clone().requires_grad_()
        w = texts.vectors.clone().requires_grad_()
        scores = score(Embedding(v, images.mask), Embedding(w, texts.mask))
        (scores * torch.linspace(-1, 1, scores.numel()).view(scores.shape)).sum().backward()
        found.append((scores.detach(), v.grad, w.grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=0)


@pytest.mark.parametrize(("direction", "pool"), KINDS)
def test_grid_agrees_with_rows_and_with_chosen_pairs(direction, pool):
    images, texts = ragged(6, 5, 8), ragged(6, 7, 8)
    score = similarity(direction, pool)
    grid = score(images, texts)
    torch.testing.assert_close(grid.diagonal(), score.pairs(images, texts), atol=1e-12, rtol=0)
    image, text = torch.randint(6, (20,)), torch.randint(6, (20,))
    chosen = score.score_pairs(images, texts, image, text)
    torch.testing.assert_close(grid[image, text], chosen, atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("images_per_block", "texts_per_block", "budget"), [(1, 1, 1), (3, 2, 2000)]
)
def test_no_block_size_changes_a_score(monkeypatch, images_per_block, texts_per_block, budget):
    images, texts = ragged(9, 5, 8), ragged(11, 7, 8)
    score = similarity("t2i", "lse")
    whole = score(images, texts)
    monkeypatch.setattr(CrossAttention, "images_per_block", images_per_block)
    monkeypatch.setattr(CrossAttention, "texts_per_block", texts_per_block)
    monkeypatch.setattr("deixis.similarity.scan_attention.PIECE", 50)
    cut = score_matrix(score, images, texts, budget)
    torch.testing.assert_close(whole, cut, atol=1e-12, rtol=0)


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_parts_that_are_zero_leave_scores_and_gradients_finite(direction):
    v = torch.zeros(2, 3, 4, requires_grad=True)
    texts = ragged(3, 4, 4, torch.float32)
    everywhere = torch.ones(2, 3, dtype=torch.bool)
    scores = similarity(direction, "mean")(Embedding(v, everywhere), texts)
    scores.sum().backward()
    assert torch.equal(scores, torch.zeros(2, 3))
    assert v.grad.isfinite().all()


def test_an_item_without_parts_is_refused():
    images, texts = ragged(2, 3, 4), ragged(2, 3, 4)
    texts.mask[1] = False
    with pytest.raises(DataError, match="item 1 has no parts"):
        similarity("t2i", "lse")(images, texts)


def test_a_temperature_that_would_overflow_is_refused():
    with pytest.raises(RecipeError, match="temperature is 100"):
        CrossAttention("t2i", 100.0, "mean", 6.0)


@pytest.mark.parametrize("direction", ["t2i", "i2t"])
def test_what_a_pair_looks_at_equals_the_published_attention(golden, direction):
    arrays = golden("camp/scan_scores")
    images, texts = sets(arrays, torch.float64)
    image, text = images.rows(slice(0, 1)), texts.rows(slice(3, 4))
    found = similarity(direction, "mean").align(image, text)
    shown = found.to_regions if direction == "t2i" else found.to_words
    published = torch.from_numpy(arrays[f"pair_0_3_{direction}_attention"])
    torch.testing.assert_close(shown, published, atol=1e-9, rtol=0)
