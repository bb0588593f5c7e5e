"""Members learn each by its own scores."""

import torch

from deixis.encoders.ensemble import Members
from deixis.losses.each_member import EachMember
from deixis.losses.infonce import InfoNCE
from deixis.methods.two_tower import TwoTower
from deixis.types import Batch, Regions, Sizes, Tokens


def batch(items: int = 4) -> Batch:
    ones = torch.ones(items, 1, dtype=torch.bool)
    images = Regions(torch.zeros(items, 1, 6), ones, pooled=torch.randn(items, 6))
    ids = torch.zeros(items, 1, dtype=torch.long)
    return Batch(images, Tokens(ids, ones, pooled=torch.randn(items, 5)), torch.eye(items).bool())


def test_the_score_is_the_mean_of_the_members_cosines():
    model = TwoTower(dim=3, members=2).model(Sizes(image=6, text=5)).eval()
    made = batch()
    out = model(made)
    assert isinstance(model.image.body, Members)
    sides = [
        [torch.nn.functional.normalize(body(side)[0][:, 0], dim=-1) for body in tower.body.bodies]
        for tower, side in ((model.image, made.images), (model.text, made.texts))
    ]
    wanted = torch.stack([i @ t.T for i, t in zip(*sides, strict=True)]).mean(dim=0)
    assert torch.allclose(out.scores, wanted, atol=1e-6)


def test_the_loss_is_the_mean_of_the_members_losses():
    model = TwoTower(dim=3, members=2).model(Sizes(image=6, text=5)).eval()
    out = model(batch())
    loss = EachMember([InfoNCE(0.05), InfoNCE(0.05)])(out, 0)
    alone = []
    for own in (slice(0, 3), slice(3, 6)):
        image, text = (2**0.5 * side.vectors[:, 0, own] for side in (out.images, out.texts))
        logits = 20 * image @ text.T
        targets = torch.arange(4)
        cross = torch.nn.functional.cross_entropy
        alone.append((cross(logits, targets) + cross(logits.T, targets)) / 2)
    assert torch.allclose(loss, torch.stack(alone).mean(), atol=1e-4)
