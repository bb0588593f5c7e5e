"""Karpathy's splits: ``dataset_flickr30k.json`` and ``dataset_coco.json`` with their pictures."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from layouts.coco_annotations import image_name, write_annotations
from layouts.scene_topics import Topic, draw, topics, write_detections

FLICKR30K = {"train": 20, "val": 6, "test": 6}
COCO = {"train": 16, "restval": 6, "val": 6, "test": 10}
FIRST_ID = 391895  # of COCO's images here; the first one of Karpathy's file has it


def write_flickr30k(root: Path) -> Path:
    """``dataset_flickr30k.json`` beside the flat ``flickr30k-images``."""
    splits = [split for split, count in FLICKR30K.items() for _ in range(count)]
    shown = topics(len(splits))
    images = []
    for number, (split, topic) in enumerate(zip(splits, shown, strict=True)):
        name = f"{1000092795 + number}.jpg"
        draw(root / "flickr30k-images" / name, topic)
        record = _image(number, split, topic.captions)
        images.append({**record, "filename": name})
    (root / "dataset_flickr30k.json").write_text(
        json.dumps({"images": images, "dataset": "flickr30k"})
    )
    return root


def write_coco(root: Path) -> Path:
    """``dataset_coco.json``, both folders of pictures, ``annotations`` and detected regions."""
    splits = [split for split, count in COCO.items() for _ in range(count)]
    shown = topics(len(splits))
    images, files = [], []
    parts: dict[str, dict[int, Topic]] = {"train2014": {}, "val2014": {}}
    for number, (split, topic) in enumerate(zip(splits, shown, strict=True)):
        part = "train2014" if split == "train" else "val2014"
        id = FIRST_ID + 7 * number
        name = image_name(part, id)
        draw(root / part / name, topic)
        parts[part][id] = topic
        files.append(f"{part}/{name}")
        record = _image(number, split, topic.captions)
        images.append({"filepath": part, **record, "filename": name, "cocoid": id})
    (root / "dataset_coco.json").write_text(json.dumps({"images": images, "dataset": "coco"}))
    for part, of in parts.items():
        write_annotations(root, part, of)
    write_detections(root, files, shown)
    return root


def _image(number: int, split: str, captions: Sequence[str]) -> dict[str, Any]:
    sentids = [5 * number + place for place in range(len(captions))]
    sentences = [
        {
            "tokens": caption.lower().removesuffix(" .").split(),
            "raw": caption,
            "imgid": number,
            "sentid": sentid,
        }
        for caption, sentid in zip(captions, sentids, strict=True)
    ]
    return {"sentids": sentids, "imgid": number, "sentences": sentences, "split": split}
