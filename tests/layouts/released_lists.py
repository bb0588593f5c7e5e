"""AOQ's released candidates: ``i2t_coco.npy`` and ``t2i_coco.npy`` in one folder."""

from pathlib import Path

import numpy as np

from deixis.data.dataset import Dataset


def write_released_lists(folder: Path, dataset: Dataset, seed: int = 0) -> Path:
    """Two arrays as the published tools write them: int32, hardest first, own items left out."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    positives = dataset.corpus.positives()
    for name, side in (("i2t_coco", positives), ("t2i_coco", positives.T)):
        rows = [random.permutation(np.flatnonzero(~row))[:9] for row in side]
        np.save(folder / f"{name}.npy", np.stack(rows).astype("int32"))
    return folder
