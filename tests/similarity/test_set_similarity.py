"""Set similarities equal the published ones, whatever the shape, mask or order."""

import pytest
import torch

from deixis.heads.l2_normalise import l2_normalise
from deixis.similarity import set_similarity as sets
from deixis.similarity.set_similarity import BestPair, Chamfer, MatchProbability, SmoothChamfer
from deixis.types import Embedding

ALL = [BestPair(), MatchProbability(), Chamfer(), SmoothChamfer(), SmoothChamfer(64.0)]


def embedding(vectors: torch.Tensor, mask: torch.Tensor | None = None) -> Embedding:
    full = torch.ones(vectors.shape[:2], dtype=torch.bool)
    return Embedding(vectors, full if mask is None else mask)


def made(items: int, parts: int, seed: int) -> torch.Tensor:
    return l2_normalise(torch.randn(items, parts, 6, generator=torch.Generator().manual_seed(seed)))


@pytest.fixture
def published(golden):
    arrays = {
        key: torch.from_numpy(value) for key, value in golden("dive/set_similarities").items()
    }
    return embedding(arrays["img_sets"]), embedding(arrays["txt_sets"]), arrays


def learned(scale: float, shift: float) -> MatchProbability:
    similarity = MatchProbability()
    with torch.no_grad():
        similarity.scale.fill_(scale)
        similarity.shift.fill_(shift)
    return similarity


@pytest.mark.parametrize(
    ("similarity", "name"),
    [
        (BestPair(), "mil_max"),
        (Chamfer(), "chamfer"),
        (SmoothChamfer(1.0), "smooth_chamfer_alpha1"),
        (SmoothChamfer(16.0), "smooth_chamfer_alpha16"),
        (learned(1.0, 0.0), "mp_mean_sigmoid_a1_b0"),
        (learned(15.0, -7.5), "mp_mean_sigmoid_a15_bm7_5"),
    ],
)
def test_equals_the_published_scores_with_sets_of_four_and_three(published, similarity, name):
    images, texts, arrays = published
    torch.testing.assert_close(similarity(images, texts), arrays[name], atol=1e-5, rtol=0)
    with torch.no_grad():
        torch.testing.assert_close(similarity(images, texts), arrays[name], atol=1e-5, rtol=0)


def test_a_denominator_of_one_is_twice_the_score(published):
    images, texts, arrays = published
    doubled = arrays["smooth_chamfer_alpha16_denominator1"]
    torch.testing.assert_close(2 * SmoothChamfer()(images, texts), doubled, atol=1e-5, rtol=0)


def test_equals_the_published_gradient(published):
    images, texts, arrays = published
    vectors = images.vectors.clone().requires_grad_()
    scores = SmoothChamfer()(embedding(vectors), texts)
    (scores * arrays["grad_probe_weights"]).sum().backward()
    theirs = arrays["grad_smooth_chamfer_alpha16_img"]
    torch.testing.assert_close(vectors.grad, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("similarity", ALL)
def test_grid_agrees_with_rows(similarity):
    images, texts = embedding(made(5, 3, 0)), embedding(made(5, 2, 1))
    torch.testing.assert_close(
        similarity(images, texts).diagonal(), similarity.pairs(images, texts)
    )


@pytest.mark.parametrize("similarity", ALL)
@pytest.mark.parametrize("rows", [False, True])
def test_padding_changes_neither_scores_nor_gradients(similarity, rows):
    score = similarity.pairs if rows else similarity
    image, text = made(4, 3, 0).requires_grad_(), made(4, 2, 1).requires_grad_()
    near = score(embedding(image), embedding(text))
    expected = torch.autograd.grad(near.square().sum(), [image, text])
    more = torch.zeros(4, 2, dtype=torch.bool)
    wide = [
        embedding(
            torch.cat([side, made(4, 2, 9)], 1),
            torch.cat([torch.ones(side.shape[:2], dtype=torch.bool), more], 1),
        )
        for side in (image, text)
    ]
    far = score(*wide)
    torch.testing.assert_close(near, far, atol=1e-6, rtol=0)
    found = torch.autograd.grad(far.square().sum(), [image, text])
    torch.testing.assert_close(expected, found, atol=1e-5, rtol=0)


@pytest.mark.parametrize("similarity", ALL)
def test_the_order_of_elements_does_not_matter(similarity):
    image, text = made(4, 5, 0), made(3, 4, 1)
    mixed = similarity(
        embedding(image[:, torch.randperm(5)]), embedding(text[:, torch.randperm(4)])
    )
    torch.testing.assert_close(mixed, similarity(embedding(image), embedding(text)))


@pytest.mark.parametrize("similarity", ALL)
def test_tiles_change_nothing(similarity, monkeypatch):
    images, texts = embedding(made(11, 3, 0)), embedding(made(13, 2, 1))
    whole = similarity(images, texts)
    monkeypatch.setattr(sets, "TILE", 6 * 4**2)
    with torch.no_grad():
        torch.testing.assert_close(similarity(images, texts), whole)


@pytest.mark.parametrize("similarity", [BestPair(), Chamfer(), SmoothChamfer()])
def test_single_vectors_are_scored_by_their_cosine(similarity):
    image, text = made(4, 1, 0), made(3, 1, 1)
    scores = similarity(embedding(image), embedding(text))
    torch.testing.assert_close(scores, image[:, 0] @ text[:, 0].T)


def test_smooth_chamfer_tends_to_chamfer_and_stays_finite():
    images, texts = embedding(made(6, 4, 0)), embedding(made(6, 4, 1))
    gaps = [
        (SmoothChamfer(sharpness)(images, texts) - Chamfer()(images, texts)).abs().max()
        for sharpness in (8.0, 39.0, 64.0, 10000.0)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3


def test_best_pair_trains_one_element_per_side_and_smooth_chamfer_every_one():
    def trained(similarity) -> int:
        vectors = made(1, 4, 0).requires_grad_()
        similarity(embedding(vectors), embedding(made(1, 4, 1))).sum().backward()
        return int((vectors.grad.abs().sum(dim=2) > 1e-9).sum())

    assert trained(BestPair()) == 1
    assert trained(SmoothChamfer()) == 4


def test_match_probability_learns_its_scale_and_shift():
    similarity = MatchProbability()
    similarity(embedding(made(2, 2, 0)), embedding(made(2, 2, 1))).sum().backward()
    assert similarity.scale.grad is not None
    assert similarity.shift.grad.abs() > 0
