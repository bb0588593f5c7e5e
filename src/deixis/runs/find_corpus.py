"""The corpus a recipe asks for: where it lies, which of its texts count, what is held out."""

from dataclasses import replace

from deixis.data.corpus import Corpus
from deixis.data.groundings.grounded_narrations import grounded_narrations
from deixis.data.groundings.phrase_corpus import phrase_corpus
from deixis.data.groundings.read_groundings import read_groundings
from deixis.data.labels_from_captions import label_by_words
from deixis.data.read_corpus import read_corpus
from deixis.data.simulated.scenes.write_scenes import write_scenes
from deixis.errors import RecipeError
from deixis.paths import cache_folder, expanded
from deixis.runs.advance import Advance
from deixis.runs.data_spec import DataSpec


def find_corpus(spec: DataSpec, advance: Advance) -> Corpus:
    """The corpus at the recipe's path, or the embedded one, drawn when it is not there yet."""
    if spec.corpus != "scenes":
        path = expanded(spec.corpus)
        if not spec.corpus or not path.exists():
            raise RecipeError(
                f"data.corpus is '{spec.corpus}', and nothing is there; unpack the corpus there or "
                "name your copy: data.corpus=PATH"
            )
        corpus = _chosen_texts(read_corpus(path), spec)
        return label_by_words(corpus, spec.label_words) if spec.label_words else corpus
    folder = cache_folder() / "scenes" / str(spec.size)

    def drawn(done: int, total: int) -> None:
        advance("drawing simulated scenes", done, total)

    scenes = read_corpus(write_scenes(folder, images=spec.size, progress=drawn))
    return _chosen_texts(scenes, spec)


def _chosen_texts(corpus: Corpus, spec: DataSpec) -> Corpus:
    """The texts the recipe asks for; narrations beside a captioned corpus are no captions."""
    if spec.texts in ("phrases", "grounded"):
        captions = corpus.captions()
        made = phrase_corpus if spec.texts == "phrases" else grounded_narrations
        return made(captions, read_groundings(corpus.root, captions))
    if spec.texts == "both":
        return corpus
    kept = corpus.narrated() if spec.texts == "narrations" else corpus.captions()
    if not corpus.texts:
        raise RecipeError(
            f"corpus '{corpus.name}' has pictures and no text; put metadata.jsonl beside them "
            "(file_name, captions), or let data.corpus name the table of captions itself"
        )
    if not kept.texts:
        other = "captions" if spec.texts == "narrations" else "narrations"
        raise RecipeError(
            f"corpus '{corpus.name}' has no {spec.texts} among its {len(corpus.texts)} texts; "
            f'use data.texts = "{other}"'
        )
    return kept


def with_holdout(corpus: Corpus, spec: DataSpec) -> Corpus:
    """Call the last training images by the validation split's name, when the recipe asks for it."""
    if not spec.holdout:
        return corpus
    if spec.val in corpus.splits:
        raise RecipeError(
            f"data.holdout would join images of '{spec.train}' to the split '{spec.val}', which "
            f"corpus '{corpus.name}' has; give data.val a name of its own"
        )
    training = [i for i, split in enumerate(corpus.splits) if split == spec.train]
    if spec.holdout >= len(training):
        raise RecipeError(f"data.holdout is {spec.holdout}, of {len(training)} training images")
    held = set(training[-spec.holdout :])
    splits = (spec.val if i in held else split for i, split in enumerate(corpus.splits))
    return replace(corpus, splits=tuple(splits))
