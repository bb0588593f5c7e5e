"""Small things made for tests: a corpus with random features that a model can learn."""

from pathlib import Path

import numpy as np
from PIL import Image

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.data.negatives.mined_negatives import MinedNegatives, MiningSource
from deixis.features.store.packed import PackedRegions, PackedTokens, offsets_of


def made_dataset(
    images: int = 24, texts_per_image: int = 2, seed: int = 0, dim: int = 8, *, boxes: bool = False
) -> Dataset:
    """Images whose regions and texts whose words both come from one hidden topic per image."""
    random = np.random.default_rng(seed)
    owners = np.repeat(np.arange(images), texts_per_image)
    topics = random.integers(5, 30, size=(images, 3))
    vectors = np.random.default_rng(1).normal(size=(30, dim)).astype(np.float32)
    counts = random.integers(2, 6, size=images)
    regions = [vectors[random.choice(topics[i], counts[i])] for i in range(images)]
    words = [random.choice(topics[owner], random.integers(2, 6)) for owner in owners]
    corpus = Corpus(
        name="made",
        root=Path("."),
        files=tuple(f"{i}.jpg" for i in range(images)),
        texts=tuple(" ".join(str(word) for word in text) for text in words),
        owners=owners,
        pairs=np.stack([owners, np.arange(len(owners))], axis=1),
        splits=("train",) * images,
    )
    places = np.random.default_rng(2).random((counts.sum(), 5)).astype(np.float32)
    packed_regions = PackedRegions(
        np.concatenate(regions),
        offsets_of(counts),
        places if boxes else None,
        pooled=np.stack([r.mean(0) for r in regions]),
    )
    packed_tokens = PackedTokens(np.concatenate(words), offsets_of([len(w) for w in words]))
    return Dataset(corpus, packed_regions, packed_tokens, np.arange(images), np.arange(len(owners)))


def made_negatives(dataset: Dataset, seed: int = 0) -> MinedNegatives:
    """Six negatives of each image and each text, drawn by chance."""
    random = np.random.default_rng(seed)
    positives = dataset.corpus.positives()
    texts, images = (
        np.stack([random.permutation(np.flatnonzero(~row))[:6] for row in side])
        for side in (positives, positives.T)
    )
    return MinedNegatives(texts, images, MiningSource("m", "s"))


def made_pictures(folder: Path, count: int) -> Path:
    """A new folder of small pictures of noise, called 0.png, 1.png, …"""
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(count):
        pixels = random.integers(0, 256, (30, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder
