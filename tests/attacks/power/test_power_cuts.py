"""Whatever moment the power fails at, training resumes and ends bit for bit the same."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from made_library import made_library
from power_cut_disk import PowerCutDisk, mounted, new_image
from safetensors.torch import load_file

from deixis.data.batches.pairs import PairBatches
from deixis.errors import RunError
from deixis.evaluation.judge import evaluate_split
from deixis.features.backbones.timm.timm_folder import write_timm_folder
from deixis.files import replacing, write_atomic, write_json
from deixis.methods.vsepp import VSEPP
from deixis.runs.places.place_head import StoredCells
from deixis.search.library.verification import verify
from deixis.search.places.cell_file import CellFile
from deixis.training.checkpoint import read_tensors, readable_checkpoint
from deixis.training.loop import Fit
from deixis.training.spec import TrainSpec
from deixis.types import Sizes
from made import made_dataset

SIZES, METHOD = Sizes(region=8, vocabulary=30), VSEPP(dim=16, word_dim=8)
CUTS = 20
ENDS = ("best.safetensors", "state.safetensors", "log.jsonl")

CELLS = StoredCells(np.ones((1, 81, 64), np.int8), np.ones(1, np.float32))
SHOWN = {"architecture": "resnet50", "size": 224, "image_mean": [0] * 3, "image_std": [1] * 3}


def make_fit(folder: Path) -> Fit:
    dataset = made_dataset()
    torch.manual_seed(0)
    spec = TrainSpec(length="4 epochs", batch=8, lr=1e-2, schedule="cosine")
    return Fit(
        model=METHOD.model(SIZES),
        objective=METHOD.objective(SIZES),
        batches=PairBatches(dataset, spec.batch, 0),
        spec=spec,
        seed=0,
        folder=folder,
        validate=lambda model: evaluate_split(model, dataset).measures,
        headline="rsum",
    )


def silent(record) -> None:
    pass


def ended(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in ENDS}


def cut_while_training(root: Path, seed: str, cut) -> dict[int, int]:
    """Train in a folder, call ``cut(disk, number)`` at moments drawn by chance.

    Gives, for each of them, the step of the last checkpoint that had been written by then.
    """
    moments, written, seen = [0], [0], {}
    chosen: set[int] = set()

    def moment(disk):
        if moments[0] in chosen:
            cut(disk, moments[0])
            seen[moments[0]] = written[0]
        moments[0] += 1

    def train(folder: Path) -> None:
        moments[0] = 0
        folder.mkdir()
        fit = make_fit(folder / "run")
        save = fit._save

        def saving(optimiser, standing):
            save(optimiser, standing)
            written[0] = standing.step

        object.__setattr__(fit, "_save", saving)
        with PowerCutDisk(folder, moment).watching():
            fit.run(silent)

    train(root / "counted")
    shutil.rmtree(root / "counted")
    chosen.update(random.Random(seed).sample(range(moments[0]), CUTS))
    written[0] = 0
    train(root / "cut")
    assert len(seen) == CUTS
    return seen


def resumed(run: Path, written: int) -> dict[str, bytes]:
    """What a run ends with that goes on from a disk; nothing that was written may be missing."""
    state = readable_checkpoint(run / "state.safetensors", run / "state-before.safetensors")
    found = 0 if state is None else json.loads(read_tensors(state)[1]["standing"])["step"]
    assert found >= written
    make_fit(run).run(silent)
    return ended(run)


@pytest.mark.parametrize("kind", ["strict", "eager", "torn"])
def test_20_of_20_power_cuts_resume_bit_for_bit(tmp_path, kind):
    make_fit(tmp_path / "whole").run(silent)

    def cut(disk, number):
        disk.write_down(tmp_path / f"cut-{number}", kind, number)

    (tmp_path / "disk").mkdir()
    for number, written in cut_while_training(tmp_path / "disk", kind, cut).items():
        run = tmp_path / f"cut-{number}" / "run"
        assert resumed(run, written) == ended(tmp_path / "whole"), number


def test_a_damaged_checkpoint_gives_way_to_the_one_before_it(tmp_path):
    make_fit(tmp_path / "whole").run(silent)
    make_fit(tmp_path / "cut").run(silent)
    state, before = tmp_path / "cut/state.safetensors", tmp_path / "cut/state-before.safetensors"
    content = bytearray(state.read_bytes())
    content[len(content) // 2] ^= 1
    state.write_bytes(content)
    make_fit(tmp_path / "cut").run(silent)
    for name in ENDS:
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    for path in (state, before):
        path.write_bytes(bytes(100))
    with pytest.raises(RunError, match="delete it to train from the start"):
        make_fit(tmp_path / "cut").run(silent)


@pytest.mark.parametrize("torn", ['{"step": 9, "measures": {"rsum": 1}', "\0\0\0", '{"st', "[9]"])
def test_a_line_of_the_log_that_was_cut_off_is_dropped(tmp_path, torn):
    make_fit(tmp_path / "whole").run(silent)
    make_fit(tmp_path / "cut").run(silent)
    with (tmp_path / "cut" / "log.jsonl").open("a") as log:
        log.write(torn)
    make_fit(tmp_path / "cut").run(silent)
    assert ended(tmp_path / "cut") == ended(tmp_path / "whole")


def test_a_file_and_its_name_are_safe_once_they_are_written(tmp_path):
    disk = PowerCutDisk(tmp_path / "disk", lambda disk: None)
    disk.root.mkdir()
    with disk.watching():
        write_json(disk.root / "a" / "b" / "metrics.json", {"rsum": 1})
        write_atomic(disk.root / "current", b"generation-1\n")
        with replacing(disk.root / "a" / "model.bin") as temporary:
            temporary.write_bytes(b"weights")
        CellFile(disk.root / "a", "head", 64).append(0, {"a picture": CELLS})
        write_timm_folder(disk.root / "cnn", {"weight": torch.ones(3)}, SHOWN)
        disk.write_down(tmp_path / "left", "strict")
    left = tmp_path / "left"
    assert json.loads((left / "a" / "b" / "metrics.json").read_text()) == {"rsum": 1}
    assert (left / "current").read_bytes() == b"generation-1\n"
    assert (left / "a" / "model.bin").read_bytes() == b"weights"
    assert CellFile(left / "a", "head", 64).stored() == 1
    assert load_file(left / "cnn" / "model.safetensors")["weight"].tolist() == [1, 1, 1]
    assert json.loads((left / "cnn" / "config.json").read_text())["architecture"] == "resnet50"


@pytest.mark.slow
def test_20_of_20_copies_of_an_ext4_image_resume_bit_for_bit(tmp_path):
    """As a power cut leaves a real file system: what the loop device was given, and no more."""
    image, disk = tmp_path / "disk.ext4", tmp_path / "disk"
    make_fit(tmp_path / "whole").run(silent)
    with mounted(new_image(image), disk):
        seen = cut_while_training(
            disk, "ext4", lambda _, number: shutil.copy(image, tmp_path / f"{number}.ext4")
        )
    for number, written in seen.items():
        with mounted(tmp_path / f"{number}.ext4", disk):
            assert resumed(disk / "cut" / "run", written) == ended(tmp_path / "whole"), number
        (tmp_path / f"{number}.ext4").unlink()


def test_what_is_said_to_be_done_is_on_the_disk_when_the_power_fails_next(tmp_path):
    """The last lines of a run: measures, log, weights, library, and which generation counts."""
    image, disk, cut = tmp_path / "disk.ext4", tmp_path / "disk", tmp_path / "cut.ext4"
    with mounted(new_image(image), disk):
        make_fit(disk / "run").run(silent)
        write_json(disk / "run" / "metrics.json", {"rsum": 1})
        made_library(disk)
        shutil.copy(image, cut)
        before = ended(disk / "run")
    with mounted(cut, disk):
        assert ended(disk / "run") == before
        assert json.loads((disk / "run" / "metrics.json").read_text()) == {"rsum": 1}
        found = verify(disk / "library")
        assert (found.compared, found.damages, found.notes) == (40, (), ())
