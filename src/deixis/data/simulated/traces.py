"""Simulated traces for captioned photographs: a pointer that circles what a caption names.

Where a noun is seen is decided by a classifier of its own, never by the model that is trained or
judged with the traces. Nobody drew them: whatever is measured with them is called simulated.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.corpus_features import image_features
from deixis.data.formats.narratives.localized_narratives import Narrative, narrative_record
from deixis.data.read_corpus import read_corpus
from deixis.data.regions import IndexedRegions
from deixis.data.simulated.noun_places import NounPlaces, region_rows
from deixis.data.simulated.nouns import common_nouns
from deixis.data.simulated.pointer import Visit, circle
from deixis.features.trace.narration import Narration, TimedWord
from deixis.features.trace.word_times import PACE
from deixis.features.words.vocabulary import split_words
from deixis.files import write_atomic

SIMULATED = "simulated"  # the source these narratives name
LEAST_USES = 60  # of a noun in the training texts

Progress = Callable[[int, int], None]
Advance = Callable[[str, int, int], None]  # what is being done, how many are done, of how many


def write_traces(
    path: Path, target: Path | None, image: str, each: int, train: str, advance: Advance
) -> Path:
    """Write simulated traces for the captions of a corpus, by default beside them.

    ``image`` names the features in which nouns are looked for, ``each`` how many captions per
    image get a trace, ``train`` the split nouns are learnt from.
    """
    corpus = read_corpus(path).captions()
    target = target or corpus.root / "narratives_simulated.jsonl"
    placed = image_features(corpus, image, partial(advance, image))
    pointer = noun_places(corpus, placed, train)
    traced = simulated_traces(corpus, placed, pointer, each, partial(advance, "pointing"))
    lines = [json.dumps(narrative_record(one), ensure_ascii=False) for one in traced]
    write_atomic(target, "".join(f"{line}\n" for line in lines).encode())
    return target


def noun_places(
    corpus: Corpus, placed: IndexedRegions, train: str, least: int = LEAST_USES
) -> NounPlaces:
    """Learn where nouns are in pictures from the training split only."""
    regions, places = placed
    inside = np.array(corpus.splits) == train
    learnt = corpus.split(train)
    nouns = common_nouns(learnt.texts, least)
    return NounPlaces.fit(learnt, (regions, places[inside]), nouns)


def simulated_traces(
    corpus: Corpus, placed: IndexedRegions, pointer: NounPlaces, each: int, progress: Progress
) -> Iterator[Narrative]:
    """The first captions of every image as narrations with a trace; the same every time."""
    regions, places = placed
    narrated = np.zeros(len(corpus.files), dtype=np.int64)
    for text, owner in enumerate(corpus.owners.tolist()):
        if narrated[owner] >= each:
            continue
        narrated[owner] += 1
        seen = {
            noun: pointer.box(*region_rows(regions, int(places[owner])), noun)
            for noun in split_words(corpus.texts[text])
            if noun in pointer.nouns
        }
        narration = _narration_of(corpus.texts[text], seen, np.random.default_rng(text))
        yield Narrative(corpus.files[owner], narration, SIMULATED)
        progress(int(narrated.sum()), each * len(narrated))


def _narration_of(
    text: str, seen: dict[str, np.ndarray | None], rng: np.random.Generator
) -> Narration:
    """A caption at an even pace, and a stroke around each noun while it is said."""
    words = split_words(text)
    timed = tuple(TimedWord(w, i * PACE, (i + 1) * PACE) for i, w in enumerate(words))
    visits = []
    for place, word in enumerate(words):
        box = seen.get(word)
        if box is not None:
            xmin, xmax, ymin, ymax = box.tolist()
            middle, size = ((xmin + xmax) / 2, (ymin + ymax) / 2), (xmax - xmin, ymax - ymin)
            visits.append(Visit(middle, size, max(0, place - 1) * PACE, (place + 1) * PACE))
    return Narration(text, timed, (circle(visits, rng),) if visits else ())
