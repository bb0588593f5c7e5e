"""A training split as large as COCO's streams: its features are mapped, never held."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.format import open_memmap

IMAGES, REGIONS, WIDTH = 113_287, 36, 128  # 2.1 GB of features, a sparse file
TRAIN = """
import sys
from pathlib import Path
import torch
from deixis.recipes.recipe import Recipe
from deixis.recipes.run_row import run_folder, run_row
from deixis.runs.prepare import prepare
torch.set_num_threads(1)
recipe = Recipe.of("large", {
    "data": {"corpus": sys.argv[1], "image": "regions"},
    "train": {"length": 8, "batch": 64, "validate_every": 8},
    "row": [{"label": "scan", "method": {"name": "vsepp", "dim": 16, "word_dim": 8}}],
})
row, runs = recipe.rows[0], Path(sys.argv[2])
quiet = lambda *_: None
run = run_row(recipe, row, 0, prepare(row.data, quiet), run_folder(recipe, row, 0, runs), quiet)
status = Path("/proc/self/status").read_text().split()
own = [int(status[status.index(key) + 1]) / 1e3 for key in ("RssAnon:", "VmHWM:")]
print(*own)
"""


def write_arrays(root: Path) -> Path:
    root.mkdir()
    for split, images in (("train", IMAGES), ("dev", 100), ("test", 100)):
        shape = (images, REGIONS, WIDTH)
        array = open_memmap(root / f"{split}_ims.npy", "w+", np.float32, shape)
        array[:, 0, 0] = np.arange(images)
        array.flush()
        lines = (
            f"text {k} of image {i} with some words\n" for i in range(images) for k in range(5)
        )
        (root / f"{split}_caps.txt").write_text("".join(lines))
    return root


@pytest.mark.slow
def test_training_on_a_split_of_cocos_size_holds_no_features(tmp_path):
    corpus = write_arrays(tmp_path / "coco_precomp")
    command = [sys.executable, "-c", TRAIN, str(corpus), str(tmp_path / "runs")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    own, peak = map(float, done.stdout.split())
    features = IMAGES * REGIONS * WIDTH * 4 / 1e6
    print(f"{own:.0f} MB held, {peak:.0f} MB at peak with mapped pages, {features:.0f} MB features")
    assert own < 0.4 * features
