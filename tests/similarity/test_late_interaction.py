"""Late interaction: the sum over words of a softened maximum over regions."""

import pytest
import torch

from deixis.similarity.late_interaction import LateInteraction
from deixis.types import Embedding


def made(items: int, parts: int, lengths: list[int], seed: int) -> Embedding:
    vectors = torch.randn(items, parts, 5, generator=torch.Generator().manual_seed(seed))
    return Embedding(vectors, torch.arange(parts) < torch.tensor(lengths).unsqueeze(1))


@pytest.fixture
def sides() -> tuple[Embedding, Embedding]:
    return made(3, 4, [4, 2, 3], 0), made(2, 6, [6, 3], 1)


def test_equals_the_formula_item_by_item(sides):
    images, texts = sides
    for image in range(3):
        for text in range(2):
            regions = images.vectors[image][images.mask[image]]
            words = texts.vectors[text][texts.mask[text]]
            wanted = (regions @ words.T).exp().sum(dim=0).log().sum()
            assert LateInteraction()(images, texts)[image, text] == pytest.approx(float(wanted))


def test_grid_agrees_with_rows(sides):
    images, texts = sides
    both = [images.rows(slice(0, 2)), texts]
    rows = LateInteraction().score_pairs(*both, torch.arange(2), torch.arange(2))
    torch.testing.assert_close(rows, LateInteraction()(*both).diagonal())


def test_padding_changes_neither_scores_nor_gradients(sides):
    images, texts = sides
    for side in sides:
        side.vectors.requires_grad_(True)
    scores = LateInteraction()(images, texts)
    scores.sum().backward()
    assert not images.vectors.grad[~images.mask].any()
    assert not texts.vectors.grad[~texts.mask].any()
    filled = Embedding(
        images.vectors.detach().masked_fill(~images.mask[..., None], 9.0), images.mask
    )
    torch.testing.assert_close(LateInteraction()(filled, texts), scores)
