"""Rank a whole training split by a trained model and keep what it mistakes for matches."""

import io
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.data.negatives import MANIFEST, Negatives, Source
from deixis.data.offline import OfflineSpec
from deixis.errors import DataError
from deixis.evaluation.encode import encode
from deixis.evaluation.evaluate import split_sha
from deixis.evaluation.rerank import scorer
from deixis.features.files import write_atomic
from deixis.features.words import split_words
from deixis.methods.matcher import load
from deixis.methods.model import Model
from deixis.recipes.prepare import prepare_for
from deixis.similarity.best import Best
from deixis.similarity.blocks import block_shape, score_blocks
from deixis.types import Embedding

BLOCK = 32 * 2**20  # bytes of scores at once: they stay near the processor
WIDER = 5  # times as many negatives a fast model recalls for a slow one
RESCORED = 4096  # pairs a slow model scores at once
STATE = "state.npz"
SAVE_EVERY = 30.0  # seconds between two states on disk

Advance = Callable[[int, int], None]  # images done, of how many
Told = Callable[[str, int, int], None]  # the same, with what is being done


def mine(
    model: Model,
    dataset: Dataset,
    spec: OfflineSpec,
    source: Source,
    folder: Path,
    advance: Advance,
) -> Negatives:
    """The hardest negatives of every image and every text; mined once, then read back.

    Both directions come from one pass over blocks of scores, true matches left out by the
    positives. A killed pass goes on from the last strip of images it wrote down.
    """
    if (folder / MANIFEST).exists():
        kept = Negatives.load(folder)
        if kept.source != source:
            raise DataError(f"{folder} was mined by another model or from another split")
        return kept
    embedded = encode(model, dataset)
    pass_ = _Pass(model, dataset, _possible(spec, dataset), source, folder)
    texts_of, images_of = pass_.run(*embedded, advance)
    mined = Negatives(texts_of.nearest().items, images_of.nearest().items, source)
    mined.save(folder)
    (folder / STATE).unlink(missing_ok=True)
    return mined


def mine_run(
    run: Path, spec: OfflineSpec, folder: Path, advance: Told, recall: Path | None = None
) -> tuple[Negatives, Corpus]:
    """Mine with a run over the split it was trained on, alone or after a faster run's recall."""
    matcher = load(run)
    train = json.loads((run / "recipe.json").read_text(encoding="utf-8"))["data"]["train"]
    dataset = prepare_for(run, matcher, "", train, advance)
    source = source_of(matcher.identity, dataset)
    told = partial(advance, "mining")
    if recall is None:
        return mine(matcher.model, dataset, spec, source, folder, told), dataset.corpus
    wider = replace(spec, texts=WIDER * spec.texts, images=WIDER * spec.images)
    wide, _ = mine_run(recall, wider, folder / "recalled", advance)
    mined = rescore(matcher.model, dataset, wide, spec, source)
    mined.save(folder)
    return mined, dataset.corpus


def rescore(
    model: Model, dataset: Dataset, wide: Negatives, spec: OfflineSpec, source: Source
) -> Negatives:
    """Keep of a fast model's longer lists what this slow one finds hardest.

    The way for cross-attention, which cannot meet every pair of a large split.
    """
    images, texts = encode(model, dataset)
    score = scorer(model.similarity, images, texts)

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

    return Negatives(
        kept(wide.texts, spec.texts, of_images=True),
        kept(wide.images, spec.images, of_images=False),
        source,
    )


def same_wording(negatives: Negatives, corpus: Corpus) -> Int[ndarray, "pair 2"]:
    """Mined (image, text) pairs whose text says, word for word, what a text of the image says."""
    wording = {text: n for n, text in enumerate(dict.fromkeys(map(_plain, corpus.texts)))}
    said = np.array([wording[_plain(text)] for text in corpus.texts])
    image, text = corpus.pairs.T
    own = np.unique(image * len(wording) + said[text])
    told = np.arange(len(negatives.texts))[:, None] * len(wording) + said[negatives.texts]
    row, place = np.nonzero(np.isin(told, own))
    return np.stack([row, negatives.texts[row, place]], axis=1)


def _plain(text: str) -> str:
    return " ".join(split_words(text))


def source_of(identity: str, dataset: Dataset) -> Source:
    """Who mines what: the model by its identity, the split by what it ranks."""
    return Source(model=identity, split=split_sha(dataset.corpus))


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


@dataclass(frozen=True)
class _Pass:
    """One pass over all blocks, strip of images by strip of images."""

    model: Model
    dataset: Dataset
    spec: OfflineSpec
    source: Source
    folder: Path

    @torch.no_grad()
    def run(self, images: Embedding, texts: Embedding, advance: Advance) -> tuple[Best, Best]:
        """The best negatives of both sides."""
        texts_of = Best(len(images), len(texts), self.spec.texts)
        images_of = Best(len(texts), len(images), self.spec.images)
        done = self._resume(texts_of, images_of)
        pairs_at_once = BLOCK // self.model.similarity.bytes_a_pair(images, texts)
        height, _ = block_shape(len(images), len(texts), max(1, pairs_at_once))
        saved = time.monotonic()
        for top in range(done, len(images), height):
            strip = images.rows(slice(top, top + height))
            for here, there, block in score_blocks(self.model.similarity, strip, texts, BLOCK):
                rows = slice(top + here.start, top + here.stop)
                scores = block.float().numpy(force=True)
                self._hide_matches(scores, rows, there)
                texts_of.see(scores, rows, there.start)
                images_of.see(scores.T, there, rows.start)
            advance(top + len(strip), len(images))
            if time.monotonic() - saved > SAVE_EVERY:
                self._save(texts_of, images_of, top + len(strip))
                saved = time.monotonic()
        return texts_of, images_of

    def _hide_matches(
        self, scores: Float[ndarray, "image text"], here: slice, there: slice
    ) -> None:
        """True matches lose to everything; there are always enough negatives before them."""
        image, text = self.dataset.corpus.pairs.T
        inside = (image >= here.start) & (image < here.stop)
        inside &= (text >= there.start) & (text < there.stop)
        scores[image[inside] - here.start, text[inside] - there.start] = -np.inf

    def _task(self) -> str:
        return json.dumps([asdict(self.source), self.spec.texts, self.spec.images])

    def _save(self, texts_of: Best, images_of: Best, done: int) -> None:
        content = io.BytesIO()
        task = np.array(self._task())
        np.savez(content, texts=texts_of.keys[:done], images=images_of.keys, task=task)
        write_atomic(self.folder / STATE, content.getvalue())

    def _resume(self, texts_of: Best, images_of: Best) -> int:
        """Take up what an earlier life wrote down, when it was doing the same."""
        path = self.folder / STATE
        if not path.exists():
            return 0
        with np.load(path, allow_pickle=False) as state:
            if state["task"].item() != self._task():
                return 0
            done = len(state["texts"])
            texts_of.keys[:done] = state["texts"]
            images_of.keys[:] = state["images"]
        return done
