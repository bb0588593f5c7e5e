"""From what a recipe says of its data to datasets ready for training."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deixis.data.combined_datasets import joined
from deixis.data.corpus import Corpus
from deixis.data.corpus_features import image_features, text_features
from deixis.data.dataset import Dataset
from deixis.data.groundings.phrase_corpus import phrase_tokens
from deixis.data.regions import IndexedRegions, has_arrays, read_regions
from deixis.data.split_names import split_name
from deixis.errors import DataError, DeixisError, RecipeError
from deixis.features.backbones.backbone import (
    TextBackbone,
    image_backbone,
    text_source,
    vectors_of,
)
from deixis.features.backbones.hub_access import allow_hub
from deixis.features.backbones.precomputed import PrecomputedRegions
from deixis.features.places.phrase_inputs import SpannedText
from deixis.features.store.packed import PackedRegions, PackedTokens
from deixis.features.trace.narrated_tokens import narrated_pieces, narrated_tokens
from deixis.features.trace.narration import Narration
from deixis.features.words.vocabulary import Vocabulary
from deixis.features.words.word_vectors import WordVectors, word_vectors
from deixis.runs.advance import Advance, silent
from deixis.runs.attach_towers import tuned_sizes
from deixis.runs.data_spec import DataSpec
from deixis.runs.find_corpus import find_corpus, with_holdout
from deixis.runs.places.part_regions import parts_of_regions
from deixis.runs.run import Run
from deixis.types import Sizes


@dataclass(frozen=True)
class Prepared:
    """The splits a recipe names, with features, and what the features dictate."""

    splits: Mapping[str, Dataset]  # "train", "val" and "test", whatever the corpus calls them
    sizes: Sizes
    vocabulary: Vocabulary | None
    vectors: WordVectors | None = None  # what word vectors start from, when not random


def prepare(spec: DataSpec, advance: Advance, first: int = 0) -> Prepared:
    """Read the corpus, extract or find its features, cut it into splits.

    Only the ``first`` images of each split are used, where it is not 0.
    """
    for name in (spec.image, spec.text):
        allow_hub(name)
    corpus = with_holdout(find_corpus(spec, advance), spec)
    corpus = corpus.first(first) if first else corpus
    names = {"train": spec.train, "val": spec.val, "test": spec.test}
    return _prepared(corpus, names, spec, advance, first)


def prepare_corpus(
    corpus: Corpus, *, image: str = "lite0", text: str = "words", advance: Advance = silent
) -> Prepared:
    """Extract the features of a corpus and divide it into its splits; one must be called "train".

    ``image`` and ``text`` name backbones, as in recipes. Features are kept in the cache.

    ```python
    data = deixis.prepare(corpus, image="lite0", text="words")
    data.splits["train"], data.sizes, data.vocabulary
    ```
    """
    corpus = replace(corpus, splits=tuple(split_name(name) for name in corpus.splits))
    names = {name: name for name in ("train", *sorted({*corpus.splits} - {"train"}))}
    return _prepared(corpus, names, DataSpec(corpus="", image=image, text=text), advance)


def _prepared(
    corpus: Corpus, names: Mapping[str, str], spec: DataSpec, advance: Advance, first: int = 0
) -> Prepared:
    """The splits of a corpus with their features; ``names`` are their keys and the corpus' own."""
    train, *_ = [corpus.split(name) for name in names.values()]  # refuses a missing split
    corpus = corpus.keep(images=np.isin(corpus.splits, list(names.values())))
    backbone = text_source(spec.text).fit(train.texts)
    vocabulary = backbone if isinstance(backbone, Vocabulary) else None
    tokens = _tokens(backbone, spec, corpus, advance)
    placed = _placed(corpus, spec, names.values(), advance)
    _refuse_widths(spec, {name: regions for name, (regions, _) in placed.items()})
    splits = {
        key: _part(corpus, name, placed[name], tokens, spec.image) for key, name in names.items()
    }
    if spec.val_images:
        splits["val"] = splits["val"].keep(np.arange(len(splits["val"].images)) < spec.val_images)
    splits["train"] = _with_also(splits["train"], spec, vocabulary, advance, first)
    sizes = _sizes(splits["train"].regions, tokens, backbone.size, corpus)
    sizes = tuned_sizes(sizes, spec.image, spec.text)
    source = vectors_of(spec.text)
    vectors = word_vectors(source, vocabulary) if vocabulary and source else None
    return Prepared(splits, sizes, vocabulary, vectors)


def prepare_split(
    spec: DataSpec, name: str, vocabulary: Vocabulary | None, advance: Advance, first: int = 0
) -> Dataset:
    """One split with the features a trained run reads, its own vocabulary among them."""
    whole = with_holdout(find_corpus(spec, advance), spec)
    # The splits the run was trained with share one cache; any other split has its own.
    name, known = split_name(name), [spec.train, spec.val, spec.test]
    whole.split(name)  # refuses one that is not there
    whole = whole.keep(images=np.isin(whole.splits, known if name in known else [name]))
    whole = whole.first(first) if first else whole
    backbone = text_source(spec.text).fit([]) if vocabulary is None else vocabulary
    tokens = _tokens(backbone, spec, whole, advance)
    placed = _placed(whole, spec, [name], advance)[name]
    found = _part(whole, name, placed, tokens, spec.image)
    return _with_also(found, spec, vocabulary, advance, first) if name == spec.train else found


def _with_also(
    train: Dataset, spec: DataSpec, vocabulary: Vocabulary | None, advance: Advance, first: int
) -> Dataset:
    """Training images of the other corpora behind those of the first, all of them."""
    # Only their training images are read. A holdout is of the first corpus alone, and without it a
    # recipe that is chosen by and judged on it would name one split twice.
    alone = replace(spec, also=(), holdout=0, val="val", test="test")
    others = [replace(alone, corpus=path) for path in spec.also]
    if not others:
        return train
    rest = (prepare_split(other, spec.train, vocabulary, advance, first) for other in others)
    return joined([train, *rest])


def _tokens(
    backbone: TextBackbone, spec: DataSpec, corpus: Corpus, advance: Advance
) -> PackedTokens:
    """The texts of a corpus as the backbone reads them; narrations bring times and traces."""
    if corpus.phrases:
        return _phrases(backbone, spec, corpus, advance)
    narrated = bool(corpus.narrations)
    spoken = ((corpus.narrations.get(i), text) for i, text in enumerate(corpus.texts))
    narrations = [one or Narration(text) for one, text in spoken] if narrated else []
    if isinstance(backbone, Vocabulary):
        if not narrated:
            return backbone(corpus.texts)
        return narrated_tokens(narrations, backbone, spec.window)
    states = text_features(corpus.texts, backbone, spec.text, partial(advance, spec.text))
    if narrated and isinstance(backbone, SpannedText):
        spans = backbone.piece_spans(corpus.texts)
        return narrated_pieces(narrations, states, spans, spec.window)
    return states


def _phrases(
    backbone: TextBackbone, spec: DataSpec, corpus: Corpus, advance: Advance
) -> PackedTokens:
    if not isinstance(backbone, SpannedText):
        what = "phrases are read by 'minilm' or by the text tower of an 'hf:' model"
        raise RecipeError(f"data.text is '{spec.text}'; {what}")
    captions = find_corpus(replace(spec, texts="captions"), advance).texts

    def read(texts: Sequence[str]) -> PackedTokens:
        return text_features(texts, backbone, spec.text, partial(advance, spec.text))

    return phrase_tokens(corpus, captions, backbone, read)


def _placed(
    corpus: Corpus, spec: DataSpec, names: Iterable[str], advance: Advance
) -> dict[str, IndexedRegions]:
    """The regions of each split and its images' places among them."""
    image = spec.image
    if image == PrecomputedRegions.name and has_arrays(corpus):
        found = {name: read_regions(corpus.split(name)) for name in names}
    else:
        regions, places = image_features(corpus, image, partial(advance, image))
        found = {name: (regions, places[np.array(corpus.splits) == name]) for name in names}
    if not spec.parts_of:
        return found
    return {name: parts_of_regions(Run(spec.parts_of), *placed) for name, placed in found.items()}


def _part(
    corpus: Corpus, name: str, placed: IndexedRegions, tokens: PackedTokens, image: str
) -> Dataset:
    """One split; images without regions, because their pictures are broken, are left out."""
    regions, places = placed
    whole = np.diff(regions.offsets)[places] > 0
    images = np.array([split == name for split in corpus.splits])
    images[images] = whole
    if not images.any():
        raise DataError(f"no image of split '{name}' has features '{image}': {_why(corpus, image)}")
    texts = np.flatnonzero(images[corpus.owners])
    return Dataset(corpus.keep(images=images), regions, tokens, places[whole], texts)


def _why(corpus: Corpus, image: str) -> str:
    """Why the first image of a corpus has no features; all others are asked by the command."""
    try:
        image_backbone(image).read(corpus.source(0))
    except DeixisError as error:
        return str(error)
    return f"`deixis features {corpus.root} --image {image}` says why"


def _refuse_widths(spec: DataSpec, regions: Mapping[str, Any]) -> None:
    widths = {name: one.values.shape[1] for name, one in regions.items()}
    other = [name for name, width in widths.items() if width != widths[spec.train]]
    if other:
        raise DataError(
            f"regions of split '{spec.train}' have {widths[spec.train]} features, those of "
            f"'{other[0]}' {widths[other[0]]}; use features of one detector"
        )


def _sizes(regions: PackedRegions, tokens: PackedTokens, vocabulary: int, corpus: Corpus) -> Sizes:
    return Sizes(
        region=regions.values.shape[1],
        image=0 if regions.pooled is None else regions.pooled.shape[1],
        token=0 if tokens.values is None else tokens.values.shape[1],
        text=0 if tokens.pooled is None else tokens.pooled.shape[1],
        vocabulary=0 if corpus.phrases else vocabulary,  # a phrase is one vector, read whole
        labels=0 if corpus.labels is None else corpus.labels.shape[1],
    )
