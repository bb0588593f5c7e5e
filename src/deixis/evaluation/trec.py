"""Rankings and judgements as TREC files, for other tools."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.errors import EvaluationError
from deixis.evaluation.qrels import Qrels
from deixis.files import write_atomic


def write_trec(folder: Path, scores: Float[ndarray, "image text"], corpus: Corpus) -> list[Path]:
    """Write runs and judgements of a whole split, both directions, names free of blanks.

    An image is named by its file, a text by its owner's file and its place in the corpus.
    """
    images = [quote(file) for file in corpus.files]
    texts = [f"{images[owner]}#{text}" for text, owner in enumerate(corpus.owners.tolist())]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for way, matrix, pairs, names in (
        ("i2t", scores, corpus.pairs, (images, texts)),
        ("t2i", scores.T, corpus.pairs[:, ::-1], (texts, images)),
    ):
        qrels = Qrels.of_pairs(pairs)
        write_run(folder / f"{way}.run", matrix, qrels, names)
        write_qrels(folder / f"{way}.qrels", qrels, names)
        written += [folder / f"{way}.run", folder / f"{way}.qrels"]
    return written


def write_run(
    path: Path,
    scores: Float[ndarray, "query item"],
    qrels: Qrels,
    names: tuple[Sequence[str], Sequence[str]],
    depth: int = 1000,
) -> None:
    """Write the first items of each query; ``names`` are those of queries and of items.

    The score column counts down from the depth: tools order by it and break ties by rules of
    their own, and ours, tied positives last, is the one the measures were taken by.
    """
    queries, items = _checked(names[0]), _checked(names[1])
    starts = [*qrels.starts.tolist(), len(qrels.items)]

    def lines() -> Iterator[str]:
        for at, query in enumerate(qrels.queries.tolist()):
            positives = qrels.items[starts[at] : starts[at + 1]]
            for place, item in enumerate(first_items(scores[query], positives, depth).tolist()):
                yield f"{queries[query]} Q0 {items[item]} {place + 1} {depth - place} deixis\n"

    write_atomic(path, "".join(lines()).encode())


def write_qrels(path: Path, qrels: Qrels, names: tuple[Sequence[str], Sequence[str]]) -> None:
    """Write which items answer which query, each with grade 1."""
    queries, items = _checked(names[0]), _checked(names[1])
    asked = qrels.queries[qrels.owners].tolist()
    pairs = zip(asked, qrels.items.tolist(), strict=True)
    write_atomic(path, "".join(f"{queries[q]} 0 {items[i]} 1\n" for q, i in pairs).encode())


def first_items(
    row: Float[ndarray, " item"], positives: Int[ndarray, " positive"], depth: int
) -> Int[ndarray, " place"]:
    """The first items of one query: by score, a tied positive last, then by column."""
    depth = min(depth, len(row))
    near = np.flatnonzero(row >= np.partition(row, len(row) - depth)[len(row) - depth])
    order = np.lexsort((np.isin(near, positives), -row[near]))
    return near[order[:depth]]


def _checked(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if not name or len(name.split()) != 1:
            raise EvaluationError(f"a TREC name has no blanks and is not empty; found {name!r}")
    return names
