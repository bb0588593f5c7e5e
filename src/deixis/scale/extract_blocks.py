"""Features of a corpus on an engine: every block of images or texts is a job, written in order.

Pictures travel as bytes, so that nodes need not see the corpus.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from deixis.errors import SearchError
from deixis.features.backbones.backbone import image_backbone, text_source
from deixis.features.backbones.precomputed import PrecomputedRegions
from deixis.features.backbones.trainable_inputs import TrainableImageInputs, TrainableTextInputs
from deixis.features.store.extract import (
    IMAGES,
    TEXTS,
    Block,
    Extraction,
    block_starts,
    image_blocks,
    text_blocks,
)
from deixis.features.store.image_files import PictureBytes, PictureSource
from deixis.features.words.vocabulary import Vocabulary
from deixis.scale.engine import Engine, engine_at

# What these give is read or counted, not computed.
LIGHT = (PrecomputedRegions, TrainableImageInputs, TrainableTextInputs, Vocabulary)

Kind = Literal["image", "text"]


@dataclass(frozen=True, slots=True)
class BlockJob:
    """Consecutive images or texts, and the backbone that reads them."""

    kind: Kind
    backbone: str
    identity: dict[str, str]  # what the backbone is where the work was planned
    first: int
    items: Sequence[PictureSource | str]


def extraction_at(cluster: str | None, on_note: Callable[[str], None]) -> Extraction:
    """What extracts on the cluster at an address, or here."""
    if cluster is None:
        return Extraction()
    return extraction_on(
        engine_at(cluster, lambda block, why: on_note(f"block {block} begun again: {why}"))
    )


def extraction_on(engine: Engine) -> Extraction:
    """What extracts on an engine: into the same cache, with the same bits as one process."""
    return Extraction(partial(_blocks, engine, "image"), partial(_blocks, engine, "text"))


def extract_block(job: BlockJob) -> Block:
    """The features of one block; a picture that cannot be read is reported by its place."""
    backbone = _backbone(job.kind, job.backbone)
    if backbone.identity() != job.identity:
        raise SearchError(
            f"backbone {job.backbone} on {os.uname().nodename} is not the one of the machine that "
            "planned the work; install the same versions everywhere"
        )
    blocks: Any = image_blocks if job.kind == "image" else text_blocks
    packed, broken = next(blocks(backbone, job.items, 0))
    return packed, {job.first + place: reason for place, reason in broken.items()}


def _blocks(
    engine: Engine, kind: Kind, backbone: Any, items: Sequence[Any], done: int
) -> Iterator[Block]:
    if isinstance(backbone, LIGHT) or not items:
        here: Any = image_blocks if kind == "image" else text_blocks
        yield from here(backbone, items, done)
        return
    starts = block_starts(done, len(items), IMAGES if kind == "image" else TEXTS)
    jobs = _Jobs(kind, backbone.name, backbone.identity(), items, starts)
    for finished in engine.run(extract_block, jobs, ordered=True):
        yield finished.result


@dataclass(frozen=True)
class _Jobs(Sequence[BlockJob]):
    """Jobs that are made when they are handed over, so that pictures are read late."""

    kind: Kind
    backbone: str
    identity: dict[str, str]
    items: Sequence[PictureSource | str]
    starts: range

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, place: Any) -> Any:
        first = self.starts[place]
        some = [_carried(one) for one in self.items[first : first + self.starts.step]]
        return BlockJob(self.kind, self.backbone, self.identity, first, some)


def _carried(item: PictureSource | str) -> PictureSource | str:
    """A picture as bytes; a file that cannot be read stays a path, and the job says why."""
    if not isinstance(item, Path):
        return item
    try:
        return PictureBytes(str(item), item.read_bytes())
    except OSError:
        return item


@lru_cache(maxsize=2)
def _backbone(kind: Kind, name: str) -> Any:
    """A backbone, loaded once per process."""
    return image_backbone(name) if kind == "image" else text_source(name).fit([])
