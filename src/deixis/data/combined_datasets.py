"""Datasets of several corpora as one, to train on together."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.errors import DataError
from deixis.features.store.packed import PackedRegions, PackedTokens

P = TypeVar("P", PackedRegions, PackedTokens)


def joined(datasets: Sequence[Dataset]) -> Dataset:
    """Images and captions of all, in order; no text of one belongs to an image of another."""
    images = np.cumsum([0, *(len(one.regions) for one in datasets[:-1])])
    texts = np.cumsum([0, *(len(one.tokens) for one in datasets[:-1])])
    return Dataset(
        _corpora([one.corpus for one in datasets]),
        _packed([one.regions for one in datasets], PackedRegions),
        _packed([one.tokens for one in datasets], PackedTokens),
        np.concatenate([one.images + by for one, by in zip(datasets, images, strict=True)]),
        np.concatenate([one.texts + by for one, by in zip(datasets, texts, strict=True)]),
    )


def _corpora(corpora: Sequence[Corpus]) -> Corpus:
    root = Path(os.path.commonpath([corpus.root.absolute() for corpus in corpora]))
    images = np.cumsum([0, *(len(corpus.files) for corpus in corpora[:-1])])
    texts = np.cumsum([0, *(len(corpus.texts) for corpus in corpora[:-1])])
    moved = list(zip(corpora, images, texts, strict=True))
    return replace(
        corpora[0],
        name="+".join(corpus.name for corpus in corpora),
        root=root,
        files=tuple(
            (corpus.root.absolute() / file).relative_to(root).as_posix()
            for corpus in corpora
            for file in corpus.files
        ),
        texts=tuple(text for corpus in corpora for text in corpus.texts),
        owners=np.concatenate([corpus.owners + image for corpus, image, _ in moved]),
        pairs=np.concatenate([corpus.pairs + [image, text] for corpus, image, text in moved]),
        splits=tuple(split for corpus in corpora for split in corpus.splits),
        labels=None,
        label_names=(),
        narrations={},
        twins=None,
        image_ids=None,
        text_ids=None,
        phrases=(),
    )


def _packed(packs: Sequence[P], kind: type[P]) -> P:
    """All packs as one; what one of them lacks, none has."""
    if any(getattr(one, "trace", None) is not None for one in packs):
        raise DataError("corpora with traces cannot be joined; train on one of them")
    own: list[ndarray] = [np.asarray(one.offsets) for one in packs]
    starts: ndarray = np.cumsum([0, *(int(offsets[-1]) for offsets in own)])
    moved: list[ndarray] = [offsets[:-1] + by for offsets, by in zip(own, starts, strict=False)]
    fields: dict[str, Any] = {"offsets": np.concatenate([*moved, starts[-1:]])}
    for name in ("values", "boxes", "pooled", "ids"):
        arrays = [array for one in packs if (array := getattr(one, name, None)) is not None]
        if len(arrays) == len(packs):
            fields[name] = np.concatenate(arrays)
    return kind(**fields)
