"""How many pictures the text must recall for places to keep nearly all of their gain.

`python -m benchmarks.recall_depth CORPUS RUN`: a corpus with human boxes (Flickr8k with
`groundings.jsonl`) and a packed run with a place head. Queries are texts of `val`, pointed at from
memory (σ = 0.05); the gallery is `val` alone, then `val` and `train` together. Photographs of
`train` are distractors that the model has seen.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from numpy import ndarray

from deixis.data.batches.collate import regions_of
from deixis.data.dataset import Dataset
from deixis.data.groundings.read_groundings import read_groundings
from deixis.evaluation.places.drawn_regions import REMEMBERED, remembered
from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.features.places.phrase_inputs import phrase_inputs
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.runs.advance import silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.find_corpus import find_corpus
from deixis.runs.places.take_place_head import dataset_cells
from deixis.runs.prepare import prepare_split
from deixis.runs.run import Run
from deixis.runs.text_bank import Bank
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.places.place_ranking import recall_depth
from deixis.search.places.place_reader import PlaceReader

QUERIES, SHARE = 1_000, 0.99
RATES = (1, 5, 10)


def main(corpus: str, run: Path) -> None:
    if not (Path(corpus) / "groundings.jsonl").is_file():
        sys.exit(f"{corpus} has no groundings.jsonl; name a folder with Flickr8k and its boxes")
    reader = PlaceReader.of(run)
    if reader is None:
        sys.exit(f"{run} has no place head; name a packed run that has one")
    names = {"image": reader.head.image, "text": reader.head.text}
    spec = DataSpec(corpus, val="chosen-by", test="val", holdout=500, **names)
    val = prepare_split(spec, "val", None, silent)
    whole = find_corpus(spec, silent)
    asked = PointedTexts.of(val.corpus, read_groundings(whole.root, whole))
    chosen = np.sort(np.random.default_rng(0).permutation(len(asked))[:QUERIES])
    texts = [val.corpus.texts[text] for text in asked.texts]
    phrases = reader.head.phrases(phrase_inputs(texts, asked.spans(), reader.texts))
    regions = remembered(asked, REMEMBERED, np.random.default_rng(0))
    asking = load_encoder(run).encode_text([texts[q] for q in chosen]).vectors[:, 0]
    train = prepare_split(spec, "train", None, silent)
    for several in ([val], [val, train]):
        vectors = np.concatenate([_vectors(run, one) for one in several])
        cells = np.concatenate([dataset_cells(reader.head, one) for one in several])
        orders = []
        for row, query in enumerate(chosen):
            own = slice(asked.offsets[query], asked.offsets[query + 1])
            places = reader.score(cells, phrases[own], regions[own]).sum(axis=1)
            text = vectors @ asking[row]
            total = text + reader.score.temperature * places
            orders.append(_ranks(text, total, int(asked.images[query])))
        _print(len(vectors), np.array(orders))


def _vectors(run: Path, dataset: Dataset) -> ndarray:
    """The vectors a library would hold: of the images, and how popular each is."""
    pooled = dataset.regions.pooled
    assert pooled is not None
    own = np.asarray(pooled[dataset.images], dtype=np.float32)
    packed = PackedRegions(own, offsets_of([1] * len(own)), None, own)
    with torch.no_grad():
        seen = Run(run).matcher.model.image.eval()(regions_of(packed, np.arange(len(own))))
    images = seen.vectors[:, 0].numpy()
    popular = Bank.read(Run(run).path("bank")).popularity(images)
    return np.concatenate([images, -popular[:, None]], axis=1).astype(np.float32)


def _ranks(text: ndarray, total: ndarray, own: int) -> ndarray:
    """The rank of the own image when the text recalls 1, 2, 3 … images."""
    order = np.lexsort((np.arange(len(text)), -text))
    place = int(np.flatnonzero(order == own)[0])
    above = np.cumsum((total[order] >= total[own]) & (order != own)) + 1
    return np.where(np.arange(len(text)) >= place, above, place + 1)


def _print(size: int, ranks: ndarray) -> None:
    chosen = recall_depth(size)
    print(f"{size:,} pictures, {len(ranks):,} texts of val; the library recalls {chosen:,}")
    for k in RATES:
        found = 100 * (ranks <= k).mean(axis=0)  # by how many are recalled
        base, all_of_it = found[k - 1], found[-1]  # k recalled are the text's own first k
        least = 1 + int(np.flatnonzero(found - base >= SHARE * (all_of_it - base))[0])
        kept = 100 * (found[min(chosen, size) - 1] - base) / (all_of_it - base)
        print(
            f"  R@{k}: text {base:.1f}, all re-ordered {all_of_it:.1f}; {SHARE:.0%} of the gain "
            f"by re-ordering {least:,}; {chosen:,} keep {kept:.1f} %"
        )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(str(__doc__))
    main(sys.argv[1], Path(sys.argv[2]))
