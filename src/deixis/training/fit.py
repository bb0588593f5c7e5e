"""Train with parts of your own: the loop without a recipe."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from deixis.losses.objective import Objective
from deixis.methods.model import Model
from deixis.runs.run import Run
from deixis.training.checkpoint import read_tensors
from deixis.training.loop import Batches, Fit, OnRecord
from deixis.training.spec import TrainSpec

SCORE = "score"  # the one measure that ``validate`` gives


def fit(
    model: Model,
    objective: Objective,
    batches: Batches,
    spec: TrainSpec | None = None,
    *,
    seed: int = 0,
    validate: Callable[[Model], float] | None = None,
    on_step: OnRecord = lambda record: None,
) -> Model:
    """Train a model in place and give it its best weights.

    ``batches`` is anything with a length and ``at(step)``. ``validate`` scores the model after
    every epoch, higher being better, and so chooses the weights; without it the last ones are kept.
    ``on_step`` receives a record with the loss of every step and the score of every validation.

    ```python
    data = deixis.prepare(corpus)
    method = VSEPP(dim=256)
    model, objective = method.model(data.sizes), method.objective(data.sizes)
    batches = PairBatches(data.splits["train"], size=64, seed=0)
    deixis.fit(model, objective, batches, deixis.TrainSpec(length="10 epochs"))
    ```
    """
    torch.manual_seed(seed)
    measure = None if validate is None else _measured(validate)
    with tempfile.TemporaryDirectory(prefix="deixis-") as name:
        folder = Path(name)
        Fit(model, objective, batches, spec or TrainSpec(), seed, folder, measure, SCORE).run(
            on_step
        )
        model.load_state_dict(read_tensors(Run(folder).path("best"))[0])
    return model.eval()


def _measured(validate: Callable[[Model], float]) -> Callable[[Model], Mapping[str, float]]:
    return lambda model: {SCORE: validate(model)}
