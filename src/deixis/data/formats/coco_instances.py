"""COCO's instances: which categories are in which image."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deixis.data.parsing.json_stream import Item, stream_json
from deixis.data.parsing.problems import CorpusProblem, ReportProblem
from deixis.errors import DataError


@dataclass(frozen=True)
class Instances:
    """Categories by number, those of each image, and where each was first said to be there."""

    names: dict[int, str]
    of_image: dict[int, set[int]]
    wheres: dict[tuple[int, int], str]

    @classmethod
    def read(cls, paths: Iterable[Path]) -> "Instances":
        """Read ``instances_….json`` files; none makes no labels."""
        names: dict[int, str] = {}
        found = cls(names, {}, {})
        for path in paths:
            for item in stream_json(path):
                where = f"{path}:{item.line} ({item.key}[{item.place}])"
                try:
                    found._enter(item, where)
                except (KeyError, TypeError, ValueError, OverflowError) as error:
                    what = f"{where}: this is no entry of instances ({error!r})"
                    raise DataError(what) from error
        return cls(dict(sorted(names.items())), found.of_image, found.wheres)

    def _enter(self, item: Item, where: str) -> None:
        if item.key == "categories":
            self.names[int(item.value["id"])] = str(item.value["name"])
        elif item.key == "annotations":
            image, category = int(item.value["image_id"]), int(item.value["category_id"])
            self.of_image.setdefault(image, set()).add(category)
            self.wheres.setdefault((image, category), where)

    def labels(self, image: int, report: ReportProblem) -> tuple[str, ...]:
        """The names of an image's categories, in the order of their numbers."""
        found = sorted(self.of_image.get(image, ()))
        for category in found:
            if category not in self.names:
                what = f"category {category} is not among the {len(self.names)} of the file"
                report(CorpusProblem("label out of range", self.wheres[image, category], what))
        return tuple(self.names[category] for category in found if category in self.names)
