"""Writes the built-in corpus of scenes: an ordinary folder of pictures with their metadata."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from deixis.data.formats.narratives.localized_narratives import Narrative, narrative_record
from deixis.data.simulated.scenes.backgrounds import BACKGROUNDS
from deixis.data.simulated.scenes.captions import caption_scene
from deixis.data.simulated.scenes.claims import ClaimIndex
from deixis.data.simulated.scenes.draw_scene import draw_scene
from deixis.data.simulated.scenes.narrate import narrate
from deixis.data.simulated.scenes.objects import NOUNS
from deixis.data.simulated.scenes.scene import TWINS, Scene, Thing, make_scenes
from deixis.data.simulated.scenes.simulated_detector import Detected, detect
from deixis.errors import DataError
from deixis.features.backbones.precomputed import write_regions
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.files import locked, replacing_folder

GENERATOR = "deixis scenes 1"  # a change of any picture or word needs the next number
LABELS = (*NOUNS, *BACKGROUNDS)
_SHARES = {"train": 0.7, "val": 0.1, "test": 0.2}
_LEAST = 10

Progress = Callable[[int, int], None]  # how many images are written, out of how many


@dataclass(frozen=True, slots=True)
class _Settings:
    images: int
    seed: int
    twin_share: float
    narrations: int

    def __post_init__(self) -> None:
        if self.images < _LEAST:
            raise DataError(f"{self.images} images do not fill three splits; use at least {_LEAST}")
        if not 0 <= self.twin_share <= 1:
            raise DataError(f"twin_share is {self.twin_share}; it lies between 0 and 1")


def write_scenes(
    folder: Path,
    *,
    images: int = 1600,
    seed: int = 0,
    twin_share: float = 0.5,
    narrations: int = 2,
    progress: Progress = lambda done, total: None,
) -> Path:
    """Write simulated narrated scenes; the same settings give the same files.

    ``twin_share`` is the share of images in twin groups of four, ``narrations`` how many there are
    per image. The folder appears whole or not at all; one that holds the same scenes is kept.
    """
    settings = _Settings(images, seed, twin_share, narrations)
    if _is_written(folder, settings):
        return folder
    with locked(folder.with_name(f".{folder.name}.lock")):
        if not _is_written(folder, settings):
            with replacing_folder(folder) as partial:
                _Writer(partial, settings, progress).write()
    return folder


def _is_written(folder: Path, settings: _Settings) -> bool:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    try:
        about = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        about = {}
    wanted = {"generator": GENERATOR, "parameters": asdict(settings)}
    if {key: about.get(key) for key in wanted} == wanted:
        return True
    raise DataError(f"{folder} exists already and holds something else; choose another folder")


class _Writer:
    """Writes one corpus, split by split, and gathers what concerns all of it."""

    def __init__(self, root: Path, settings: _Settings, progress: Progress) -> None:
        self._root = root
        self._settings = settings
        self._progress = progress
        self._files: list[str] = []
        self._regions: list[Detected] = []
        self._groups = 0

    def write(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)
        self._root.mkdir()
        counts = {split: round(self._settings.images * _SHARES[split]) for split in ("val", "test")}
        counts = {"train": self._settings.images - sum(counts.values()), **counts}
        with (self._root / "narratives.jsonl").open("w", encoding="utf-8") as narratives:
            for number, (split, count) in enumerate(counts.items()):
                self._write_split(split, self._make(count, number), number, narratives)
        values, boxes = zip(*self._regions, strict=True)
        offsets = offsets_of([len(rows) for rows in values])
        packed = PackedRegions(np.concatenate(values), offsets, np.concatenate(boxes))
        write_regions(self._root, self._files, packed)
        about = json.dumps(self._about(), indent=1)
        (self._root / "corpus.json").write_text(about + "\n", encoding="utf-8")

    def _make(self, count: int, number: int) -> list[Scene]:
        rng = np.random.default_rng([self._settings.seed, number])
        groups = int(count * self._settings.twin_share) // TWINS
        scenes = make_scenes(count, groups, rng, first_group=self._groups)
        self._groups += groups
        return [scenes[i] for i in rng.permutation(count)]

    def _write_split(
        self, split: str, scenes: list[Scene], number: int, narratives: TextIO
    ) -> None:
        (self._root / split).mkdir()
        names = [f"{split}/{index:05d}.jpg" for index in range(len(scenes))]
        index = ClaimIndex(scenes)
        with (self._root / split / "metadata.jsonl").open("w", encoding="utf-8") as metadata:
            for place, (name, scene) in enumerate(zip(names, scenes, strict=True)):
                # One random stream per job, so that a change of one leaves the others alone.
                streams = np.random.default_rng([self._settings.seed, number, place]).spawn(4)
                draw_scene(scene, streams[0]).save(self._root / name, quality=90)
                row = _metadata(place, scene, names, index, streams[1])
                metadata.write(json.dumps(row) + "\n")
                for annotator in range(self._settings.narrations):
                    narration = narrate(scene, streams[2]).narration
                    narrative = Narrative(name, narration, f"scenes_{split}", annotator)
                    narratives.write(json.dumps(narrative_record(narrative)) + "\n")
                self._regions.append(detect(scene, streams[3]))
                self._files.append(name)
                self._progress(len(self._files), self._settings.images)

    def _about(self) -> dict[str, Any]:
        return {
            "name": "scenes",
            "simulated": True,
            "generator": GENERATOR,
            "parameters": asdict(self._settings),
            "seed": self._settings.seed,
            "label_names": LABELS,
        }


def _metadata(
    place: int, scene: Scene, names: list[str], index: ClaimIndex, rng: np.random.Generator
) -> dict[str, Any]:
    captions = caption_scene(scene, rng)
    also = [[names[i] for i in index.fitting(claim) if i != place] for _, claim in captions]
    return {
        "file_name": Path(names[place]).name,
        "captions": [text for text, _ in captions],
        "also": also,
        "labels": [*(thing.noun for thing in scene.things), scene.background],
        "background": scene.background,
        "objects": [_object(thing) for thing in scene.things],
        "group": scene.group,
        "twin": scene.twin,
    }


def _object(thing: Thing) -> dict[str, Any]:
    return {
        "noun": thing.noun,
        "colour": thing.colour,
        "size": thing.size,
        "box": [round(edge, 5) for edge in thing.box],
    }
