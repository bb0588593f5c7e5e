"""Does it help to say where a thing was *not*? Text alone, "not here" and "here", side by side.

`python -m benchmarks.not_here CORPUS RUN`: a corpus with human boxes (Flickr8k with
`groundings.jsonl`) and a packed run with a place head. One phrase per text is asked about whose
place, remembered with σ = 0.05, its mirror image does not touch: "here" points at the place, "not
here" at the mirror image. R@1 / 5 / 10 on the 500 held-out training photographs, by weight, and on
`val`.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy import ndarray

from deixis.data.groundings.read_groundings import read_groundings
from deixis.evaluation.places.drawn_regions import REMEMBERED, mirror_regions, remembered
from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.features.backbones.backbone import text_source
from deixis.features.places.phrase_inputs import SpannedText, phrase_inputs
from deixis.recipes.pointing.judge_pointing import text_scores
from deixis.runs.advance import silent
from deixis.runs.find_corpus import find_corpus
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.places.take_place_head import dataset_cells, take_place_head
from deixis.runs.prepare import prepare_split
from deixis.runs.run import Run
from deixis.similarity.places.place_score import log_mean_exp, place_maps

WEIGHTS = (0.25, 0.5, 1.0, 2.0)
TOUCHING = 0.1  # share of the mirrored place that may lie in the place itself
LEAST = -2.0  # what a phrase counts at least where it is absent
RATES = (1, 5, 10)


@dataclass(frozen=True)
class Asked:
    """One text with the phrase that is pointed at."""

    image: int
    text: ndarray  # scores of every picture
    map: ndarray  # of every picture
    place: ndarray
    mirrored: ndarray


def main(corpus: str, run: Path) -> None:
    packed = Run(run)
    head = take_place_head(packed)
    for split in ("chosen-by", "val"):
        asked = list(_asked(corpus, packed, head, split))
        print(f"{split}: {len(asked):,} texts")
        _print("text alone", [_rank(one, one.text) for one in asked])
        for weight in WEIGHTS:
            _print(f"not here × {weight:g}", [_not_here(one, weight) for one in asked])
        _print("here", [_here(one, head) for one in asked])


def _asked(corpus: str, run: Run, head: PlaceHead, split: str) -> Iterator[Asked]:
    spec = replace(run.data, corpus=corpus, also=(), val="chosen-by", test="val", holdout=500)
    cells_spec = replace(spec, image=head.image, text=head.text)
    seen = prepare_split(cells_spec, split, None, silent)
    whole = find_corpus(cells_spec, silent)
    texts = PointedTexts.of(seen.corpus, read_groundings(whole.root, whole))
    backbone = text_source(head.text).fit([])
    assert isinstance(backbone, SpannedText)
    said = [seen.corpus.texts[text] for text in texts.texts]
    phrases = head.phrases(phrase_inputs(said, texts.spans(), backbone))
    cells = dataset_cells(head, seen)
    scores = text_scores(run, prepare_split(spec, split, None, silent)) / head.score.temperature
    places = remembered(texts, REMEMBERED, np.random.default_rng(0))
    mirrored = mirror_regions(places)
    apart = (mirrored * (places > 0)).sum(axis=1) < TOUCHING
    for query in range(len(texts)):
        own = np.arange(texts.offsets[query], texts.offsets[query + 1])
        for phrase in own[apart[own]][:1]:
            maps = place_maps(cells, phrases[phrase : phrase + 1])[:, 0]
            text = scores[:, texts.texts[query]]
            image = int(texts.images[query])
            yield Asked(image, text, maps, places[phrase], mirrored[phrase])


def _not_here(one: Asked, weight: float) -> int:
    found = one.map @ one.mirrored - log_mean_exp(one.map)
    return _rank(one, one.text - weight * np.maximum(found, LEAST))


def _here(one: Asked, head: PlaceHead) -> int:
    return _rank(one, one.text + head.score.of_maps(one.map[:, None], one.place[None])[:, 0])


def _rank(one: Asked, scores: ndarray) -> int:
    return int((scores >= scores[one.image]).sum())


def _print(name: str, ranks: list[int]) -> None:
    found = " / ".join(f"{100 * (np.array(ranks) <= k).mean():.1f}" for k in RATES)
    print(f"  {name}: {found}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    main(sys.argv[1], Path(sys.argv[2]))
