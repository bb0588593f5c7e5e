"""Karpathy's JSON: ``images[]`` with ``filename``, ``split`` and ``sentences[] {raw}``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from deixis.data.formats.coco_instances import Instances
from deixis.data.formats.narratives.localized_narratives import narratives_in
from deixis.data.parsing.json_stream import Item, stream_json
from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.split_names import split_name
from deixis.errors import DataError


def is_karpathy(path: Path) -> bool:
    """Whether a file is JSON whose first image has sentences, or a folder holds such a file."""
    if path.is_dir():
        return bool(_files_in(path))
    if not path.is_file() or path.suffix != ".json":
        return False
    first = next((item.value for item in stream_json(path) if item.key == "images"), None)
    return isinstance(first, dict) and "sentences" in first


def _files_in(folder: Path) -> list[Path]:
    """Files called as Karpathy calls his, for example ``dataset_coco.json``."""
    return sorted(folder.glob("dataset_*.json"))


def list_karpathy(path: Path, report: ReportProblem) -> Listing:
    """List a file of Karpathy's; ``restval`` images are training images, as is usual.

    COCO's ``instances_….json``, beside the file or in ``annotations``, give labels by ``cocoid``.
    Pictures are looked for beside the file and in the folders there, below the ``filepath`` each
    image may name. Narratives beside the file describe its images.
    """
    if path.is_dir():
        first, *others = _files_in(path)
        if others:
            listed = ", ".join(file.name for file in (first, *others))
            raise DataError(f"{path} holds several corpora: {listed}; name one of these files")
        path = first
    before = takewhile(lambda item: item.key != "images", stream_json(path))
    names = tuple(str(item.value) for item in before if item.key == "label_names")
    instances = Instances.read([] if names else _instance_files(path.parent))
    names = names or tuple(instances.names.values())
    name = path.stem.removeprefix("dataset_")
    narratives = narratives_in(path.parent, report)
    return Listing(name, path.parent, _rows(path, instances, report), names or None, narratives)


def _instance_files(folder: Path) -> list[Path]:
    """COCO's instances beside the file, or where COCO unpacks them."""
    return sorted({*folder.glob("instances_*.json"), *folder.glob("annotations/instances_*.json")})


def existing(root: Path, options: list[str]) -> str:
    """Which of some places of a picture is the right one; the first when none is."""
    return next((file for file in options if (root / file).is_file()), options[0])


def _rows(path: Path, instances: Instances, report: ReportProblem) -> Iterator[ImageRow]:
    folders = sorted(child.name for child in path.parent.iterdir() if child.is_dir())
    form = -1  # which of the forms of a path this file has, once one was found
    tries = 20  # images that may be missing before the first form is taken
    for item in stream_json(path):
        if item.key != "images":
            continue
        where = f"{path}:{item.line} (images[{item.place}])"
        try:
            options = _places(item.value, folders)
            if form < 0 and item.place < tries:
                found = existing(path.parent, options)
                form = options.index(found) if (path.parent / found).is_file() else -1
            row = _row(item, options[max(form, 0)], where)
            yield row if row.labels else replace(row, labels=instances.labels(row.id, report))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"not an image with sentences ({type(error).__name__}: {error})"
            report(CorpusProblem("malformed", where, what))


def _places(image: Mapping[str, Any], folders: Sequence[str]) -> list[str]:
    """Where a picture may lie: as the file says, below ``images``, flat in a folder."""
    name, folder = str(image["filename"]), str(image.get("filepath", ""))
    inside = f"{folder}/{name}" if folder else name
    flat = [f"{beside}/{name}" for beside in folders]
    return [inside, f"images/{inside}", name, f"images/{name}", *flat]


def _row(item: Item, file: str, where: str) -> ImageRow:
    image, sentences = item.value, item.value["sentences"]
    return ImageRow(
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
