"""Karpathy's JSON: ``images[]`` with ``filename``, ``split`` and ``sentences[] {raw}``."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from deixis.data.instances import Instances
from deixis.data.json_stream import Item, stream_json
from deixis.data.problems import Problem, Tell
from deixis.data.rows import Listing, Row, split_name


def is_karpathy(path: Path) -> bool:
    """Whether a file is JSON whose first image has sentences."""
    if not path.is_file() or path.suffix != ".json":
        return False
    first = next((item.value for item in stream_json(path) if item.key == "images"), None)
    return isinstance(first, dict) and "sentences" in first


def list_karpathy(path: Path, tell: Tell) -> Listing:
    """List a file of Karpathy's; ``restval`` images train, as everybody has it.

    COCO's ``instances_….json``, beside the file or in ``annotations``, give labels by ``cocoid``.
    Pictures are looked for beside the file and in its folder ``images``, below the ``filepath``
    each image may name.
    """
    before = takewhile(lambda item: item.key != "images", stream_json(path))
    names = tuple(str(item.value) for item in before if item.key == "label_names")
    instances = Instances.read([] if names else _instance_files(path.parent))
    names = names or tuple(instances.names.values())
    name = path.stem.removeprefix("dataset_")
    return Listing(name, path.parent, _rows(path, instances, tell), names or None)


def _instance_files(folder: Path) -> list[Path]:
    """COCO's instances beside the file, or where COCO unpacks them."""
    return sorted({*folder.glob("instances_*.json"), *folder.glob("annotations/instances_*.json")})


def existing(root: Path, options: list[str]) -> str:
    """Which of some places of a picture is the right one; the first when none is."""
    return next((file for file in options if (root / file).is_file()), options[0])


def _rows(path: Path, instances: Instances, tell: Tell) -> Iterator[Row]:
    form = -1  # which of the forms of a path this file has, once one was found
    tries = 20  # images that may be missing before the first form is taken
    for item in stream_json(path):
        if item.key != "images":
            continue
        where = f"{path}:{item.line} (images[{item.place}])"
        try:
            options = _places(item.value)
            if form < 0 and item.place < tries:
                found = existing(path.parent, options)
                form = options.index(found) if (path.parent / found).is_file() else -1
            row = _row(item, options[max(form, 0)], where)
            yield row if row.labels else replace(row, labels=instances.labels(row.id, tell))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"not an image with sentences ({type(error).__name__}: {error})"
            tell(Problem("malformed", where, what))


def _places(image: Mapping[str, Any]) -> list[str]:
    name, folder = str(image["filename"]), str(image.get("filepath", ""))
    inside = f"{folder}/{name}" if folder else name
    return [inside, f"images/{inside}", name, f"images/{name}"]


def _row(item: Item, file: str, where: str) -> Row:
    image, sentences = item.value, item.value["sentences"]
    return Row(
        where,
        file,
        tuple(str(sentence["raw"]) for sentence in sentences),
        split_name(str(image.get("split", "train"))),
        also=tuple(map(tuple, image.get("also", ()))),
        labels=tuple(image.get("labels", ())),
        twin=(int(image.get("group", -1)), int(image.get("twin", -1))),
        id=int(image.get("cocoid", image.get("imgid", -1))),
        text_ids=tuple(int(sentence.get("sentid", -1)) for sentence in sentences),
    )
