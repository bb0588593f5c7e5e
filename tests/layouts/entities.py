"""Flickr30k Entities: ``Sentences``, ``Annotations`` and the lists of its splits."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from layouts.karpathy import write_flickr30k

Boxes = Mapping[int, Sequence[tuple[int, int, int, int]]]  # entity → x1, y1, x2, y2 in pixels


def write_flickr30k_entities(root: Path) -> Path:
    """Flickr30K with Karpathy's splits, and Flickr30k Entities unpacked beside them."""
    write_flickr30k(root)
    images = json.loads((root / "dataset_flickr30k.json").read_text())["images"]
    ids = [Path(image["filename"]).stem for image in images]
    sentences = [[_marked(one["raw"]) for one in image["sentences"]] for image in images]
    boxes = [{1: [(1, 1, 250, 400)], 2: [(251, 101, 460, 350)]}] * len(ids)
    return write_entities(root, ids, sentences, boxes, [image["split"] for image in images])


def write_entities(
    root: Path,
    ids: Sequence[str],
    sentences: Sequence[Sequence[str]],
    boxes: Sequence[Boxes],
    splits: Sequence[str],
) -> Path:
    """Write marked sentences and boxes per image; entities without boxes get no object."""
    for folder in ("Sentences", "Annotations"):
        (root / folder).mkdir(parents=True)
    for id, lines, own in zip(ids, sentences, boxes, strict=True):
        (root / "Sentences" / f"{id}.txt").write_text("".join(f"{line}\n" for line in lines))
        (root / "Annotations" / f"{id}.xml").write_text(_annotation(id, own))
    for split in ("train", "val", "test"):
        own = [id for id, of in zip(ids, splits, strict=True) if of == split]
        (root / f"{split}.txt").write_text("".join(f"{id}\n" for id in own))
    return root


def _marked(caption: str) -> str:
    """``A man runs near a dog .`` with both things marked."""
    one, _, two = caption.removesuffix(" .").partition(" near ")
    first, _, verb = one.rpartition(" ")
    return f"[/EN#1/people {first}] {verb} near [/EN#2/other {two}] ."


def _annotation(id: str, boxes: Boxes, size: tuple[int, int] = (500, 400)) -> str:
    objects = "".join(
        f"\t<object>\n\t\t<name>{entity}</name>\n\t\t<bndbox>\n"
        f"\t\t\t<xmin>{x1}</xmin>\n\t\t\t<ymin>{y1}</ymin>\n"
        f"\t\t\t<xmax>{x2}</xmax>\n\t\t\t<ymax>{y2}</ymax>\n\t\t</bndbox>\n\t</object>\n"
        for entity, own in boxes.items()
        for x1, y1, x2, y2 in own
    )
    scene = (
        "\t<object>\n\t\t<name>999</name>\n\t\t<scene>1</scene>\n"
        "\t\t<nobndbox>0</nobndbox>\n\t</object>\n"
    )
    return (
        f"<annotation>\n\t<filename>{id}.jpg</filename>\n\t<size>\n\t\t<width>{size[0]}</width>\n"
        f"\t\t<height>{size[1]}</height>\n\t\t<depth>3</depth>\n\t</size>\n{objects}{scene}"
        "</annotation>\n"
    )
