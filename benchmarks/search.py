"""Searching 100,000 pictures by one vector each: beside the bare products, adding, memory."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy import ndarray
from PIL import Image

from benchmarks.harness import Figure, Timed, extra_memory, interleaved
from deixis.features.backbones.efficientnet_lite import Lite0
from deixis.features.store.exif import Shot
from deixis.neighbours.certified import Certified
from deixis.neighbours.exact import Exact
from deixis.search.encoders.embedded_parts import EmbeddedParts, EncodedFiles
from deixis.search.library.generation import Generation, GenerationHeader
from deixis.search.library.library_store import LibraryStore
from deixis.search.library.manifest import FileEntry
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher

ITEMS, DIM, K, BATCH = 100_000, 512, 100, 64
SHARE = 0.03  # of the rows that a filter lets pass
NEW = 1_000
ROUNDS = 3  # of adding
REPEATS = 101  # of one query: a process that answers many
TINY = {"ITEMS": 10_000, "DIM": 16, "BATCH": 4, "NEW": 2, "REPEATS": 21}


def figures() -> list[Figure]:
    random = np.random.default_rng(0)
    vectors = unit(random.normal(size=(ITEMS, DIM)))
    return [*exact_figures(vectors, random), *library_figures(vectors)]


def unit(values: ndarray) -> ndarray:
    return (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype(np.float32)


def exact_figures(vectors: ndarray, random: np.random.Generator) -> list[Figure]:
    queries = unit(random.normal(size=(BATCH, DIM)))
    some = random.random(ITEMS) < SHARE
    scan, plain, allowed = Certified(vectors), Exact(vectors), np.ones(ITEMS, dtype=bool)
    works = (
        lambda asked: scan.search(asked, K, allowed),
        lambda asked: scan.search(asked, K, some),
        lambda asked: plain.search(asked, K, allowed),
        lambda asked: asked @ vectors.T,
    )
    out = []
    for count, goal, repeats in ((1, 0.45, REPEATS), (BATCH, 0.5, 7)):
        asked = queries[:count]
        ours, filtered, pass_, bare = interleaved(repeats, *(partial(w, asked) for w in works))
        name = f"exact top-{K}, {count} queries" if count > 1 else f"exact top-{K}, one query"
        out += [
            times(f"{name}: beside the bare product", ours, bare, goal),
            times(f"  with a filter that {SHARE:.0%} of the rows pass", filtered, bare, None),
            times("  by the plain pass in float32", pass_, bare, None),
        ]
        same = np.array_equal(ours.result.rows, pass_.result.rows)
        out.append(Figure("  the same rows in the same order", 100 * same, 100, unit="%"))
    share = 100 * scan.certified / (scan.certified + scan.plain)
    return [*out, Figure("queries answered without the plain pass", share, None, unit="%")]


def times(name: str, ours: Timed, bare: Timed, goal: float | None) -> Figure:
    detail = f"{1e3 * ours.seconds:.1f} ms beside {1e3 * bare.seconds:.1f} ms"
    return Figure(name, ours.seconds / bare.seconds, goal, "lower", detail=detail)


class Seen:
    """Pictures by the pooled vector of EfficientNet-Lite0; texts by a vector of their own."""

    identity, source, exact, reads_traces = "s" * 32, "", True, False
    concurrent, places = False, None

    def __init__(self) -> None:
        self._backbone = Lite0()
        self.dim = 1280

    def encode_image(self, files: Sequence[Path]) -> EncodedFiles:
        packed = self._backbone([self._backbone.read(file) for file in files])
        assert packed.pooled is not None
        vectors = packed.pooled.astype(np.float32)[:, None]
        return EncodedFiles(EmbeddedParts(vectors, np.ones((len(files), 1), dtype=bool)), {})

    encode_example = encode_image

    def encode_text(self, texts: Sequence[str]) -> EmbeddedParts:
        seeds = [np.random.default_rng(len(text)).normal(size=(1, self.dim)) for text in texts]
        return EmbeddedParts(unit(np.stack(seeds)), np.ones((len(texts), 1), dtype=bool))

    encode_narration = encode_text

    def score(self, texts: EmbeddedParts, images: EmbeddedParts) -> ndarray:
        return texts.vectors[:, 0] @ images.vectors[:, 0].T


class Flat(Seen):
    """The same with vectors of the size of this benchmark."""

    def __init__(self) -> None:
        self.dim = DIM
        self.identity = f"flat{DIM:028}"  # what is kept of one size is of no use to another


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
    LibraryStore.open_or_create(folder, encoder).close()
    with LibraryStore(folder) as library:
        names = [f"{i:032x}" for i in range(len(vectors))]
        entries = [FileEntry(f"/pictures/{name}.jpg", 1, 1, name) for name in names]
        generation: Generation = library.generation
        assert generation.header == GenerationHeader(encoder.identity, encoder.source, encoder.dim)
        generation.write(dict(zip(names, vectors[:, None], strict=True)), entries, [])
        with generation.manifest.writing():  # else it is a library from before they were kept
            generation.manifest.facts.add_shots(dict.fromkeys(names, Shot()))


def searched(folder: Path) -> None:
    with LibraryStore(folder) as library:
        Searcher(Flat(), library).search(Query(text="anything", k=K))


def adding(root: Path) -> Figure:
    """Add pictures to a large library; beside it the bare embedding of the same pictures."""
    encoder = Seen()
    filled(root / "library", encoder, unit(np.random.default_rng(1).normal(size=(ITEMS, 1280))))
    folders = [drawn(root / f"new{number}", seed=2 + number) for number in range(ROUNDS)]
    encoder.encode_image(sorted(folders[0].iterdir())[:1])  # the graph is loaded
    added, embedded = iter(folders), iter(folders)

    def embed() -> None:
        files = sorted(next(embedded).iterdir())
        for start in range(0, NEW, 32):
            encoder.encode_image(files[start : start + 32])

    def add() -> None:
        with LibraryStore(root / "library") as library:
            assert library.add([next(added)], encoder).counts == {"added": NEW}

    ours, bare = interleaved(ROUNDS, add, embed)
    detail = f"{ours.seconds:.1f} s beside {bare.seconds:.1f} s"
    name = f"adding {NEW:,} pictures to {ITEMS:,}: beside embedding them"
    return Figure(name, ours.seconds / bare.seconds, 1.1, "lower", detail=detail)


def drawn(folder: Path, seed: int) -> Path:
    """A folder of made-up photographs."""
    folder.mkdir()
    random = np.random.default_rng(seed)
    for number in range(NEW):
        small = Image.fromarray(random.integers(0, 255, (12, 16, 3), dtype=np.uint8))
        small.resize((640, 480), Image.Resampling.BICUBIC).save(folder / f"{number}.jpg")
    return folder
