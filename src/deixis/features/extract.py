"""Run a backbone over a whole corpus into a cache, however often it is interrupted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from deixis.errors import DataError
from deixis.features.backbones import ImageBackbone, TextBackbone
from deixis.features.cache import CacheWriter, Wanted, is_complete, locked, open_cache
from deixis.features.packed import Packed, PackedRegions, PackedTokens, offsets_of

IMAGES, TEXTS = 64, 1024  # items a block: what a crash can cost
WORKERS = 2  # threads that decode; more gain nothing beside a network on the same cores

Progress = Callable[[int, int], None]  # items done, items in all
Block = tuple[Packed, Mapping[int, str]]  # features, and why some items have none


def extract_images(
    backbone: ImageBackbone,
    paths: Sequence[Path],
    folder: Path,
    corpus_hash: str,
    progress: Progress | None = None,
) -> PackedRegions:
    """Regions of every picture, from the cache or into it.

    A picture that cannot be read has no rows and a pooled vector of zeros; the manifest gives
    the reason. It never stops the run.
    """
    wanted = _wanted("regions", backbone, corpus_hash, len(paths))
    packed = _filled(folder, wanted, lambda done: _image_blocks(backbone, paths, done), progress)
    assert isinstance(packed, PackedRegions)
    return packed


def extract_texts(
    backbone: TextBackbone,
    texts: Sequence[str],
    folder: Path,
    corpus_hash: str,
    progress: Progress | None = None,
) -> PackedTokens:
    """Tokens of every text, from the cache or into it."""
    wanted = _wanted("tokens", backbone, corpus_hash, len(texts))
    packed = _filled(folder, wanted, lambda done: _text_blocks(backbone, texts, done), progress)
    assert isinstance(packed, PackedTokens)
    return packed


def _wanted(kind: str, backbone: ImageBackbone | TextBackbone, corpus: str, items: int) -> Wanted:
    return {
        "kind": kind,
        "backbone": backbone.name,
        **backbone.identity(),
        "corpus": corpus,
        "items": items,
    }


def _filled(
    folder: Path,
    wanted: Wanted,
    blocks: Callable[[int], Iterator[Block]],
    progress: Progress | None,
) -> Packed:
    with locked(folder):
        if not is_complete(folder):
            writer = CacheWriter(folder, wanted)
            for packed, broken in blocks(writer.done):
                writer.append(packed, broken)
                if progress is not None:
                    progress(writer.done, int(wanted["items"]))
            writer.finish()
    return open_cache(folder, wanted)


def _text_blocks(backbone: TextBackbone, texts: Sequence[str], done: int) -> Iterator[Block]:
    for start in _starts(done, len(texts), TEXTS):
        yield backbone(texts[start : start + TEXTS]), {}


def _image_blocks(backbone: ImageBackbone, paths: Sequence[Path], done: int) -> Iterator[Block]:
    """Decode the next block in threads while the network runs on this one."""
    starts = _starts(done, len(paths), IMAGES)
    with ThreadPoolExecutor(WORKERS) as pool:

        def submit(start: int) -> list[Future[Any]]:
            return [pool.submit(_read, backbone, path) for path in paths[start : start + IMAGES]]

        coming = submit(starts[0]) if starts else []
        for place, start in enumerate(starts):
            current = coming
            coming = submit(starts[place + 1]) if place + 1 < len(starts) else []
            yield _block(backbone, [future.result() for future in current], start)


def _starts(done: int, items: int, size: int) -> range:
    """Where blocks begin; a corpus without items still has one, to give the arrays a shape."""
    return range(done, max(items, 1), size)


def _read(backbone: ImageBackbone, path: Path) -> Any:
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
