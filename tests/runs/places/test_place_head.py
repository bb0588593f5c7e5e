"""The place head in numpy: read, written, equal to torch."""

import numpy as np
import pytest
import torch

from deixis.errors import RunError
from deixis.features.places.cell_grid import CELLS
from deixis.methods.places import PhrasePlaces
from deixis.runs.places.place_head import PlaceHead
from deixis.similarity.places.place_score import PlaceScore
from deixis.types import Regions, Sizes, Tokens, Trace

SIZES = Sizes(region=20, text=12)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return PhrasePlaces(dim=8, hidden=16).model(SIZES).eval()


def head_of(model):
    weights = {
        name.removeprefix(side): value.numpy()
        for side in ("image.body.", "text.body.")
        for name, value in model.state_dict().items()
        if name.startswith(side)
    }
    return PlaceHead(
        {**weights, "anything": np.ones(8, np.float32)}, PlaceScore(floor=0.3), "cells", "minilm"
    )


@pytest.fixture
def head(model):
    return head_of(model)


def test_cells_are_torch_s_up_to_eight_bits(model, head):
    values = torch.randn(3, CELLS, 20)
    with torch.no_grad():
        wanted = model.image(Regions(values, torch.ones(3, CELLS, dtype=torch.bool))).vectors
    stored = head.cells(values.numpy())
    assert stored.values.dtype == np.int8
    assert np.abs(stored.vectors() - wanted.numpy()).max() < 0.005


def test_phrases_are_torch_s(model, head):
    pooled = torch.randn(4, 12)
    trace = Trace(torch.rand(4, 1, 5), torch.ones(4, 1, dtype=torch.bool), torch.zeros(4, 1, 2),
                  torch.zeros(4, 1, dtype=torch.long))  # fmt: skip
    tokens = Tokens(torch.zeros(4, 1, dtype=torch.long), torch.ones(4, 1, dtype=torch.bool),
                    pooled=pooled, trace=trace)  # fmt: skip
    with torch.no_grad():
        wanted = model.text(tokens).vectors[:, 0, :8]
    assert np.allclose(head.phrases(pooled.numpy()), wanted.numpy(), atol=1e-4)


def test_a_head_is_read_as_it_was_written(head, tmp_path):
    head.write(tmp_path / "places.safetensors")
    again = PlaceHead.read(tmp_path / "places.safetensors")
    assert again.score == head.score
    assert again.identity
    assert np.allclose(again.anything, head.anything)
    inputs = np.random.default_rng(0).normal(size=(5, 12)).astype(np.float32)
    assert np.abs(again.phrases(inputs) - head.phrases(inputs)).max() < 0.1


def test_a_head_packed_before_errors_of_memory_were_averaged_over_keeps_regions_still(
    head, tmp_path
):
    from safetensors.numpy import load_file, save_file

    path = tmp_path / "places.safetensors"
    head.write(path)
    older = {"weight": "2.0", "discount": "0.75", "floor": "0.2", "temperature": "0.05"}
    save_file(load_file(path), path, {**older, "image": "cells", "text": "minilm"})
    assert PlaceHead.read(path).score == PlaceScore(weight=2.0, floor=0.2, spread=0.0)


def test_a_file_that_is_no_head_is_refused(tmp_path):
    (tmp_path / "places.safetensors").write_bytes(b"nothing")
    with pytest.raises(RunError, match="not a place head"):
        PlaceHead.read(tmp_path / "places.safetensors")


def test_several_members_are_packed_into_one_head():
    torch.manual_seed(0)
    model = PhrasePlaces(dim=8, hidden=16, members=3).model(SIZES).eval()
    wide = head_of(model)
    random = np.random.default_rng(0)
    # Features of a low rank, so that eight numbers per cell can hold the maps of three members.
    cells = (random.normal(size=(400, 2)) @ random.normal(size=(2, 20))).astype(np.float32)
    phrases = (random.normal(size=(300, 2)) @ random.normal(size=(2, 12))).astype(np.float32)
    packed = wide.packed(cells, phrases, kept=8)
    grid = cells[: 2 * CELLS].reshape(2, CELLS, 20)
    assert packed.cells(grid).values.shape == (2, CELLS, 8)
    maps, wanted = (
        one.phrases(phrases[:5]) @ one.cells(grid).vectors()[0].T for one in (packed, wide)
    )
    assert np.abs(maps - wanted).max() < 0.1 * np.abs(wanted).max()
    with torch.no_grad():
        seen = model.image(Regions(torch.from_numpy(grid), torch.ones(2, CELLS, dtype=torch.bool)))
    assert np.abs(wide.cells(grid).vectors() - seen.vectors.numpy()).max() < 0.005


def test_a_head_that_is_small_enough_stays_as_it_is(head):
    assert head.packed(np.ones((4, 20), np.float32), np.ones((4, 12), np.float32)) is head
