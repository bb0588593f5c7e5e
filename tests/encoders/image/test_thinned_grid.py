"""Cells of a grid are thinned out in training alone, as VSE∞ does it."""

import torch

from deixis.encoders.image.thinned_grid import ThinnedGrid
from deixis.encoders.projection import Projection
from deixis.methods.vse_infinity import VSEInfinity
from deixis.types import Regions, Sizes

GRID = VSEInfinity(dim=8, word_dim=4, image="grid")


def pictures(count: int, cells: int) -> Regions:
    mask = torch.ones(count, cells, dtype=torch.bool)
    mask[0, 1:] = False
    return Regions(torch.randn(count, cells, 6), mask)


def test_cells_leave_in_training_alone_and_never_all():
    torch.manual_seed(0)
    body, batch = ThinnedGrid(Projection(6, 8)), pictures(2000, 50)
    _, kept = body(batch)
    assert kept[0, 0] and not kept[0, 1:].any(), "what did not exist does not come back"
    left = 1 - kept[1:].float().mean(dim=1)
    whole = (left == 0).float().mean().item()
    # A fifth keeps all of its cells by design, some of the others by chance; of these the mean of
    # 0.2 u over u in 0.2 … 1 leaves: 12 %.
    assert 0.2 < whole < 0.25
    assert abs(left.mean().item() - 0.8 * 0.12) < 0.005
    assert left.max() < 0.4
    assert torch.equal(body.eval()(batch)[1], batch.mask)


def test_a_grid_is_projected_and_nothing_else():
    model = GRID.model(Sizes(region=6, vocabulary=9)).eval()
    names = {name for name, _ in model.image.body.named_parameters()}
    assert names == {"body.linear.weight", "body.linear.bias"}
    batch = pictures(3, 5)
    found = model.image(batch).vectors[:, 0]
    linear = model.image.body.body.linear(batch.values)
    pooled = model.image.head.pool(linear, batch.mask)
    torch.testing.assert_close(found, pooled / pooled.norm(dim=1, keepdim=True))
