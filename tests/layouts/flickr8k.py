"""Photo corpora as the Flickr8k recipes read them: ``captions.jsonl`` and ``images``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from layouts.localized_narratives import narrative
from layouts.scene_topics import draw, topics

SPLITS = {"train": 24, "val": 6, "test": 6}


def write_published_flickr8k(root: Path) -> Path:
    """``Flickr8k.token.txt``, the lists of the splits and ``Flicker8k_Dataset``, as published."""
    splits = [split for split, count in SPLITS.items() for _ in range(count)]
    lines: list[str] = []
    lists: dict[str, list[str]] = {split: [] for split in SPLITS}
    for number, (split, topic) in enumerate(zip(splits, topics(len(splits)), strict=True)):
        name = f"{1000268201 + number}_693b08cb0e.jpg"
        draw(root / "Flicker8k_Dataset" / name, topic)
        lines += [f"{name}#{n}\t{caption}" for n, caption in enumerate(topic.captions)]
        lists[split].append(name)
    lines += ["2258277193_586949ec62.jpg.1#0\tA picture that was never published ."]
    (root / "Flickr8k.token.txt").write_text("\n".join(lines) + "\n")
    for split, names in lists.items():
        name = f"Flickr_8k.{'dev' if split == 'val' else split}Images.txt"
        (root / name).write_text("\n".join(names) + "\n")
    return root


def write_captions_table(root: Path) -> Path:
    """``captions.txt`` with image and caption, and ``Images``, as a popular mirror has them."""
    lines = ["image,caption"]
    for number, topic in enumerate(topics(8)):
        name = f"{1000268201 + number}_693b08cb0e.jpg"
        draw(root / "Images" / name, topic)
        lines += [f"{name},{caption}" for caption in topic.captions]
    (root / "captions.txt").write_text("\n".join(lines) + "\n")
    return root


def write_flickr8k(root: Path) -> Path:
    """Captions, pictures, and simulated narratives as ``deixis data traces`` leaves them."""
    splits = [split for split, count in SPLITS.items() for _ in range(count)]
    lines, narratives, grounded = [], [], []
    for number, (split, topic) in enumerate(zip(splits, topics(len(splits)), strict=True)):
        name = f"{1000268201 + number}_693b08cb0e.jpg"
        draw(root / "images" / name, topic)
        captions = list(topic.captions)
        lines.append(json.dumps({"file": name, "split": split, "captions": captions}))
        narratives.append(json.dumps(narrative("simulated", f"images/{name}", topic)))
        grounded.append(json.dumps(_groundings(name, captions)))
    (root / "captions.jsonl").write_text("\n".join(lines) + "\n")
    (root / "narratives_simulated.jsonl").write_text("\n".join(narratives) + "\n")
    (root / "groundings.jsonl").write_text("\n".join(grounded) + "\n")
    return root


def _groundings(name: str, captions: Sequence[str]) -> dict[str, Any]:
    """The places of both things, and where every caption names them."""
    boxes = {"1": [[0.0, 0.5, 0.0, 1.0]], "2": [[0.5, 0.92, 0.25, 0.88]]}
    phrases = []
    for caption in captions:
        second = caption.index("near ") + len("near ")
        spans = {"1": (0, len(" ".join(caption.split()[:2]))), "2": (second, len(caption) - 2)}
        phrases.append(
            [
                {"start": start, "end": end, "entity": entity, "types": ["other"]}
                for entity, (start, end) in spans.items()
            ]
        )
    return {"file": name, "boxes": boxes, "captions": phrases}
