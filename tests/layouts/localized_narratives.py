"""Localized Narratives as published: one file per split, beside the pictures they describe."""

import json
from pathlib import Path
from typing import Any, Literal

from layouts.scene_topics import Topic, draw, topics, write_detections

FLICKR30K = {"train": 20, "val": 6, "test": 6}
OPEN_IMAGES = {"train": 20, "validation": 6, "test": 6}

Ids = Literal["stem", "file"]  # "1000092795" or "1000092795.jpg": both are in circulation


def write_flickr30k_narratives(root: Path, ids: Ids = "stem") -> Path:
    """The flat ``flickr30k-images``, the three files of narratives, detected regions."""
    first, files, shown = 1000092795, [], []
    for seed, (split, count) in enumerate(FLICKR30K.items()):
        of = {str(first + place): topic for place, topic in enumerate(topics(count, seed))}
        first += count
        for id, topic in of.items():
            files.append(f"flickr30k-images/{id}.jpg")
            shown.append(topic)
            draw(root / files[-1], topic)
        named = {f"{id}.jpg" if ids == "file" else id: topic for id, topic in of.items()}
        _write(root / f"flickr30k_{split}_localized_narratives.jsonl", f"Flick30k_{split}", named)
    write_detections(root, files, shown)
    return root


def write_open_images(root: Path) -> Path:
    """``train``, ``validation`` and ``test`` with pictures by hexadecimal id, and narratives.

    The narratives of the training split come in numbered parts.
    """
    files, shown = [], []
    for seed, (split, count) in enumerate(OPEN_IMAGES.items()):
        of = {f"{seed:08x}{place:08x}": topic for place, topic in enumerate(topics(count, seed))}
        for id, topic in of.items():
            files.append(f"{split}/{id}.jpg")
            shown.append(topic)
            draw(root / files[-1], topic)
        source = f"OpenImages_{split}"
        if split == "train":
            halves = list(of.items())
            for part, some in enumerate((halves[:10], halves[10:])):
                name = f"open_images_train_v6_localized_narratives-{part:05d}-of-00002.jsonl"
                _write(root / name, source, dict(some))
        else:
            _write(root / f"open_images_{split}_localized_narratives.jsonl", source, of)
    write_detections(root, files, shown)
    return root


def _write(path: Path, source: str, of: dict[str, Topic]) -> None:
    lines = [json.dumps(narrative(source, id, topic)) for id, topic in of.items()]
    path.write_text("".join(f"{line}\n" for line in lines))


def narrative(source: str, id: str, topic: Topic) -> dict[str, Any]:
    """One record: what was said of an image, when, and where the pointer was."""
    one, two = topic.captions[0].removesuffix(" .").split(" near ")
    said = f"In this image there is {one.lower()} near {two}."
    words = said.rstrip(".").split()
    timed = [
        {"utterance": word, "start_time": 0.4 * place, "end_time": 0.4 * place + 0.3}
        for place, word in enumerate(words)
    ]
    stroke = [{"x": 0.02 * t, "y": 0.1 * topic.first, "t": 0.1 * t} for t in range(40)]
    return {
        "dataset_id": source,
        "image_id": id,
        "annotator_id": 93,
        "caption": said,
        "timed_caption": timed,
        "traces": [stroke],
        "voice_recording": f"{source}/{source}_{id}_93.ogg",
    }
