"""The loop learns, repeats itself, resumes, and says when it has collapsed."""

import json

import pytest
import torch

from deixis.data.batches.images import ImageBatches
from deixis.data.batches.pairs import PairBatches
from deixis.errors import RecipeError
from deixis.evaluation.judge import evaluate_split
from deixis.methods.vsepp import VSEPP
from deixis.training.collapse import PATIENCE, CollapseWatch
from deixis.training.loop import Fit
from deixis.training.optimiser import make_optimiser, set_rates
from deixis.training.spec import TrainSpec
from deixis.types import Sizes
from made import made_dataset

SIZES = Sizes(region=8, vocabulary=30)
METHOD = VSEPP(dim=16, word_dim=8)


def make_fit(folder, seed=0, **spec) -> Fit:
    dataset = made_dataset()
    torch.manual_seed(seed)
    options = {"length": "4 epochs", "batch": 8, "lr": 1e-2, "schedule": "cosine", **spec}
    train = TrainSpec(**options)
    return Fit(
        model=METHOD.model(SIZES),
        objective=METHOD.objective(SIZES),
        batches=PairBatches(dataset, train.batch, seed),
        spec=train,
        seed=seed,
        folder=folder,
        validate=lambda model: evaluate_split(model, dataset).measures,
        headline="rsum",
    )


def silent(record) -> None:
    pass


def weights(folder) -> bytes:
    return (folder / "best.safetensors").read_bytes()


def test_training_raises_rsum_far_above_an_untrained_model(tmp_path):
    fit = make_fit(tmp_path, length="12 epochs")
    before = fit.validate(fit.model)["rsum"]
    assert fit.run(silent).best > before + 100


def test_two_runs_with_one_seed_agree_bit_for_bit_and_another_seed_does_not(tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        make_fit(tmp_path / name, seed).run(silent)
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    assert weights(tmp_path / "a") != weights(tmp_path / "c")


class KilledError(Exception):
    pass


def test_a_killed_and_resumed_run_ends_bit_for_bit_like_an_uninterrupted_one(tmp_path):
    make_fit(tmp_path / "whole").run(silent)

    def die(record):
        if record["step"] == 15:
            raise KilledError

    with pytest.raises(KilledError):
        make_fit(tmp_path / "cut").run(die)
    make_fit(tmp_path / "cut").run(silent)
    for name in ("best.safetensors", "state.safetensors", "log.jsonl"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_crash_costs_an_epoch_at_most_however_rarely_training_validates(tmp_path):
    rarely = {"validate_every": "4 epochs"}
    make_fit(tmp_path / "whole", **rarely).run(silent)
    epoch = len(make_fit(tmp_path / "whole").batches)
    again = []

    def die(record):
        if record["step"] == 3 * epoch + 1:
            raise KilledError

    with pytest.raises(KilledError):
        make_fit(tmp_path / "cut", **rarely).run(die)
    make_fit(tmp_path / "cut", **rarely).run(again.append)
    assert again[0]["step"] == 3 * epoch + 1
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")


def test_the_log_holds_every_step_and_every_validation(tmp_path):
    fit = make_fit(tmp_path, length=10, validate_every=5)
    fit.run(silent)
    records = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [r["step"] for r in records if "loss" in r] == list(range(1, 11))
    validated = [r for r in records if "validation" in r]
    assert [r["step"] for r in validated] == [5, 10]
    assert all(r["measures"]["rsum"] == r["validation"] for r in validated)


def test_rates_follow_their_prefix_and_frozen_parts_wait(tmp_path):
    model, objective = METHOD.model(SIZES), METHOD.objective(SIZES)
    spec = TrainSpec(lr=1.0, rates={"text": 0.1}, frozen={"image": 5}, schedule="constant")
    optimiser = make_optimiser(model, objective, spec)
    rate = {}
    for step in (0, 5):
        set_rates(optimiser, spec, step, 10)
        for group in optimiser.param_groups:
            rate[step, group["frozen"] or "text"] = group["lr"]
    assert rate == {(0, "image"): 0.0, (0, "text"): 0.1, (5, "image"): 1.0, (5, "text"): 0.1}


def test_a_prefix_that_names_nothing_is_refused_with_the_names_there_are():
    model, objective = METHOD.model(SIZES), METHOD.objective(SIZES)
    with pytest.raises(RecipeError, match=r"begins with 'txt'; there are: image\.body, text\.body"):
        make_optimiser(model, objective, TrainSpec(rates={"txt": 0.1}))


def test_a_model_with_constant_scores_is_called_collapsed():
    dataset = made_dataset()
    model, objective = METHOD.model(SIZES), METHOD.objective(SIZES)
    out = model(PairBatches(dataset, 8, 0).at(0))
    stuck = type(out)(out.images, out.texts, torch.zeros_like(out.scores), out.batch)
    watch, notes = CollapseWatch(), []
    for step in range(PATIENCE):
        rank = objective(stuck, step)["rank"].item()
        notes.append(watch.check(objective, stuck, rank, step))
    assert notes[:-1] == [None] * (PATIENCE - 1)
    assert "collapsed" in notes[-1]


def test_image_batches_bring_all_texts_of_each_image_or_as_many_as_asked():
    dataset = made_dataset(texts_per_image=3)
    batch = ImageBatches(dataset, 4, seed=0).at(0)
    assert batch.positives.sum(dim=1).tolist() == [3, 3, 3, 3]
    fewer = ImageBatches(dataset, 4, seed=0, texts_per_image=2).at(0)
    assert fewer.positives.sum(dim=1).tolist() == [2, 2, 2, 2]
    assert fewer.positives.sum(dim=0).tolist() == [1] * 8


def test_a_duration_that_is_neither_steps_nor_epochs_is_refused():
    with pytest.raises(RecipeError, match="15 epochs"):
        TrainSpec(decay_every="fifteen")
