"""Runtimes that two supplements print, beside ours at their sizes: CAMP's table 1, DivE's B.1.

Embedding is not counted, as there. Slow scores are timed on some texts, one by one, and multiplied;
the ratios are what can be compared: the papers' seconds are of their GPUs, ours of one core.
"""

import numpy as np
import torch
from numpy import ndarray

from benchmarks import attention
from benchmarks.harness import Figure, interleaved
from deixis.evaluation.probes.scoring_cost import Scoring, measure_costs
from deixis.evaluation.reranking.two_models import merged, shortlist
from deixis.heads.l2_normalise import l2_normalise
from deixis.similarity.blocked.pair_scorer import pair_scorer
from deixis.similarity.camp_fusion import GatedFusion
from deixis.similarity.scan_attention import CrossAttention
from deixis.similarity.set_similarity import SmoothChamfer
from deixis.similarity.similarity import Cosine, Similarity
from deixis.types import Embedding

TEST, VAL = (1_000, 5_000), (1_014, 5_070)  # images and texts of Flickr30K
PARTS = 4
CAMP_TEXTS, SCAN_TEXTS = 4, 100  # how many texts the slow scores are timed on
TINY = {"TEST": (10, 20), "VAL": (10, 20), "CAMP_TEXTS": 2, "SCAN_TEXTS": 4}

# CAMP 2019, table 1: milliseconds per query, seconds for the split; eight GTX-1080, PyTorch 0.3.1.
CAMP_PAPER = {"Base": (0.61, 3.387), "CAMP": (87.24, 263.497), "re-ranking 10 %": (4.85, 13.164)}
# DivE 2023, B.1: milliseconds for the split with its best tens, and operations over VSE∞'s.
DIVE_PAPER = {"VSE∞": (159, 1), "DivE": (168, 16), "SCAN": (198_121, 1280)}


def figures() -> list[Figure]:
    torch.manual_seed(0)
    return [*camp_figures(), *dive_figures()]


def camp_figures() -> list[Figure]:
    images, texts = attention.gallery(TEST[0], CAMP_TEXTS)
    camp = GatedFusion(attention.DIM, "sum", attend=True, squash=False)
    fast = vectors(TEST[0], 1), vectors(TEST[1], 1)
    with torch.no_grad():
        base, whole, full, short = interleaved(
            1,
            lambda: [Cosine()(fast[0], fast[1].rows(slice(t, t + 1))) for t in range(len(texts))],
            lambda: Cosine()(*fast),
            lambda: [camp(images, texts.rows(slice(t, t + 1))) for t in range(len(texts))],
            lambda: [reranked(camp, images, texts, fast, t) for t in range(len(texts))],
        )
    timed = zip(CAMP_PAPER, (base, full, short), strict=True)
    query = {name: work.seconds / len(texts) for name, work in timed}
    split = {name: seconds * TEST[1] for name, seconds in query.items()}
    split["Base"] = whole.seconds
    return [*queries(query), *splits(split)]


def reranked(
    camp: GatedFusion,
    images: Embedding,
    texts: Embedding,
    fast: tuple[Embedding, Embedding],
    text: int,
) -> ndarray:
    """One text asks: a vector per picture ranks all, CAMP the best tenth."""
    scores = Cosine()(fast[0], fast[1].rows(slice(text, text + 1))).numpy().T
    chosen = shortlist(scores, 0.1)
    image = np.flatnonzero(chosen)
    slow = np.zeros(scores.shape)
    slow[0, image] = pair_scorer(camp, images, texts)(image, np.full_like(image, text))
    return merged(scores, slow, chosen).argsort(axis=1)


def queries(found: dict[str, float]) -> list[Figure]:
    papers = {name: per_query for name, (per_query, _) in CAMP_PAPER.items()}
    return [
        Figure(
            f"{name}: a query against {TEST[0]:,} images, in queries of Base",
            seconds / found["Base"],
            None,
            detail=f"{1000 * seconds:.2f} ms; the paper {papers[name]} ms, "
            f"{papers[name] / papers['Base']:.1f} ×",
        )
        for name, seconds in found.items()
    ]


def splits(found: dict[str, float]) -> list[Figure]:
    papers = {name: per_split for name, (_, per_split) in CAMP_PAPER.items()}
    return [
        Figure(
            f"{name}: {TEST[1]:,} queries, share of CAMP's time",
            100 * seconds / found["CAMP"],
            None,
            unit="%",
            detail=f"{seconds:.2f} s; the paper {papers[name]} s, "
            f"{100 * papers[name] / papers['CAMP']:.1f} %",
        )
        for name, seconds in found.items()
    ]


def dive_figures() -> list[Figure]:
    some = attention.gallery(VAL[0], SCAN_TEXTS)
    scorings: dict[str, tuple[Similarity, Embedding, Embedding]] = {
        "VSE∞": (Cosine(), vectors(VAL[0], 1), vectors(VAL[1], 1)),
        "DivE": (SmoothChamfer(16.0), vectors(VAL[0], PARTS), vectors(VAL[1], PARTS)),
        "SCAN": (CrossAttention("t2i", 9.0, "lse", 6.0), *some),
    }
    asked = {name: Scoring(*given) for name, given in scorings.items()}
    counted = measure_costs(asked, repeats=1)  # its seconds include waiting for other programs
    with torch.no_grad():
        timed = interleaved(1, *(one.run for one in asked.values()))
    pairs = VAL[0] * VAL[1]
    costs = {}
    for name, work in zip(asked, timed, strict=True):
        times = pairs / counted[name].pairs
        costs[name] = work.seconds * times, counted[name].flops * times
    first = costs["VSE∞"]
    out = []
    for name, (latency, operations) in DIVE_PAPER.items():
        seconds, flops = costs[name]
        paper = f"the paper {latency:,} ms, {latency / DIVE_PAPER['VSE∞'][0]:,.2f} ×"
        title = f"{name}: {VAL[0]:,} × {VAL[1]:,} and the best 10 of each"
        out += [
            Figure(
                f"{title}, in times of VSE∞",
                seconds / first[0],
                None,
                detail=f"{1000 * seconds:,.0f} ms; {paper}",
            ),
            Figure(
                f"{name}: operations over VSE∞'s",
                flops / first[1],
                None,
                detail=f"the paper {operations:,}",
            ),
        ]
    return out


def vectors(items: int, parts: int) -> Embedding:
    found = l2_normalise(torch.randn(items, parts, attention.DIM))
    return Embedding(found, torch.ones(items, parts, dtype=torch.bool))
