"""COCO's annotations of 2014 and 2017: ``captions_{part}.json`` and ``instances_{part}.json``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layouts.scene_topics import THINGS, Topic, draw, topics

CATEGORIES = [
    {"supercategory": "thing", "id": 3 * place + 1, "name": name}
    for place, name in enumerate(THINGS)
]


def image_name(part: str, id: int) -> str:
    """``COCO_val2014_000000391895.jpg`` in 2014, ``000000391895.jpg`` in 2017."""
    return f"{id:012d}.jpg" if part.endswith("2017") else f"COCO_{part}_{id:012d}.jpg"


def write_coco2017(root: Path) -> Path:
    """``train2017``, ``val2017`` and ``annotations`` as they unpack."""
    for part, first, count in (("train2017", 9, 12), ("val2017", 139, 6)):
        of = {first + 16 * place: topic for place, topic in enumerate(topics(count, first))}
        for id, topic in of.items():
            draw(root / part / image_name(part, id), topic)
        write_annotations(root, part, of)
    return root


def write_annotations(root: Path, part: str, of: Mapping[int, Topic]) -> None:
    """Captions and instances of some images by id, under the keys COCO gives them."""
    folder = root / "annotations"
    folder.mkdir(exist_ok=True)
    images = [_image(part, id) for id in of]
    about = {"description": "COCO Dataset", "version": "1.0", "contributor": "COCO Consortium"}
    licenses = [{"url": "http://www.flickr.com/commons/usage/", "id": 7, "name": "No restrictions"}]
    captions = [
        {"image_id": id, "id": 10 * id + place, "caption": caption}
        for id, topic in of.items()
        for place, caption in enumerate(topic.captions)
    ]
    content = {"info": about, "images": images, "licenses": licenses, "annotations": captions}
    (folder / f"captions_{part}.json").write_text(json.dumps(content))
    things = [_instance(id, thing) for id, t in of.items() for thing in (t.first, t.second)]
    content = {"info": about, "licenses": licenses, "images": images, "annotations": things}
    whole = content | {"categories": CATEGORIES}
    (folder / f"instances_{part}.json").write_text(json.dumps(whole))


def _image(part: str, id: int) -> dict[str, Any]:
    name = image_name(part, id)
    urls = {"coco_url": f"http://images.cocodataset.org/{part}/{name}", "flickr_url": ""}
    size = {"height": 32, "width": 48, "date_captured": "2013-11-14 17:02:52"}
    return {"license": 7, "file_name": name, **urls, **size, "id": id}


def _instance(image: int, thing: int) -> dict[str, Any]:
    category = CATEGORIES[thing]["id"]
    shape = {"segmentation": [[24, 8, 44, 8, 44, 28]], "area": 200.0, "bbox": [24, 8, 20, 20]}
    return {**shape, "iscrowd": 0, "image_id": image, "category_id": category, "id": image + thing}
