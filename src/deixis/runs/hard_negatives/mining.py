"""Offline hard-negative mining: rank a training split with a trained model."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from deixis.data.batches.mined import OfflineSpec
from deixis.data.corpus import Corpus, split_sha
from deixis.data.dataset import Dataset
from deixis.data.negatives.mined_negatives import MANIFEST, MinedNegatives, MiningSource
from deixis.errors import DataError
from deixis.features.words.vocabulary import split_words
from deixis.methods.model import Model
from deixis.runs.advance import Advance, silent
from deixis.runs.embed_dataset import encode
from deixis.runs.hard_negatives.mining_state import MiningState
from deixis.runs.hard_negatives.mining_work import Count, Lists, MiningWork, mine_here
from deixis.runs.run import Run
from deixis.similarity.blocked.pair_scorer import pair_scorer

WIDER = 5  # times as many negatives a fast model recalls for a slow one
RESCORED = 4096  # pairs a slow model scores at once

# Ranks all of a work, here or elsewhere: lists of images' texts and of texts' images.
Miner = Callable[[MiningWork, MiningState, Count], tuple[Lists, Lists]]


@dataclass(frozen=True)
class MiningSummary:
    """Where the negatives were kept, and how many repeat a text of the image word for word."""

    folder: Path
    texts_per_image: int
    images_per_text: int
    model: str  # hash of the weights that scored
    split: str  # hash of the split that was ranked
    same_wording: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"folder": str(self.folder)}


def mine_to_disk(
    run: Run,
    spec: OfflineSpec,
    folder: Path | None = None,
    recall: Run | None = None,
    advance: Advance = silent,
    miner: Miner = mine_here,
) -> MiningSummary:
    """Mine with a run over its training split, beside the run unless a folder is named."""
    folder = folder or negatives_folder(run, spec)
    mined, corpus = mine_run(run, spec, folder, advance, recall, miner)
    return MiningSummary(
        folder,
        mined.texts.shape[1],
        mined.images.shape[1],
        mined.source.model,
        mined.source.split,
        len(same_wording(mined, corpus)),
    )


def mine(
    model: Model,
    dataset: Dataset,
    spec: OfflineSpec,
    source: MiningSource,
    folder: Path,
    advance: Count,
    miner: Miner = mine_here,
) -> MinedNegatives:
    """The hardest negatives of every image and every text; mined once, then read back.

    True matches are left out by the positives. A killed pass goes on from what it wrote down last.
    """
    if (folder / MANIFEST).exists():
        kept = MinedNegatives.load(folder)
        if kept.source != source:
            raise DataError(f"{folder} was mined by another model or from another split")
        return kept
    spec = _possible(spec, dataset)
    lengths, matches = (spec.texts, spec.images), dataset.corpus.pairs
    work = MiningWork.of(model.similarity, encode(model, dataset), lengths, matches)
    state = MiningState(folder, json.dumps([asdict(source), *lengths, work.single]))
    mined = MinedNegatives.write(folder, source, *miner(work, state, advance))
    state.remove()
    return mined


def mine_run(
    run: Run,
    spec: OfflineSpec,
    folder: Path,
    advance: Advance = silent,
    recall: Run | None = None,
    miner: Miner = mine_here,
) -> tuple[MinedNegatives, Corpus]:
    """Mine with a run over the split it was trained on, alone or after a faster run's recall."""
    model = run.matcher.model
    dataset = run.dataset(run.data.train, advance=advance)
    source = source_of(run.matcher.identity, dataset)
    if recall is None:
        mined = mine(model, dataset, spec, source, folder, partial(advance, "mining"), miner)
        return mined, dataset.corpus
    wider = replace(spec, texts=WIDER * spec.texts, images=WIDER * spec.images)
    wide, _ = mine_run(recall, wider, folder / "recalled", advance, miner=miner)
    mined = rescore(model, dataset, wide, spec, source)
    mined.save(folder)
    return mined, dataset.corpus


def negatives_folder(run: Run, spec: OfflineSpec) -> Path:
    """The default folder for negatives mined by a run."""
    return run.folder / f"negatives-{spec.texts}-{spec.images}"


def rescore(
    model: Model, dataset: Dataset, wide: MinedNegatives, spec: OfflineSpec, source: MiningSource
) -> MinedNegatives:
    """Keep of a fast model's longer lists what this slow one finds hardest.

    For cross-attention, which is too slow for every pair of a large split.
    """
    images, texts = encode(model, dataset)
    score = pair_scorer(model.similarity, images, texts)

    def kept(lists: Int[ndarray, "anchor hard"], k: int, *, of_images: bool) -> ndarray:
        out = np.empty((len(lists), min(k, lists.shape[1])), dtype=np.int64)
        height = max(1, RESCORED // lists.shape[1])
        for top in range(0, len(lists), height):
            some = np.asarray(lists[top : top + height], dtype=np.int64)
            anchor = np.repeat(np.arange(top, top + len(some)), some.shape[1])
            pair = (anchor, some.ravel()) if of_images else (some.ravel(), anchor)
            order = np.asarray(np.lexsort((some, -score(*pair).reshape(some.shape))))
            best = np.take_along_axis(some, order, axis=1)
            out[top : top + height] = best[:, : out.shape[1]]
        return out

    return MinedNegatives(
        kept(wide.texts, spec.texts, of_images=True),
        kept(wide.images, spec.images, of_images=False),
        source,
    )


def same_wording(negatives: MinedNegatives, corpus: Corpus) -> Int[ndarray, "pair 2"]:
    """Mined (image, text) pairs whose text says, word for word, what a text of the image says."""
    wording = {text: n for n, text in enumerate(dict.fromkeys(map(_plain, corpus.texts)))}
    said = np.array([wording[_plain(text)] for text in corpus.texts])
    image, text = corpus.pairs.T
    own = np.unique(image * len(wording) + said[text])
    mined = np.arange(len(negatives.texts))[:, None] * len(wording) + said[negatives.texts]
    row, place = np.nonzero(np.isin(mined, own))
    return np.stack([row, negatives.texts[row, place]], axis=1)


def _plain(text: str) -> str:
    return " ".join(split_words(text))


def source_of(identity: str, dataset: Dataset) -> MiningSource:
    """Who mines what: the model by its identity, the split by what it ranks."""
    return MiningSource(model=identity, split=split_sha(dataset.corpus))


def _possible(spec: OfflineSpec, dataset: Dataset) -> OfflineSpec:
    """No list is longer than the negatives of the anchor that has the fewest."""
    image, text = dataset.corpus.pairs.T
    images, texts = len(dataset.images), len(dataset.texts)
    fewest_texts = texts - int(np.bincount(image).max())
    fewest_images = images - int(np.bincount(text).max())
    if min(fewest_texts, fewest_images) < 1:
        raise DataError(f"corpus '{dataset.corpus.name}' has an item that matches everything")
    texts, images = min(spec.texts, fewest_texts), min(spec.images, fewest_images)
    return replace(spec, texts=texts, images=images)
