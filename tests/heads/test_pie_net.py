"""PIE-Net equals its published code."""

import pytest
import torch

from deixis.heads.item_summary import ProjectedMean
from deixis.heads.pie_net import PIE

NAMES = {"hidden": "att1", "choose": "att2", "project": "fc", "norm": "ln"}


@pytest.mark.parametrize("parts", [1, 4])
def test_equals_the_published_module(golden, parts):
    prefix = f"k{parts}_"
    arrays = {
        key.removeprefix(prefix): torch.from_numpy(array)
        for key, array in golden("dive/pie_net").items()
        if key.startswith(prefix)
    }
    head = PIE(12, 16, parts, lambda places, mask: arrays["global_feat"])
    head.load_state_dict(
        {
            f"{ours}.{long}": arrays[f"{theirs}_{short}"]
            for ours, theirs in NAMES.items()
            for long, short in (("weight", "w"), ("bias", "b"))
            if f"{theirs}_{short}" in arrays
        }
    )
    mask = ~arrays["pad_mask"]
    embedding = head(arrays["local"], mask)
    expected = {
        "attention": head.attention(arrays["local"], mask).transpose(1, 2),
        "residual": embedding.residual.view_as(arrays["residual"]),
        "out_l2": embedding.vectors.view_as(arrays["out_l2"]),
    }
    for name, ours in expected.items():
        torch.testing.assert_close(ours, arrays[name], atol=1e-5, rtol=0)


def test_padding_changes_neither_values_nor_gradients():
    head = PIE(6, 8, 3, ProjectedMean(6, 8, 0.0))
    places = torch.randn(2, 3, 6, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    wide = torch.cat([places, torch.full((2, 4, 6), 7.0)], dim=1)
    wide_mask = torch.cat([mask, torch.zeros(2, 4, dtype=torch.bool)], dim=1)
    near, far = head(places, mask).vectors, head(wide, wide_mask).vectors
    torch.testing.assert_close(near, far)
    (gradient,) = torch.autograd.grad(far.square().sum() + far.sum(), places)
    assert gradient.isfinite().all()
    assert gradient[1, 1:].abs().max() == 0
