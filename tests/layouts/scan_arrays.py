"""SCAN's precomputed arrays: ``{split}_ims.npy``, ``{split}_caps.txt``, ``{split}_ids.txt``."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from layouts.scene_topics import REGIONS, region_values, topics

FLICKR30K = {"train": 24, "dev": 10, "test": 10}
COCO = {"train": 24, "dev": 10, "test": 5, "testall": 25}
SEEDS = {"train": 0, "dev": 1, "test": 2, "testall": 2}  # test is the first fold of testall


def write_scan_arrays(
    root: Path,
    splits: Mapping[str, int] | None = None,
    *,
    boxes: bool = False,
    width: int = 16,
    repeated: bool = True,
) -> Path:
    """Write ``f30k_precomp`` or ``coco_precomp`` as published.

    Development and test arrays hold one row per image, or repeat each row five times. Boxes are
    x1, y1, x2, y2 in pixels, sizes are width and height.
    """
    root.mkdir(parents=True, exist_ok=True)
    for split, images in (splits or FLICKR30K).items():
        shown = topics(images, SEEDS[split])
        step = 5 if repeated and split != "train" else 1
        np.save(root / f"{split}_ims.npy", region_values(shown, width).repeat(step, axis=0))
        captions = "".join(f"{caption}\n" for topic in shown for caption in topic.captions)
        (root / f"{split}_caps.txt").write_text(captions, encoding="utf-8")
        ids = range(images * 5) if split != "train" else range(images)
        (root / f"{split}_ids.txt").write_text("".join(f"{id}\n" for id in ids))
        if boxes:
            drawn = np.random.default_rng(SEEDS[split]).uniform(size=(images, REGIONS, 4))
            low, sides = 200 * drawn[..., :2], 10 + 140 * drawn[..., 2:]
            corners = np.concatenate([low, low + sides], axis=2)
            sizes = np.tile([500, 375], (images, 1))
            np.save(root / f"{split}_boxes.npy", corners.repeat(step, axis=0).astype(np.float32))
            np.save(root / f"{split}_image_size.npy", sizes.repeat(step, axis=0))
    return root
