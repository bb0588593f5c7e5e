"""How the score of a place was chosen: on held-out training photographs, the head as it is.

`python -m benchmarks.place_scores CORPUS RUN`: a corpus with human boxes (Flickr8k with
`groundings.jsonl`) and a packed run with a place head. Every phrase is pointed at; R@1 and R@10.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from deixis.data.groundings.read_groundings import read_groundings
from deixis.evaluation.places.drawn_regions import DRAWN, drawn_regions
from deixis.evaluation.places.places_result import rates
from deixis.evaluation.places.pointed_retrieval import PointedRetrieval
from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.features.backbones.backbone import text_source
from deixis.features.places.phrase_inputs import SpannedText, phrase_inputs
from deixis.recipes.pointing.judge_pointing import text_scores
from deixis.runs.advance import silent
from deixis.runs.find_corpus import find_corpus
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.places.take_place_head import dataset_cells
from deixis.runs.prepare import prepare_split
from deixis.runs.run import Run
from deixis.similarity.places.place_score import PlaceScore

HELD_OUT = "chosen-by"
TRIED = [
    PlaceScore(weight, floor=floor, spread=spread)
    for weight, floor, spread in (
        *((2.0, 0.2, 0.0), (3.0, 0.2, 0.0), (4.0, 0.2, 0.0)),
        *((2.0, 0.1, 0.6), (2.5, 0.1, 0.6), (3.0, 0.1, 0.6), (4.0, 0.1, 0.6)),
        *((3.0, 0.05, 0.6), (3.0, 0.2, 0.6), (3.0, 0.1, 0.5), (3.0, 0.1, 1.0)),
    )
]


def main(corpus: str, run: Path) -> None:
    if not (Path(corpus) / "groundings.jsonl").is_file():
        sys.exit(f"{corpus} has no groundings.jsonl; name a folder with Flickr8k and its boxes")
    found = _found(corpus, Run(run))
    ways = drawn_regions(found.asked)
    for score in TRIED:
        ranks = replace(found, score=score).ranks({name: ways[name] for name in DRAWN})
        each = (f"{name} {rates(own)[0]:.1f} {rates(own)[2]:.1f}" for name, own in ranks.items())
        print(f"w {score.weight:g} floor {score.floor:g} spread {score.spread:g}:", *each, sep="  ")


def _found(corpus: str, run: Run) -> PointedRetrieval:
    head = PlaceHead.read(run.path("places"))
    spec = replace(run.data, corpus=corpus, also=(), val=HELD_OUT, test="val", holdout=500)
    cells_spec = replace(spec, image=head.image, text=head.text)
    seen = prepare_split(cells_spec, HELD_OUT, None, silent)
    whole = find_corpus(cells_spec, silent)
    asked = PointedTexts.of(seen.corpus, read_groundings(whole.root, whole))
    backbone = text_source(head.text).fit([])
    assert isinstance(backbone, SpannedText)
    texts = [seen.corpus.texts[text] for text in asked.texts]
    phrases = head.phrases(phrase_inputs(texts, asked.spans(), backbone))
    scores = text_scores(run, prepare_split(spec, HELD_OUT, None, silent))
    return PointedRetrieval(
        asked, np.asarray(scores), dataset_cells(head, seen), phrases, head.score
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    main(sys.argv[1], Path(sys.argv[2]))
