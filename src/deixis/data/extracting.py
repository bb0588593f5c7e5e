"""The features of a corpus: used where they lie, or extracted once into the user's cache."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.regions import Placed, has_arrays, read_regions
from deixis.features.backbones import TextBackbone, image_backbone, text_source
from deixis.features.cache import read_manifest
from deixis.features.extract import extract_images, extract_texts
from deixis.features.files import json_hash
from deixis.features.graph import cache_folder
from deixis.features.packed import PackedTokens
from deixis.features.precomputed import FOLDER, PrecomputedRegions

Progress = Callable[[int, int], None]


def image_features(corpus: Corpus, name: str, progress: Progress) -> Placed:
    """Regions of a corpus' images by a backbone's name, and each image's place among them.

    A picture that could not be read has a place without regions.
    """
    backbone = image_backbone(name)
    if isinstance(backbone, PrecomputedRegions) and has_arrays(corpus):
        return read_regions(corpus)
    sha = _images_hash(corpus, isinstance(backbone, PrecomputedRegions))
    paths = [corpus.root / file for file in corpus.files]
    regions = extract_images(backbone, paths, features_folder(sha, name), sha, progress)
    return regions, np.arange(len(paths))


def text_features(
    texts: Sequence[str], backbone: TextBackbone, name: str, progress: Progress
) -> PackedTokens:
    """Tokens of texts with their states, from the cache or into it."""
    sha = json_hash(list(texts))
    return extract_texts(backbone, texts, features_folder(sha, name), sha, progress)


@dataclass(frozen=True)
class Extracted:
    """What became of a corpus: how many images and texts have features, and which images broke."""

    images: int
    texts: int
    broken: Mapping[str, str]  # file → reason

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def extract_corpus(
    corpus: Corpus, image: str, text: str, progress: Callable[[str], Progress]
) -> Extracted:
    """Extract a corpus' images, and its texts when a text backbone is named."""
    regions, places = image_features(corpus, image, progress(image))
    empty = np.flatnonzero(np.diff(regions.offsets)[places] == 0)
    reasons: dict[str, str] = {}
    if len(empty):
        sha = _images_hash(corpus, image == PrecomputedRegions.name)
        reasons = read_manifest(features_folder(sha, image))["broken"]
    broken = {corpus.files[i]: reasons.get(str(i), "it has no regions") for i in empty.tolist()}
    texts = 0
    if text:
        backbone = text_source(text).fit(corpus.texts)
        texts = len(text_features(corpus.texts, backbone, text, progress(text)))
    return Extracted(len(places) - len(broken), texts, broken)


def features_folder(sha: str, name: str) -> Path:
    """Where features of one content by one backbone are kept; names of paths become hashes."""
    short = name if name.replace("+", "").replace(":", "").isalnum() else json_hash(name)[:16]
    return cache_folder() / "features" / f"{sha[:16]}-{short.replace(':', '-')}"


def _images_hash(corpus: Corpus, precomputed: bool) -> str:
    """A hash of the files' names and sizes; of those that hold regions when they are the source."""
    sizes = [(file, _size(corpus.root / file)) for file in corpus.files]
    if precomputed:
        beside = sorted(path for path in (corpus.root / FOLDER).rglob("*") if path.is_file())
        sizes += [(path.relative_to(corpus.root).as_posix(), _size(path)) for path in beside]
    return json_hash(sizes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # a missing picture is an outcome of extraction, not the end of it
        return -1
