"""COCO's instances: which categories stand in which image."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deixis.data.json_stream import stream_json
from deixis.data.problems import Problem, Tell


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
                if item.key == "categories":
                    names[int(item.value["id"])] = str(item.value["name"])
                elif item.key == "annotations":
                    image, category = int(item.value["image_id"]), int(item.value["category_id"])
                    where = f"{path}:{item.line} ({item.key}[{item.place}])"
                    found.of_image.setdefault(image, set()).add(category)
                    found.wheres.setdefault((image, category), where)
        return cls(dict(sorted(names.items())), found.of_image, found.wheres)

    def labels(self, image: int, tell: Tell) -> tuple[str, ...]:
        """The names of an image's categories, in the order of their numbers."""
        found = sorted(self.of_image.get(image, ()))
        for category in found:
            if category not in self.names:
                what = f"category {category} is not among the {len(self.names)} of the file"
                tell(Problem("label out of range", self.wheres[image, category], what))
        return tuple(self.names[category] for category in found if category in self.names)
