"""Searching 100,000 pictures of four vectors each: recalled in eight bits, scored exactly.

Sets lie around hidden topics, so that the best ten are near each other, as with real ones.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy import ndarray

from benchmarks.harness import Figure, interleaved
from benchmarks.search import times
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.index.two_stage import TwoStageRanking

SETS, PARTS, DIM, SHARPNESS, K = 100_000, 4, 512, 16.0, 10
ASKED, TOGETHER = 1_000, 25  # queries recall is measured on, and how many are judged at once
SOME = 5_000  # sets made or judged at once
TIE = 1e-6  # scores that differ by less are equal in float32
TINY = {"SETS": 3_000, "DIM": 16, "ASKED": 6, "TOGETHER": 3}


def figures() -> list[Figure]:
    random = np.random.default_rng(0)
    topics = random.standard_normal((max(1, SETS // 20), PARTS, DIM), dtype=np.float32)
    sets = made_sets(topics, random)
    rows = sets.reshape(-1, DIM)
    live = PARTS * np.arange(SETS), np.full(SETS, PARTS)
    asked = topics[random.integers(0, len(topics), ASKED)]
    queries = unit(asked + random.standard_normal(asked.shape, dtype=np.float32))
    model = Chamfer()
    ranking, allowed = TwoStageRanking(rows, live, model), np.ones(len(rows), dtype=bool)
    ours, exact, passes = interleaved(
        7,
        lambda: ranking.best(queries[:1], K, allowed),
        lambda: best_of_all(model, queries[0], sets),
        lambda: [rows @ part for part in queries[0]],
    )
    name = f"{SETS:,} sets of {PARTS} × {DIM}, one query"
    return [
        times(f"{name}: beside scoring all in float32", ours, exact, 0.4),
        times(f"  beside {PARTS} bare products of a vector and all rows", ours, passes, None),
        recalled(ranking, queries, sets, allowed),
    ]


def made_sets(topics: ndarray, random: np.random.Generator) -> ndarray:
    sets = np.empty((SETS, PARTS, DIM), dtype=np.float32)
    for start in range(0, SETS, SOME):
        some = np.arange(start, min(start + SOME, SETS)) % len(topics)
        noise = random.standard_normal((len(some), PARTS, DIM), dtype=np.float32)
        sets[start : start + SOME] = unit(topics[some] + noise)
    return sets


def unit(values: ndarray) -> ndarray:
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def best_of_all(model: "Chamfer", query: ndarray, sets: ndarray) -> ndarray:
    """Score everything by one product and its epilogue, nothing copied: exact at its fastest."""
    there = np.ones(sets.shape[:2], dtype=bool)
    asked = EmbeddedParts(query[None], np.ones((1, PARTS), dtype=bool))
    scores = model.score(asked, EmbeddedParts(sets, there))
    return np.argpartition(scores[0], SETS - K)[SETS - K :]


def recalled(ranking: TwoStageRanking, queries: ndarray, sets: ndarray, allowed: ndarray) -> Figure:
    """How many of the true best are found; a picture as good as the last of them is one."""
    found = ranking.best(list(queries), K, allowed).rows // PARTS
    hits = 0
    for start in range(0, ASKED, TOGETHER):
        scores = every_score(queries[start : start + TOGETHER], sets)
        bar = np.partition(scores, -K, axis=1)[:, -K:].min(axis=1, keepdims=True)
        mine = np.take_along_axis(scores, found[start : start + TOGETHER], axis=1)
        hits += int((mine >= bar - TIE).sum())
    name = f"  recall@{K} of scoring all, {ASKED:,} queries"
    return Figure(name, hits / (K * ASKED), 1.0, unit="")


def every_score(queries: ndarray, sets: ndarray) -> ndarray:
    """Smooth-Chamfer of some queries with all sets; parts before sets, so that sums run fast."""
    out = np.empty((len(queries), SETS), dtype=np.float32)
    for start in range(0, SETS, SOME):
        some = sets[start : start + SOME].transpose(1, 0, 2).reshape(-1, DIM)
        close = np.exp(SHARPNESS * (queries.reshape(-1, DIM) @ some.T))
        close = close.reshape(len(queries), PARTS, PARTS, -1)
        both = np.log(close.sum(1)).mean(1) + np.log(close.sum(2)).mean(1)
        out[:, start : start + SOME] = both / (2 * SHARPNESS)
    return out


class Chamfer:
    """Smooth-Chamfer in numpy, behind the face of an encoder."""

    identity, source, dim, exact, reads_traces = "c" * 32, "", DIM, False, False

    def encode_image(self, files: Sequence[Path]) -> EncodedFiles:
        raise AssertionError("this benchmark stores vectors and encodes no files")

    encode_example = encode_text = encode_narration = encode_image

    def score(self, texts: EmbeddedParts, images: EmbeddedParts) -> ndarray:
        flat = images.vectors.reshape(-1, DIM) @ texts.vectors[0].T
        close = np.exp(SHARPNESS * flat.reshape(-1, PARTS, PARTS))
        both = np.log(close.sum(1)).mean(1) + np.log(close.sum(2)).mean(1)
        return (both / (2 * SHARPNESS))[None]
