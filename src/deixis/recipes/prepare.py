"""From what a recipe says of its data to datasets ready for training."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.data.extracting import image_features, text_features
from deixis.data.read import read_corpus
from deixis.data.regions import Placed, has_arrays, read_regions
from deixis.data.scenes.write import write_scenes
from deixis.data.worded import labelled_by_words
from deixis.errors import DataError, RecipeError
from deixis.features.backbones import TextBackbone, text_source, vectors_of
from deixis.features.graph import cache_folder
from deixis.features.narrated import narrated_tokens
from deixis.features.packed import PackedRegions, PackedTokens
from deixis.features.precomputed import PrecomputedRegions
from deixis.features.vectors import WordVectors, word_vectors
from deixis.features.words import Vocabulary
from deixis.methods.matcher import Matcher
from deixis.methods.model import Sizes
from deixis.methods.tuning import tuned_sizes
from deixis.recipes.recipe import DataSpec
from deixis.registry import build_dataclass

Advance = Callable[[str, int, int], None]  # what is being done, how many are, of how many


@dataclass(frozen=True)
class Prepared:
    """The splits a recipe names, with features, and what the features dictate."""

    splits: Mapping[str, Dataset]  # "train", "val" and "test", whatever the corpus calls them
    sizes: Sizes
    vocabulary: Vocabulary | None
    vectors: WordVectors | None = None  # what word vectors start from, when not from chance


def prepare(spec: DataSpec, advance: Advance) -> Prepared:
    """Read the corpus, extract or find its features, cut it into splits."""
    corpus = _with_holdout(find_corpus(spec, advance), spec)
    names = {"train": spec.train, "val": spec.val, "test": spec.test}
    train = corpus.split(spec.train)
    corpus = corpus.keep(images=np.isin(corpus.splits, list(names.values())))
    backbone = text_source(spec.text).fit(train.texts)
    vocabulary = backbone if isinstance(backbone, Vocabulary) else None
    tokens = _tokens(backbone, spec, corpus, advance)
    placed = _placed(corpus, spec.image, names.values(), advance)
    splits = {key: _part(corpus, name, placed[name], tokens) for key, name in names.items()}
    sizes = _sizes(splits["train"].regions, tokens, backbone.size, corpus)
    sizes = tuned_sizes(sizes, spec.image, spec.text)
    source = vectors_of(spec.text)
    vectors = word_vectors(source, vocabulary) if vocabulary and source else None
    return Prepared(splits, sizes, vocabulary, vectors)


def prepare_for(run: Path, matcher: Matcher, corpus: str, split: str, advance: Advance) -> Dataset:
    """One split with the features a trained run reads; by default the one it was judged on."""
    record = json.loads((run / "recipe.json").read_text(encoding="utf-8"))["data"]
    spec = build_dataclass(DataSpec, record, str(run / "recipe.json"))
    if corpus:
        spec = replace(spec, corpus=corpus, holdout=0)
    name = split or spec.test
    whole = _with_holdout(find_corpus(spec, advance), spec)
    # The splits the run was trained with share one cache; any other split has its own.
    known = [spec.train, spec.val, spec.test]
    whole = whole.keep(images=np.isin(whole.splits, known if name in known else [name]))
    vocabulary = matcher.vocabulary
    backbone = text_source(spec.text).fit([]) if vocabulary is None else vocabulary
    tokens = _tokens(backbone, spec, whole, advance)
    return _part(whole, name, _placed(whole, spec.image, [name], advance)[name], tokens)


def find_corpus(spec: DataSpec, advance: Advance) -> Corpus:
    """The corpus at the recipe's path, or the embedded one, drawn when it is not there yet."""
    if spec.corpus != "scenes":
        path = Path(spec.corpus).expanduser()
        if not path.exists():
            raise RecipeError(f"data.corpus is '{spec.corpus}', and nothing is there")
        corpus = read_corpus(path)
        corpus = corpus.narrated() if spec.texts == "narrations" else corpus
        return labelled_by_words(corpus, spec.label_words) if spec.label_words else corpus
    folder = cache_folder() / "scenes" / str(spec.size)

    def drawn(done: int, total: int) -> None:
        advance("drawing simulated scenes", done, total)

    scenes = read_corpus(write_scenes(folder, images=spec.size, progress=drawn))
    return scenes.narrated() if spec.texts == "narrations" else scenes.captions()


def _with_holdout(corpus: Corpus, spec: DataSpec) -> Corpus:
    """Call the last training images by the validation split's name, when the recipe asks for it."""
    if not spec.holdout:
        return corpus
    training = [i for i, split in enumerate(corpus.splits) if split == spec.train]
    if spec.holdout >= len(training):
        raise RecipeError(f"data.holdout is {spec.holdout}, of {len(training)} training images")
    held = set(training[-spec.holdout :])
    splits = (spec.val if i in held else split for i, split in enumerate(corpus.splits))
    return replace(corpus, splits=tuple(splits))


def _tokens(
    backbone: TextBackbone, spec: DataSpec, corpus: Corpus, advance: Advance
) -> PackedTokens:
    """The texts of a corpus as the backbone reads them; narrations bring times and traces."""
    if not isinstance(backbone, Vocabulary):
        return text_features(corpus.texts, backbone, spec.text, partial(advance, spec.text))
    if len(corpus.narrations) < len(corpus.texts):
        return backbone(corpus.texts)
    told = [corpus.narrations[text] for text in range(len(corpus.texts))]
    return narrated_tokens(told, backbone, spec.window)


def _placed(
    corpus: Corpus, image: str, names: Iterable[str], advance: Advance
) -> dict[str, Placed]:
    """The regions of each split and its images' places among them; arrays may be one a split."""
    if image == PrecomputedRegions.name and has_arrays(corpus):
        return {name: read_regions(corpus.split(name)) for name in names}
    regions, places = image_features(corpus, image, partial(advance, image))
    return {name: (regions, places[np.array(corpus.splits) == name]) for name in names}


def _part(corpus: Corpus, name: str, placed: Placed, tokens: PackedTokens) -> Dataset:
    """One split; images without regions, because their pictures are broken, are left out."""
    regions, places = placed
    whole = np.diff(regions.offsets)[places] > 0
    images = np.array([split == name for split in corpus.splits])
    images[images] = whole
    if not images.any():
        raise DataError(f"not one image of split '{name}' has features; `deixis features` says why")
    texts = np.flatnonzero(images[corpus.owners])
    return Dataset(corpus.keep(images=images), regions, tokens, places[whole], texts)


def _sizes(regions: PackedRegions, tokens: PackedTokens, vocabulary: int, corpus: Corpus) -> Sizes:
    return Sizes(
        region=regions.values.shape[1],
        image=0 if regions.pooled is None else regions.pooled.shape[1],
        token=0 if tokens.values is None else tokens.values.shape[1],
        text=0 if tokens.pooled is None else tokens.pooled.shape[1],
        vocabulary=vocabulary,
        labels=0 if corpus.labels is None else corpus.labels.shape[1],
    )
