"""Conceptual Captions as people have it: Google's lists, and the pictures two scripts download."""

import zlib
from pathlib import Path

from layouts.scene_topics import draw, topics, write_detections

SPLITS = {
    "Train_GCC-training": ("training", 20),
    "Validation_GCC-1.1.0-Validation": ("validation", 6),
}


def write_conceptual_captions(root: Path) -> Path:
    """Lists of caption and address without a heading; pictures called by the address' CRC-32."""
    files, shown = [], []
    for seed, (name, (folder, count)) in enumerate(SPLITS.items()):
        lines = []
        for place, topic in enumerate(topics(count, seed)):
            url = f"http://pictures.example/{folder}/{place}.jpg"
            lines.append(f"{topic.captions[0].lower()}\t{url}\n")
            if place == count - 1:
                continue  # an address that is dead today
            files.append(f"{folder}/{zlib.crc32(url.encode()) & 0xFFFFFFFF}")
            shown.append(topic)
            draw(root / files[-1], topic)
        (root / f"{name}.tsv").write_text("".join(lines))
    write_detections(root, files, shown)
    return root


def write_gathered_captions(root: Path) -> Path:
    """``…_output.csv`` with title and filepath between tabs, as the CLIP family gathers them."""
    for seed, (name, (_, count)) in enumerate(SPLITS.items()):
        lines = ["title\tfilepath\n"]
        for place, topic in enumerate(topics(count, seed)):
            file = f"cc_data/{'val' if seed else 'train'}/{place:05d}.jpg"
            draw(root / file, topic)
            lines.append(f"{topic.captions[0].lower()}\t{file}\n")
        (root / f"{name}_output.csv").write_text("".join(lines))
    return root
