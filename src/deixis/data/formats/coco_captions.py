"""COCO captions: ``images[]`` and ``annotations[] {image_id, caption}``, instances as labels."""

import re
from collections.abc import Iterator
from pathlib import Path

from deixis.data.formats.coco_instances import Instances
from deixis.data.formats.karpathy import existing
from deixis.data.formats.narratives.localized_narratives import narratives_in
from deixis.data.parsing.json_stream import Item, stream_json
from deixis.data.parsing.listing import ImageRow, Listing
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.data.split_names import split_name

_PART = re.compile(r"(train|val|test)\w*")


def caption_files(path: Path) -> list[Path]:
    """The caption files at a path: the file itself, or those of a folder as COCO unpacks it."""
    if path.is_dir():
        return sorted({*path.glob("captions_*.json"), *path.glob("annotations/captions_*.json")})
    if path.is_file() and path.suffix == ".json":
        keys = {"images", "annotations"}
        first = next((item for item in stream_json(path) if item.key in keys), None)
        return [path] if first is not None and "sentences" not in first.value else []
    return []


def list_coco(path: Path, report: ReportProblem) -> Listing:
    """List COCO captions; an ``instances_…`` file beside a ``captions_…`` file gives labels."""
    files = caption_files(path)
    beside = files[0].parent
    root = beside.parent if beside.name == "annotations" else beside
    instances = [_instances(file) for file in files]
    names = tuple(dict.fromkeys(name for one in instances for name in one.names.values()))
    rows = (
        row
        for file, labels in zip(files, instances, strict=True)
        for row in _rows(file, root, labels, report)
    )
    name = root.resolve().name if path.is_dir() else path.stem
    return Listing(name, root, rows, names or None, narratives_in(root, report))


def _instances(captions: Path) -> Instances:
    path = captions.with_name(captions.name.replace("captions", "instances", 1))
    return Instances.read([path] if path != captions and path.is_file() else [])


def _where(path: Path, item: Item) -> str:
    return f"{path}:{item.line} ({item.key}[{item.place}])"


def _rows(path: Path, root: Path, labels: Instances, report: ReportProblem) -> Iterator[ImageRow]:
    files: dict[int, tuple[str, str]] = {}
    texts: dict[int, list[tuple[str, int, str]]] = {}
    for item in stream_json(path):
        try:
            if item.key == "images":
                id, where = int(item.value["id"]), _where(path, item)
                if id in files:
                    what = f"image {id} was listed before, at {files[id][1]}"
                    report(CorpusProblem("duplicate image", where, what))
                    continue
                files[id] = (str(item.value["file_name"]), where)
            elif item.key == "annotations":
                text, id = str(item.value["caption"]), int(item.value["id"])
                found = texts.setdefault(int(item.value["image_id"]), [])
                found.append((text, id, _where(path, item)))
        except (KeyError, TypeError, ValueError) as error:
            what = f"not as COCO has it ({type(error).__name__}: {error})"
            report(CorpusProblem("malformed", _where(path, item), what))
    for image in [image for image in texts if image not in files]:
        for _, _, where in texts[image]:
            report(
                CorpusProblem("text without image", where, f"there is no image {image} in the file")
            )
    part = _PART.search(path.stem)
    place = _prefix(root, part[0] if part else "", next(iter(files.values()), ("", ""))[0])
    for image, (file, where) in files.items():
        found = texts.pop(image, [])
        yield ImageRow(
            where,
            place + file,
            tuple(text for text, _, _ in found),
            split_name(part[1] if part else "train"),
            tuple(at for _, _, at in found),
            labels=labels.labels(image, report),
            id=image,
            text_ids=tuple(id for _, id, _ in found),
        )


def _prefix(root: Path, part: str, file: str) -> str:
    """The folder pictures lie in, as COCO unpacks them, found by the first."""
    folders = [f"{part}/", f"images/{part}/", "images/", ""] if part else ["images/", ""]
    return existing(root, [folder + file for folder in folders]).removesuffix(file)
