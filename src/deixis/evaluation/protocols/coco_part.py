"""A part of COCO's test split under its three judgements, restricted to the images at hand.

Such numbers compare models on the same part; they are no numbers of the split, whose galleries are
larger. Images are known by the number in their file's name; an image's texts must stand in the
order of their published ids, as COCO lists them.
"""

from dataclasses import replace
from hashlib import sha256
from pathlib import PurePosixPath

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.measures import both_ways, precision_measures, rank_measures
from deixis.evaluation.positive_ranks import places
from deixis.evaluation.protocols.coco_judgements import CocoTest
from deixis.evaluation.qrels import Qrels
from deixis.evaluation.result import Result

NAMES = {"original": "COCO, images at hand", "cxc": "CxC, images at hand"}
NAMES |= {"eccv": "ECCV Caption, images at hand"}


def judge_part(
    scores: Float[ndarray, "image text"], corpus: Corpus, whole: CocoTest
) -> dict[str, Result]:
    """Measure scores in the order of a corpus; positives that are not at hand are left out."""
    images = image_places(corpus, whole)
    texts = _text_places(corpus, images, whole)
    sha = sha256(np.concatenate([images, texts]).astype("<i8").tobytes()).hexdigest()[:16]
    found = {}
    for name, shown in NAMES.items():
        truth = whole.truth[name]
        i2t = places(scores, restricted(truth["i2t"], images, texts))
        t2i = places(scores.T, restricted(truth["t2i"], texts, images))
        found[shown] = Result(
            both_ways(*(rank_measures(p.best) | precision_measures(p) for p in (i2t, t2i))),
            shown,
            {"i2t": scores.shape[1], "t2i": scores.shape[0]},
            sha,
            {"i2t": i2t.best, "t2i": t2i.best},
        )
    return found


def judge_part_jointly(
    scores: Float[ndarray, "image text"], corpus: Corpus, whole: CocoTest
) -> Result:
    """All judgements as one result: the captions' own, CxC's and ECCV's measures beside them."""
    original, cxc, eccv = judge_part(scores, corpus, whole).values()
    beside = {"cxc": cxc, "eccv": eccv}
    named = {f"{n}_{key}": v for n, r in beside.items() for key, v in r.measures.items()}
    measures = original.measures | named
    return replace(original, measures=measures, owners=corpus.owners)


def restricted(
    qrels: Qrels, queries: Int[ndarray, " query"], items: Int[ndarray, " item"]
) -> Qrels:
    """The judgements among some queries and items, given by their places in the whole."""
    asked, found = _numbered(queries), _numbered(items)
    pairs = zip(qrels.queries[qrels.owners].tolist(), qrels.items.tolist(), strict=True)
    kept = [(asked[q], found[i]) for q, i in pairs if q in asked and i in found]
    return Qrels.of_pairs(np.array(kept, dtype=np.int64).reshape(-1, 2))


def image_places(corpus: Corpus, whole: CocoTest) -> Int[ndarray, " image"]:
    """The index of each image of a corpus in COCO's test split."""
    known = {identity: place for place, identity in enumerate(whole.image_ids.tolist())}
    found = []
    for file in corpus.files:
        stem = PurePosixPath(file).stem.rpartition("_")[2]
        if not stem.isdecimal() or int(stem) not in known:
            raise EvaluationError(f"{file} is not an image of COCO's test split, by its number")
        found.append(known[int(stem)])
    return np.array(found)


def _text_places(
    corpus: Corpus, images: Int[ndarray, " image"], whole: CocoTest
) -> Int[ndarray, " text"]:
    of_image = whole.truth["original"]["i2t"]
    starts, ends = of_image.starts, np.append(of_image.starts[1:], len(of_image.items))
    seen = np.zeros(len(images), dtype=np.int64)
    found = []
    for owner in corpus.owners.tolist():
        start, end = int(starts[images[owner]]), int(ends[images[owner]])
        if seen[owner] >= end - start:
            raise EvaluationError(f"{corpus.files[owner]} has more texts than COCO lists")
        found.append(of_image.items[start + seen[owner]])
        seen[owner] += 1
    return np.array(found)


def _numbered(places_of: Int[ndarray, " item"]) -> dict[int, int]:
    return {place: number for number, place in enumerate(places_of.tolist())}
