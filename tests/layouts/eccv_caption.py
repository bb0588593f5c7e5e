"""ECCV Caption's files: the ids of COCO's test split and its three judgements."""

import json
from pathlib import Path

import numpy as np

from layouts.karpathy import COCO, FIRST_ID


def write_eccv_caption(folder: Path) -> Path:
    """The package's data for the test images of ``layouts.karpathy.write_coco``."""
    folder.mkdir(parents=True)
    before = sum(count for split, count in COCO.items() if split != "test")
    images = {FIRST_ID + 7 * n: n for n in range(before, before + COCO["test"])}
    texts = {image: [5 * n + place for place in range(5)] for image, n in images.items()}
    np.save(folder / "coco_test_ids.npy", np.array([t for of in texts.values() for t in of]))
    ids = list(images)
    # CxC and ECCV Caption add the first text of the next image to those of each.
    more = {
        image: [*texts[image], texts[after][0]] for image, after in zip(ids, ids[1:], strict=False)
    }
    judged = {"original": texts, "cxc": more, "eccv": more}
    for name, answers in judged.items():
        described: dict[int, list[int]] = {}
        for image, of in answers.items():
            for text in of:
                described.setdefault(text, []).append(image)
        for way, content in (("image_to_caption", answers), ("caption_to_image", described)):
            (folder / f"{name}_{way}.json").write_text(json.dumps(content))
    return folder
