"""What is still found when a library is divided: sets and `ivf`, by groups of shards merged.

Each group recalls from its own share, so the candidates differ from those of one library. Groups
answer in this process: where they run changes no answer.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from benchmarks import recall, set_search
from benchmarks.harness import Figure
from deixis.neighbours.exact import Exact
from deixis.scale.serving.merged_candidates import MergedCandidates
from deixis.scale.serving.shard_group import ShardGroup
from deixis.scale.sharded_library import ShardedLibrary, ShardedManifest, shard_of
from deixis.scale.store import open_store
from deixis.search.encoders.embedded_parts import EmbeddedParts
from deixis.search.library.generation import Generation, GenerationHeader
from deixis.search.library.manifest import FileEntry
from deixis.search.query.encode_queries import EncodedQuery
from deixis.search.query.library_candidates import Engine

ITEMS, ASKED, SHARDS = 100_000, 200, 8
GROUPS = (1, 2, 4)
DEPTHS = (10, 100)
TINY = {"ITEMS": 400, "ASKED": 4}


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="dx-") as name:
        return [*set_figures(Path(name) / "sets"), *ivf_figures(Path(name) / "ivf")]


def set_figures(folder: Path) -> list[Figure]:
    """Sets of four vectors, in two stages, beside scoring every set."""
    random = np.random.default_rng(0)
    parts, dim = set_search.PARTS, set_search.DIM
    topics = random.standard_normal((max(1, ITEMS // 20), parts, dim), dtype=np.float32)
    noise = random.standard_normal((ITEMS, parts, dim), dtype=np.float32)
    sets = set_search.unit(topics[np.arange(ITEMS) % len(topics)] + noise)
    asked = topics[random.integers(0, len(topics), ASKED)]
    queries = set_search.unit(asked + random.standard_normal(asked.shape, dtype=np.float32))
    model = SetModel()
    wanted = [best(scores_of(model, query, sets)) for query in queries]
    return measured("sets in two stages", folder, model, (sets, queries, np.array(wanted)))


def ivf_figures(folder: Path) -> list[Figure]:
    """Single vectors in cells, beside comparing with every one."""
    vectors, queries = recall.simulated(ITEMS, 1), recall.simulated(ASKED, 2)
    allowed = np.ones(ITEMS, dtype=bool)
    wanted = Exact(vectors).search(queries, max(DEPTHS), allowed).rows
    return measured("ivf", folder, VectorModel(), (vectors[:, None], queries[:, None], wanted))


def measured(
    name: str, folder: Path, model: Any, data: tuple[ndarray, ndarray, ndarray]
) -> list[Figure]:
    """The share of the true best that each number of groups finds."""
    sets, queries, wanted = data
    store(folder, model, sets)
    out = []
    for count in GROUPS:
        found = answers(folder, model, queries, count)
        for k in DEPTHS:
            share = recall.recall(found, wanted, k)
            label = f"{name}, {count} {'groups' if count > 1 else 'group'}: recall@{k}"
            out.append(Figure(label, share, None, unit="", detail=f"{len(sets):,} pictures"))
    return out


def store(folder: Path, model: Any, sets: ndarray) -> None:
    """A sharded library of made vectors; a picture's name is its number."""
    library, shards = ShardedLibrary(open_store(str(folder))), []
    header = GenerationHeader(model.identity, model.source, model.dim)
    for number, some in enumerate(np.array_split(np.arange(len(sets)), SHARDS)):
        own = folder.with_name(f"{folder.name}-{number}")
        generation = Generation.create(own, header)
        names = {f"{item:032x}": sets[item] for item in some.tolist()}
        files = [FileEntry(f"/made/{name}.jpg", 1, 1, name, None) for name in names]
        generation.write(names, files, [])
        generation.close()
        shards.append(shard_of(own))
        library.add_shard(own, shards[-1])
        shutil.rmtree(own)
    library.publish(ShardedManifest(model.identity, model.source, model.dim, tuple(shards)))


def answers(folder: Path, model: Any, queries: ndarray, count: int) -> ndarray:
    """The items that a library of so many groups finds for each query, best first."""
    library = ShardedLibrary(open_store(str(folder)))
    state = library.current()
    assert state is not None
    with tempfile.TemporaryDirectory(dir=folder.parent) as cache:
        groups = GroupsHere(str(folder), model, count, Path(cache))
        merged = MergedCandidates(groups, state, library.manifest(state).pictures)
        found = [merged.best([EncodedQuery(query)], max(DEPTHS), None)[0].best for query in queries]
    return np.array([[int(one.id, 16) for one in listed] for listed in found])


class GroupsHere:
    """Groups in this process, asked one after the other."""

    def __init__(self, url: str, model: Any, count: int, cache: Path) -> None:
        engine: Engine = "ivf" if model.exact else "exact"
        self._groups = [ShardGroup(url, number, count, cache, engine) for number in range(count)]
        for group in self._groups:
            group._encoder = model  # made here, and so nowhere to load from

    def __len__(self) -> int:
        return len(self._groups)

    def ask(self, work: str, arguments: Sequence[tuple[Any, ...]], seconds: float) -> list[Any]:
        pairs = zip(self._groups, arguments, strict=True)
        return [getattr(group, work)(*given) for group, given in pairs]


class SetModel(set_search.Chamfer):
    """Pictures of several vectors each, compared by Smooth-Chamfer."""

    places = None


class VectorModel(SetModel):
    """Pictures of one vector each, compared by inner products."""

    exact = True


def scores_of(model: SetModel, query: ndarray, sets: ndarray) -> ndarray:
    asked = EmbeddedParts(query[None], np.ones((1, len(query)), dtype=bool))
    there = np.ones(sets.shape[:2], dtype=bool)
    return np.asarray(model.score(asked, EmbeddedParts(sets, there))[0])


def best(scores: ndarray) -> ndarray:
    return np.lexsort((np.arange(len(scores)), -scores))[: max(DEPTHS)]
