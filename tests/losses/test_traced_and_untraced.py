from dataclasses import replace

import pytest
import torch

from deixis.losses.infonce import InfoNCE
from deixis.losses.traced_and_untraced import TracedAndUntraced
from deixis.types import Batch, Embedding, Outputs, Regions, Tokens, Trace


def outputs(traced: list[bool] | None) -> Outputs:
    """Three images, six texts, some of them with a trace."""
    torch.manual_seed(0)
    trace = None
    if traced is not None:
        mask = torch.tensor(traced)[:, None].expand(6, 2)
        trace = Trace(torch.rand(6, 2, 5), mask, torch.rand(6, 2, 2), torch.full((6, 2), -1))
    there = torch.ones(6, 3, dtype=torch.bool)
    texts = Tokens(torch.ones(6, 3, dtype=torch.long), there, trace=trace)
    images = Regions(torch.rand(3, 2, 4), torch.ones(3, 2, dtype=torch.bool))
    batch = Batch(images, texts, torch.eye(3, dtype=torch.bool).repeat(1, 2))
    vectors = (Embedding(torch.rand(n, 1, 4), torch.ones(n, 1, dtype=torch.bool)) for n in (3, 6))
    return Outputs(*vectors, torch.rand(3, 6), batch)


def part(out: Outputs, columns: slice) -> torch.Tensor:
    batch = replace(out.batch, positives=out.batch.positives[:, columns])
    return InfoNCE()(replace(out, scores=out.scores[:, columns], batch=batch), 0)


def test_it_is_the_mean_of_the_losses_of_either_kind():
    out = outputs([True] * 3 + [False] * 3)
    expected = (part(out, slice(0, 3)) + part(out, slice(3, 6))) / 2
    assert TracedAndUntraced()(out, 0).item() == pytest.approx(expected.item())
    assert TracedAndUntraced()(out, 0).item() != pytest.approx(InfoNCE()(out, 0).item(), abs=1e-3)


@pytest.mark.parametrize("traced", [None, [True] * 6, [False] * 6])
def test_one_kind_alone_is_contrasted_as_ever(traced):
    out = outputs(traced)
    assert TracedAndUntraced()(out, 0).item() == pytest.approx(InfoNCE()(out, 0).item())
