"""From what a recipe says of its data to datasets ready for training."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.dataset import Dataset
from deixis.data.read import read_corpus
from deixis.data.scenes.write import write_scenes
from deixis.errors import RecipeError
from deixis.features.backbones import TextBackbone, image_backbones, text_backbones
from deixis.features.extract import extract_images, extract_texts
from deixis.features.files import json_hash
from deixis.features.graph import cache_folder
from deixis.features.packed import PackedRegions, PackedTokens
from deixis.features.words import Vocabulary
from deixis.methods.matcher import Matcher
from deixis.methods.model import Sizes
from deixis.recipes.recipe import DataSpec
from deixis.registry import build_dataclass

Advance = Callable[[str, int, int], None]  # what is being done, how many are, of how many


@dataclass(frozen=True)
class Prepared:
    """The splits a recipe names, with features, and what the features dictate."""

    splits: Mapping[str, Dataset]  # "train", "val" and "test", whatever the corpus calls them
    sizes: Sizes
    vocabulary: Vocabulary | None


def prepare(spec: DataSpec, advance: Advance) -> Prepared:
    """Read the corpus, extract or find its features, cut it into splits."""
    corpus = _with_holdout(find_corpus(spec, advance), spec)
    names = {"train": spec.train, "val": spec.val, "test": spec.test}
    train = corpus.split(spec.train)
    corpus = corpus.keep(images=np.isin(corpus.splits, list(names.values())))
    source = text_backbones.build(spec.text, {})
    backbone = source.fit(train.texts)
    regions = _regions(spec.image, corpus, advance)
    vocabulary = backbone if isinstance(backbone, Vocabulary) else None
    tokens = vocabulary(corpus.texts) if vocabulary else _states(backbone, corpus.texts, advance)
    splits = {key: _part(corpus, name, regions, tokens) for key, name in names.items()}
    return Prepared(splits, _sizes(regions, tokens, backbone.size, corpus), vocabulary)


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
    backbone = text_backbones.build(spec.text, {}).fit([]) if vocabulary is None else vocabulary
    tokens = vocabulary(whole.texts) if vocabulary else _states(backbone, whole.texts, advance)
    return _part(whole, name, _regions(spec.image, whole, advance), tokens)


def find_corpus(spec: DataSpec, advance: Advance) -> Corpus:
    """The corpus at the recipe's path, or the embedded one, drawn when it is not there yet."""
    if spec.corpus != "scenes":
        path = Path(spec.corpus).expanduser()
        if not path.exists():
            raise RecipeError(f"data.corpus is '{spec.corpus}', and nothing is there")
        return read_corpus(path)
    folder = cache_folder() / "scenes" / str(spec.size)

    def drawn(done: int, total: int) -> None:
        advance("drawing simulated scenes", done, total)

    return read_corpus(write_scenes(folder, images=spec.size, progress=drawn)).captions()


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


def _regions(name: str, corpus: Corpus, advance: Advance) -> PackedRegions:
    backbone = image_backbones.build(name, {})
    files = [(file, (corpus.root / file).stat().st_size) for file in corpus.files]
    sha = json_hash(files)
    folder = cache_folder() / "features" / f"{sha[:16]}-{name}"
    paths = [corpus.root / file for file in corpus.files]
    return extract_images(backbone, paths, folder, sha, lambda d, n: advance(name, d, n))


def _states(backbone: TextBackbone, texts: Sequence[str], advance: Advance) -> PackedTokens:
    sha, name = json_hash(texts), backbone.name
    folder = cache_folder() / "features" / f"{sha[:16]}-{name}"
    return extract_texts(backbone, texts, folder, sha, lambda d, n: advance(name, d, n))


def _part(corpus: Corpus, name: str, regions: PackedRegions, tokens: PackedTokens) -> Dataset:
    images = np.array([split == name for split in corpus.splits])
    return Dataset(
        corpus.split(name),
        regions,
        tokens,
        np.flatnonzero(images),
        np.flatnonzero(images[corpus.owners]),
    )


def _sizes(regions: PackedRegions, tokens: PackedTokens, vocabulary: int, corpus: Corpus) -> Sizes:
    return Sizes(
        region=regions.values.shape[1],
        image=0 if regions.pooled is None else regions.pooled.shape[1],
        token=0 if tokens.values is None else tokens.values.shape[1],
        text=0 if tokens.pooled is None else tokens.pooled.shape[1],
        vocabulary=vocabulary,
        labels=0 if corpus.labels is None else corpus.labels.shape[1],
    )
