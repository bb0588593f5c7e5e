"""The grounding loss on a worked case."""

import math

import torch

from deixis.losses.grounding import Grounding
from deixis.types import Batch, Embedding, Outputs, Regions, Tokens


def outputs(maps: list[list[float]], regions: list[list[float]], positives: list[list[bool]]):
    """One-dimensional cells, so that a map is a picture's cells times a phrase's number."""
    cells = torch.tensor(maps)[:, :, None]
    texts = torch.cat([torch.ones(len(regions), 1), torch.tensor(regions)], dim=1)[:, None]
    ones = torch.ones(cells.shape[:2], dtype=torch.bool)
    batch = Batch(
        Regions(cells, ones),
        Tokens(torch.zeros(len(regions), 1, dtype=torch.long), torch.ones(len(regions), 1).bool()),
        torch.tensor(positives),
    )
    scores = torch.zeros(len(maps), len(regions))
    embedded = Embedding(texts, torch.ones(len(regions), 1, dtype=torch.bool))
    return Outputs(Embedding(cells, ones), embedded, scores, batch)


def test_it_is_the_cross_entropy_over_the_cells_of_the_phrase_s_own_picture():
    out = outputs([[1.0, 0.0], [5.0, -5.0]], [[1.0, 0.0]], [[True], [False]])
    assert math.isclose(Grounding()(out, 0).item(), math.log(1 + math.exp(-1)), rel_tol=1e-5)


def test_a_phrase_that_is_not_pointed_at_changes_nothing():
    with_both = outputs([[1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]], [[True, True]])
    alone = outputs([[1.0, 0.0]], [[1.0, 0.0]], [[True]])
    assert Grounding()(with_both, 0) == Grounding()(alone, 0)
