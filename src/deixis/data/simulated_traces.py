"""Simulated traces for captioned photographs: a pointer that circles what a caption names.

Where a noun is seen is decided by a classifier of its own, never by the model that is trained or
judged with the traces. Nobody drew them: whatever is measured with them is called simulated.
"""

from collections.abc import Callable, Iterator

import numpy as np

from deixis.data.circling import Visit, circle
from deixis.data.corpus import Corpus
from deixis.data.narratives import Narrative
from deixis.data.noun_places import NounPlaces, region_rows
from deixis.data.nouns import common_nouns
from deixis.data.regions import Placed
from deixis.features.narration import Narration, TimedWord
from deixis.features.timing import PACE
from deixis.features.words import split_words

SIMULATED = "simulated"  # the source these narratives name
LEAST_USES = 60  # of a noun in the training texts

Progress = Callable[[int, int], None]


def noun_places(corpus: Corpus, placed: Placed, train: str, least: int = LEAST_USES) -> NounPlaces:
    """Learn where nouns are seen from the training split alone."""
    regions, places = placed
    inside = np.array(corpus.splits) == train
    learnt = corpus.split(train)
    nouns = common_nouns(learnt.texts, least)
    return NounPlaces.fit(learnt, (regions, places[inside]), nouns)


def simulated_traces(
    corpus: Corpus, placed: Placed, pointer: NounPlaces, each: int, progress: Progress
) -> Iterator[Narrative]:
    """The first captions of every image as narrations with a trace; the same every time."""
    regions, places = placed
    told = np.zeros(len(corpus.files), dtype=np.int64)
    for text, owner in enumerate(corpus.owners.tolist()):
        if told[owner] >= each:
            continue
        told[owner] += 1
        seen = {
            noun: pointer.box(*region_rows(regions, int(places[owner])), noun)
            for noun in split_words(corpus.texts[text])
            if noun in pointer.nouns
        }
        narration = _told(corpus.texts[text], seen, np.random.default_rng(text))
        yield Narrative(corpus.files[owner], narration, SIMULATED)
        progress(int(told.sum()), each * len(told))


def _told(text: str, seen: dict[str, np.ndarray | None], rng: np.random.Generator) -> Narration:
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
