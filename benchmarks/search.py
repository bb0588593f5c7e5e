"""Searching 100,000 pictures: ours beside the bare products, sets in two stages, adding, memory."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy import ndarray
from PIL import Image

from benchmarks.harness import Figure, Timed, extra_memory, interleaved
from deixis.features.lite0 import Lite0
from deixis.search.exact import Exact
from deixis.search.generation import Generation, Header
from deixis.search.library import Library
from deixis.search.manifest import Content, Entry
from deixis.search.parts import Encoded, Parts
from deixis.search.query import Query
from deixis.search.searcher import Searcher
from deixis.search.two_stage import TwoStageRanking

ITEMS, DIM, K, BATCH = 100_000, 512, 100, 64
SETS, PARTS, SHARPNESS = 25_000, 4, 16.0
NEW = 1_000


def figures() -> list[Figure]:
    random = np.random.default_rng(0)
    vectors = unit(random.normal(size=(ITEMS, DIM)))
    return [*exact_figures(vectors, random), *set_figures(random), *library_figures(vectors)]


def unit(values: ndarray) -> ndarray:
    return (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype(np.float32)


def exact_figures(vectors: ndarray, random: np.random.Generator) -> list[Figure]:
    queries = unit(random.normal(size=(BATCH, DIM)))
    one, allowed, index = queries[:1], np.ones(ITEMS, dtype=bool), Exact(vectors)
    single, bare = interleaved(
        9, lambda: index.search(one, K, allowed), lambda: vectors @ queries[0]
    )
    many, product = interleaved(
        5, lambda: index.search(queries, K, allowed), lambda: queries @ vectors.T
    )
    return [
        times("exact top-100, one query: beside the bare product", single, bare, 1.3),
        times("exact top-100, 64 queries: beside the bare product", many, product, 1.25),
    ]


def times(name: str, ours: Timed, bare: Timed, goal: float) -> Figure:
    detail = f"{1e3 * ours.seconds:.1f} ms beside {1e3 * bare.seconds:.1f} ms"
    return Figure(name, ours.seconds / bare.seconds, goal, "lower", detail=detail)


def set_figures(random: np.random.Generator) -> list[Figure]:
    """Sets around hidden topics, so that the best ten are near each other, as with real ones."""
    topics = random.normal(size=(SETS // 20, PARTS, DIM))
    sets = unit(topics[np.arange(SETS) % len(topics)] + random.normal(size=(SETS, PARTS, DIM)))
    rows = sets.reshape(-1, DIM)
    live = [Content(str(i), PARTS * i, PARTS) for i in range(SETS)]
    queries = [unit(topics[i] + random.normal(size=(PARTS, DIM))) for i in range(4)]
    allowed = np.ones(len(rows), dtype=bool)
    model = Chamfer()
    two = TwoStageRanking(rows, live, model)
    two.best(queries, 10, allowed)  # what is prepared once belongs to opening a library
    ours, exact = interleaved(
        5,
        lambda: two.best(queries, 10, allowed).rows // PARTS,
        lambda: [best_of_all(model, query, sets) for query in queries],
    )
    pairs = zip(ours.result, exact.result, strict=True)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in pairs])
    each = [1e3 * timed.seconds / len(queries) for timed in (ours, exact)]
    detail = f"{each[0]:.1f} ms beside {each[1]:.1f} ms a query, {SETS:,} sets of {PARTS}"
    return [
        Figure("sets in two stages: recall@10 of exact", float(recall), 0.99, unit=""),
        Figure(
            "sets in two stages: speed over exact",
            exact.seconds / ours.seconds,
            3,
            detail=detail,
        ),
    ]


def best_of_all(model: "Chamfer", query: ndarray, sets: ndarray) -> ndarray:
    """Score everything by one product and its epilogue, nothing copied: exact at its fastest."""
    there = np.ones(sets.shape[:2], dtype=bool)
    scores = model.score(Parts(query[None], np.ones((1, PARTS), dtype=bool)), Parts(sets, there))
    return np.argpartition(scores[0], SETS - 10)[SETS - 10 :]


class Chamfer:
    """Smooth-Chamfer in numpy, behind the face of an encoder."""

    identity, source, dim, exact, reads_traces = "c" * 32, "", DIM, False, False

    def encode_image(self, files: Sequence[Path]) -> Encoded:
        raise NotImplementedError

    encode_example = encode_text = encode_narration = encode_image

    def score(self, texts: Parts, images: Parts) -> ndarray:
        flat = images.vectors.reshape(-1, DIM) @ texts.vectors[0].T
        close = np.exp(SHARPNESS * flat.reshape(-1, PARTS, PARTS))
        both = np.log(close.sum(1)).mean(1) + np.log(close.sum(2)).mean(1)
        return (both / (2 * SHARPNESS))[None]


class Seen:
    """Pictures by the pooled vector of EfficientNet-Lite0; texts by a vector of their own."""

    identity, source, exact, reads_traces = "s" * 32, "", True, False

    def __init__(self) -> None:
        self._backbone = Lite0()
        self.dim = 1280

    def encode_image(self, files: Sequence[Path]) -> Encoded:
        packed = self._backbone([self._backbone.read(file) for file in files])
        assert packed.pooled is not None
        vectors = packed.pooled.astype(np.float32)[:, None]
        return Encoded(Parts(vectors, np.ones((len(files), 1), dtype=bool)), {})

    encode_example = encode_image

    def encode_text(self, texts: Sequence[str]) -> Parts:
        seeds = [np.random.default_rng(len(text)).normal(size=(1, self.dim)) for text in texts]
        return Parts(unit(np.stack(seeds)), np.ones((len(texts), 1), dtype=bool))

    encode_narration = encode_text

    def score(self, texts: Parts, images: Parts) -> ndarray:
        return texts.vectors[:, 0] @ images.vectors[:, 0].T


class Flat(Seen):
    """The same with vectors of the size of this benchmark."""

    identity = "f" * 32

    def __init__(self) -> None:
        self.dim = DIM


def library_figures(vectors: ndarray) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        filled(root / "flat", Flat(), vectors)
        megabytes = extra_memory(partial(searched, root / "flat"))
        raw = vectors.nbytes / 2**20
        return [
            Figure(
                "a library of 100,000, opened and searched: memory beside its raw vectors",
                megabytes / raw,
                1.3,
                "lower",
                detail=f"{megabytes:.0f} MB beside {raw:.0f} MB",
            ),
            adding(root),
        ]


def filled(folder: Path, encoder: Seen, vectors: ndarray) -> None:
    """A library as if 100,000 pictures of some other folder had been indexed."""
    Library.open_or_create(folder, encoder).close()
    with Library(folder) as library:
        names = [f"{i:032x}" for i in range(len(vectors))]
        entries = [Entry(f"/pictures/{name}.jpg", 1, 1, name) for name in names]
        generation: Generation = library.generation
        assert generation.header == Header(encoder.identity, encoder.source, encoder.dim)
        generation.write(dict(zip(names, vectors[:, None], strict=True)), entries, [])


def searched(folder: Path) -> None:
    with Library(folder) as library:
        Searcher(Flat(), library).search(Query(text="anything", k=K))


def adding(root: Path) -> Figure:
    """Add pictures to a large library; beside it the bare embedding of the same pictures."""
    encoder, pictures = Seen(), root / "new"
    filled(root / "library", encoder, unit(np.random.default_rng(1).normal(size=(ITEMS, 1280))))
    pictures.mkdir()
    random = np.random.default_rng(2)
    for number in range(NEW):
        small = Image.fromarray(random.integers(0, 255, (12, 16, 3), dtype=np.uint8))
        small.resize((640, 480), Image.Resampling.BICUBIC).save(pictures / f"{number}.jpg")
    files = sorted(pictures.iterdir())

    def embed() -> None:
        for start in range(0, NEW, 32):
            encoder.encode_image(files[start : start + 32])

    def add() -> None:
        with Library(root / "library") as library:
            assert library.add([pictures], encoder).counts == {"added": NEW}

    ours, bare = interleaved(1, add, embed)
    detail = f"{ours.seconds:.1f} s beside {bare.seconds:.1f} s"
    name = "adding 1,000 pictures to 100,000: beside embedding them"
    return Figure(name, ours.seconds / bare.seconds, 1.1, "lower", detail=detail)
