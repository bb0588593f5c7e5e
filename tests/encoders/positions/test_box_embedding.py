import pytest
import torch

from deixis.encoders.positions.box_embedding import BoxEmbedding


@pytest.mark.parametrize("code", ["linear", "fourier"])
def test_the_folded_map_equals_five_projections_before_the_network(code):
    torch.manual_seed(0)
    geometry, boxes = BoxEmbedding(8, code, 0.0), torch.rand(3, 4, 5)
    numbers = geometry.numbers(boxes)
    projected = [
        numbers[..., side, :] @ geometry.weight[side] + geometry.bias[side] for side in range(5)
    ]
    plain = geometry.feed(torch.cat(projected, dim=-1))
    assert torch.allclose(geometry(boxes), plain, atol=1e-5)


@pytest.mark.parametrize("code", ["linear", "fourier"])
def test_every_number_of_a_box_counts(code):
    torch.manual_seed(0)
    geometry, boxes = BoxEmbedding(8, code, 0.0), torch.rand(2, 5, requires_grad=True)
    geometry(boxes).sum().backward()
    assert boxes.grad is not None
    assert (boxes.grad != 0).all()
