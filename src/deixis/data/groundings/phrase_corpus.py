"""Phrases as texts of their own: what a place head learns from."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deixis.data.corpus import Corpus
from deixis.data.groundings.groundings import Groundings
from deixis.data.groundings.placed_phrase import EdgeBox, PlacedPhrase
from deixis.errors import DataError
from deixis.features.places.phrase_inputs import CharSpan, Read, SpannedText, phrase_inputs
from deixis.features.store.packed import PackedTokens, PackedTrace, offsets_of


def phrase_corpus(corpus: Corpus, groundings: Groundings) -> Corpus:
    """The same images; their texts are the phrases of the captions that have human boxes."""
    found: list[PlacedPhrase] = []
    owners: list[int] = []
    grounded = groundings.of_corpus(corpus)
    for text, owner, phrases in zip(corpus.texts, corpus.owners.tolist(), grounded, strict=True):
        for phrase in phrases or ():
            if phrase.boxes:
                found.append(PlacedPhrase(text, phrase))
                owners.append(owner)
    if not found:
        raise DataError(f"corpus '{corpus.name}' has no phrase with a box")
    texts = np.arange(len(found))
    return replace(
        corpus,
        texts=tuple(one.words for one in found),
        owners=np.array(owners, dtype=np.int64),
        pairs=np.stack([np.array(owners, dtype=np.int64), texts], axis=1),
        narrations={},
        text_ids=None,
        phrases=tuple(found),
    )


def phrase_tokens(
    corpus: Corpus, captions: Sequence[str], backbone: SpannedText, read: Read
) -> PackedTokens:
    """The phrases of a corpus as a place head's input; boxes take the place of a trace.

    ``captions`` are all texts of the corpus, so that their states come from the same cache as those
    of a run that reads captions.
    """
    spans: dict[str, dict[CharSpan, int]] = {text: {} for text in captions}
    for one in corpus.phrases:
        spans[one.text].setdefault(one.span, 0)
    numbers = ((own, span) for own in spans.values() for span in own)
    for number, (own, span) in enumerate(numbers):
        own[span] = number
    places = {text: place for place, text in reversed(list(enumerate(captions)))}
    asked = [list(spans[text]) if places[text] == i else [] for i, text in enumerate(captions)]
    inputs = phrase_inputs(captions, asked, backbone, read)
    rows = [spans[one.text][one.span] for one in corpus.phrases]
    count = len(corpus.phrases)
    trace = _trace([one.phrase.boxes for one in corpus.phrases])
    ids = np.zeros(count, np.int64)  # phrases are read whole; no piece is looked up
    return PackedTokens(ids, np.arange(count + 1), pooled=inputs[rows], trace=trace)


def _trace(boxes: list[tuple[EdgeBox, ...]]) -> PackedTrace:
    edges = np.array([box for own in boxes for box in own], np.float32).reshape(-1, 4)
    areas = (edges[:, 1] - edges[:, 0]) * (edges[:, 3] - edges[:, 2])
    offsets = offsets_of([len(own) for own in boxes])
    times, words = np.zeros((len(edges), 2), np.float32), np.zeros(len(edges), np.int64)
    return PackedTrace(np.concatenate([edges, areas[:, None]], axis=1), times, words, offsets)
