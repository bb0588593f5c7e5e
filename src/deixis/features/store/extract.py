"""Run a backbone over a whole corpus into a cache, however often it is interrupted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.backbones.backbone import ImageBackbone, TextBackbone
from deixis.features.backbones.coarse_cells import CoarseCells
from deixis.features.backbones.pooled_of_cells import PooledOfCells
from deixis.features.store.feature_cache import (
    CacheIdentity,
    CacheWriter,
    is_complete,
    locked_cache,
    open_cache,
)
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import Packed, PackedRegions, PackedTokens, offsets_of

IMAGES, TEXTS = 64, 1024  # items per block: what a crash can cost
WORKERS = 2  # threads that decode; more gain nothing beside a network on the same cores

DerivedImages = CoarseCells | PooledOfCells  # what is made from the cells of ``cells`` alone
Progress = Callable[[int, int], None]  # items done, items in all
Block = tuple[Packed, Mapping[int, str]]  # features, and why some items have none
# Blocks of a backbone's features, from an item on: computed here, or by somebody else.
ImageBlocks = Callable[[ImageBackbone, Sequence[PictureSource], int], Iterator[Block]]
TextBlocks = Callable[[TextBackbone, Sequence[str], int], Iterator[Block]]


@dataclass(frozen=True, slots=True)
class Extraction:
    """Where features are computed; the cache they go into is the same."""

    images: ImageBlocks | None = None  # None: in this process
    texts: TextBlocks | None = None


def extract_images(
    backbone: ImageBackbone,
    paths: Sequence[PictureSource],
    folder: Path,
    corpus_hash: str,
    progress: Progress | None = None,
    blocks: ImageBlocks | None = None,
) -> PackedRegions:
    """Regions of every picture, from the cache or into it.

    A picture that cannot be read has no rows and a pooled vector of zeros; the manifest gives
    the reason. It never stops the run.
    """
    wanted = _wanted("regions", backbone, corpus_hash, len(paths))
    by = blocks or image_blocks
    packed = _filled(folder, wanted, lambda done: by(backbone, paths, done), progress)
    assert isinstance(packed, PackedRegions)
    return packed


def derive_images(
    backbone: DerivedImages,
    fine: Callable[[], PackedRegions],
    folder: Path,
    corpus_hash: str,
    items: int,
) -> PackedRegions:
    """Features made from the fine cells of the same pictures, from the cache or into it."""
    wanted = _wanted("regions", backbone, corpus_hash, items)
    packed = _filled(folder, wanted, lambda done: _derived_blocks(backbone, fine(), done), None)
    assert isinstance(packed, PackedRegions)
    return packed


def extract_texts(
    backbone: TextBackbone,
    texts: Sequence[str],
    folder: Path,
    corpus_hash: str,
    progress: Progress | None = None,
    blocks: TextBlocks | None = None,
) -> PackedTokens:
    """Tokens of every text, from the cache or into it."""
    wanted = _wanted("tokens", backbone, corpus_hash, len(texts))
    by = blocks or text_blocks
    packed = _filled(folder, wanted, lambda done: by(backbone, texts, done), progress)
    assert isinstance(packed, PackedTokens)
    return packed


def _wanted(
    kind: str, backbone: ImageBackbone | TextBackbone | DerivedImages, corpus: str, items: int
) -> CacheIdentity:
    return {
        "kind": kind,
        "backbone": backbone.name,
        **backbone.identity(),
        "corpus": corpus,
        "items": items,
    }


def _filled(
    folder: Path,
    wanted: CacheIdentity,
    blocks: Callable[[int], Iterator[Block]],
    progress: Progress | None,
) -> Packed:
    with locked_cache(folder):
        if not is_complete(folder):
            writer = CacheWriter(folder, wanted)
            for packed, broken in blocks(writer.done):
                writer.append(packed, broken)
                if progress is not None:
                    progress(writer.done, int(wanted["items"]))
            writer.finish()
    return open_cache(folder, wanted)


def text_blocks(backbone: TextBackbone, texts: Sequence[str], done: int) -> Iterator[Block]:
    """Blocks of texts from one on."""
    for start in block_starts(done, len(texts), TEXTS):
        yield backbone(texts[start : start + TEXTS]), {}


def _derived_blocks(backbone: DerivedImages, fine: PackedRegions, done: int) -> Iterator[Block]:
    for start in block_starts(done, len(fine), IMAGES):
        offsets = fine.offsets[start : start + IMAGES + 1]
        rows, items = slice(offsets[0], offsets[-1]), slice(start, start + IMAGES)
        pooled = None if fine.pooled is None else fine.pooled[items]
        some = PackedRegions(fine.values[rows], offsets - offsets[0], None, pooled)
        broken = np.flatnonzero(np.diff(offsets) == 0) + start
        yield backbone.of_fine(some), {int(i): "its picture is broken" for i in broken}


def image_blocks(
    backbone: ImageBackbone, paths: Sequence[PictureSource], done: int
) -> Iterator[Block]:
    """Blocks of pictures from one on; threads decode the next while the network runs on this."""
    starts = block_starts(done, len(paths), IMAGES)
    with ThreadPoolExecutor(WORKERS) as pool:

        def submit(start: int) -> list[Future[Any]]:
            return [pool.submit(_read, backbone, path) for path in paths[start : start + IMAGES]]

        coming = submit(starts[0]) if starts else []
        for place, start in enumerate(starts):
            current = coming
            coming = submit(starts[place + 1]) if place + 1 < len(starts) else []
            yield _block(backbone, [future.result() for future in current], start)


def block_starts(done: int, items: int, size: int) -> range:
    """Where blocks begin; a corpus without items still has one, to give the arrays a shape."""
    return range(done, max(items, 1), size)


def _read(backbone: ImageBackbone, path: PictureSource) -> Any:
    try:
        return backbone.read(path)
    except DataError as error:
        return error


def _block(backbone: ImageBackbone, opened: Sequence[Any], start: int) -> Block:
    ok = np.array([not isinstance(picture, DataError) for picture in opened], dtype=bool)
    packed = backbone([picture for picture in opened if not isinstance(picture, DataError)])
    broken = {start + i: str(why) for i, why in enumerate(opened) if isinstance(why, DataError)}
    return _with_gaps(packed, ok), broken


def _with_gaps(packed: PackedRegions, ok: Bool[ndarray, " image"]) -> PackedRegions:
    counts = np.zeros(len(ok), dtype=np.int64)
    counts[ok] = np.diff(packed.offsets)
    pooled = packed.pooled
    if pooled is not None:
        spread = np.zeros((len(ok), pooled.shape[1]), pooled.dtype)
        spread[ok] = pooled
        pooled = spread
    return PackedRegions(packed.values, offsets_of(counts), packed.boxes, pooled)
