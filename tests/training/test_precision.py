"""Half precision is for CUDA alone, and its scaling outlives a restart."""

import warnings

import torch

from deixis.data.batches.pairs import PairBatches
from deixis.training.checkpoint import TrainingState, restore, save
from deixis.training.precision import Precision, best_device
from deixis.types import Embedding, Outputs
from made import made_dataset


def test_a_cpu_computes_in_float32():
    precision = Precision()
    with precision.products():
        product = torch.ones(2, 2) @ torch.ones(2, 2)
        assert not torch.is_autocast_enabled("cpu")
    assert product.dtype == torch.float32
    loss = torch.tensor(3.0)
    assert precision.scaled(loss) is loss
    assert precision.scaler.state_dict() == {}


def test_cuda_computes_products_in_float16_and_scales_the_loss():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that there is no GPU here
        precision = Precision(torch.device("cuda"))
        products = precision.products()
    assert precision.mixed
    assert products.fast_dtype == torch.float16


def test_losses_see_no_half_precision(monkeypatch):
    precision = Precision()
    monkeypatch.setattr(Precision, "mixed", property(lambda _: True))
    out = precision.full(_outputs(torch.ones(2, 2, dtype=torch.float16)))
    assert out.scores.dtype == torch.float32


def test_each_process_takes_its_own_gpu(monkeypatch):
    assert best_device() == torch.device("cpu") or torch.cuda.is_available()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert best_device() == torch.device("cuda", 1)


def test_the_scaling_of_the_loss_is_part_of_a_checkpoint(tmp_path):
    model, objective = torch.nn.Linear(2, 2), torch.nn.Identity()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    standing = TrainingState(step=3, scaling={"scale": 1024.0, "_growth_tracker": 7})
    save(tmp_path / "state.safetensors", model, objective, optimiser, standing)
    found = restore(tmp_path / "state.safetensors", model, objective, optimiser)
    assert found.scaling == {"scale": 1024.0, "_growth_tracker": 7}


def _outputs(scores):
    batch = PairBatches(made_dataset(), 2, seed=0).at(0)
    side = Embedding(torch.ones(2, 1, 4), torch.ones(2, 1, dtype=torch.bool))
    return Outputs(side, side, scores, batch)
