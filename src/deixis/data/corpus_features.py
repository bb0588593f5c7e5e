"""The features of a corpus: read where they are, or extracted once into the user's cache."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.regions import IndexedRegions, has_arrays, read_regions
from deixis.features.backbones.backbone import (
    ImageBackbone,
    TextBackbone,
    image_backbone,
    text_source,
)
from deixis.features.backbones.coarse_cells import CoarseCells
from deixis.features.backbones.pooled_of_cells import PooledOfCells, pooled_of_cells
from deixis.features.backbones.precomputed import FOLDER, PrecomputedRegions
from deixis.features.backbones.trainable_inputs import TrainableImageInputs
from deixis.features.store.content_hashes import content_hashes
from deixis.features.store.decoded_pictures import DecodedPictures
from deixis.features.store.extract import (
    Extraction,
    derive_images,
    extract_images,
    extract_texts,
)
from deixis.features.store.feature_cache import is_complete, read_manifest
from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.files import json_hash
from deixis.paths import cache_folder, pixel_cache_bytes

Progress = Callable[[int, int], None]
HERE = Extraction()
PIXEL_BYTES = 6  # of three colours in half precision, as a cache keeps them


def image_features(
    corpus: Corpus, name: str, progress: Progress, extraction: Extraction = HERE
) -> IndexedRegions:
    """Regions of a corpus' images by a backbone's name, and each image's place among them.

    A picture that could not be read has a place without regions.
    """
    backbone = image_backbone(name)
    if isinstance(backbone, PrecomputedRegions) and has_arrays(corpus):
        return read_regions(corpus)
    sources = [corpus.source(image) for image in range(len(corpus.files))]
    if isinstance(backbone, TrainableImageInputs):
        pixels = backbone.side**2
        if len(sources) * pixels * PIXEL_BYTES > pixel_cache_bytes():
            return DecodedPictures.of(backbone, sources, pixels), np.arange(len(sources))
    sha = _images_hash(corpus, isinstance(backbone, PrecomputedRegions))
    folder = features_folder(sha, name, backbone)
    derived = backbone if isinstance(backbone, CoarseCells) else _pooled_beside(backbone, sha)
    if derived is not None:

        def fine() -> PackedRegions:
            return image_features(corpus, derived.cells.name, progress, extraction)[0]

        few = derive_images(derived, fine, folder, sha, len(sources))
        return few, np.arange(len(sources))
    regions = extract_images(backbone, sources, folder, sha, progress, extraction.images)
    return regions, np.arange(len(sources))


def _pooled_beside(backbone: ImageBackbone, sha: str) -> PooledOfCells | None:
    """Whole-picture vectors read from the cells of the same pictures, once those are extracted."""
    derived = pooled_of_cells(backbone)
    if derived is None or not is_complete(features_folder(sha, derived.cells.name, derived.cells)):
        return None
    return derived


def text_features(
    texts: Sequence[str],
    backbone: TextBackbone,
    name: str,
    progress: Progress,
    extraction: Extraction = HERE,
) -> PackedTokens:
    """Tokens of texts with their states, from the cache or into it."""
    sha = json_hash(list(texts))
    folder = features_folder(sha, name, backbone)
    return extract_texts(backbone, texts, folder, sha, progress, extraction.texts)


@dataclass(frozen=True)
class ExtractionSummary:
    """What became of a corpus: how many images and texts have features, and which images broke."""

    images: int
    texts: int
    broken: Mapping[str, str]  # file → reason

    @property
    def needs_attention(self) -> bool:
        """Whether an image could not be read."""
        return bool(self.broken)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def extract_corpus(
    corpus: Corpus,
    image: str,
    text: str,
    progress: Callable[[str], Progress],
    extraction: Extraction = HERE,
) -> ExtractionSummary:
    """Extract a corpus' images, and its texts when a text backbone is named."""
    regions, places = image_features(corpus, image, progress(image), extraction)
    empty = np.flatnonzero(np.diff(regions.offsets)[places] == 0)
    reasons: dict[str, str] = {}
    if len(empty):
        sha = _images_hash(corpus, image == PrecomputedRegions.name)
        reasons = read_manifest(features_folder(sha, image, image_backbone(image)))["broken"]
    broken = {corpus.files[i]: reasons.get(str(i), "it has no regions") for i in empty.tolist()}
    texts = 0
    if text:
        backbone = text_source(text).fit(corpus.texts)
        tokens = text_features(corpus.texts, backbone, text, progress(text), extraction)
        texts = len(tokens)
    return ExtractionSummary(len(places) - len(broken), texts, broken)


def features_folder(sha: str, name: str, backbone: ImageBackbone | TextBackbone) -> Path:
    """Where features of one content by one backbone are kept.

    What decides the features is part of the name: another version of a backbone, or another
    precision, extracts into a folder of its own instead of meeting the old one.
    """
    short = name if name.replace("+", "").replace(":", "").isalnum() else json_hash(name)[:16]
    by = json_hash(backbone.identity())[:8]
    return cache_folder() / "features" / f"{sha[:16]}-{short.replace(':', '-')}-{by}"


def _images_hash(corpus: Corpus, precomputed: bool) -> str:
    """A hash of the files' names and bytes; of those that hold regions when they are the source.

    Images in memory have a hash of their content in their name.
    """
    files = [file for file in corpus.files if file not in corpus.contents]
    if precomputed:
        beside = sorted(path for path in (corpus.root / FOLDER).rglob("*") if path.is_file())
        files += [path.relative_to(corpus.root).as_posix() for path in beside]
    hashed = [*zip(files, content_hashes(corpus.root, files), strict=True)]
    return json_hash([corpus.files, hashed] if corpus.contents else hashed)
