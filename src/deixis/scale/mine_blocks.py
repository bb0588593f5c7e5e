"""Hard-negative mining in blocks: each is a job, lists are merged where the blocks left them."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from jaxtyping import Int32
from numpy import ndarray

from deixis.runs.hard_negatives.mining import Miner
from deixis.runs.hard_negatives.mining_state import MiningState
from deixis.runs.hard_negatives.mining_work import BlockMiner, Count, Lists, MiningWork, mine_here
from deixis.scale.engine import Engine, engine_at
from deixis.similarity.blocked.topk_buffer import Nearest, merge_nearest


def miner_at(cluster: str | None, threads: int, on_note: Callable[[str], None]) -> Miner:
    """What mines on the cluster at an address, ``threads`` processors per block; or here."""
    if cluster is None:
        return mine_here

    def note(done: int, why: str) -> None:
        on_note(f"{why} after {done} blocks; what it held is computed again")

    return miner_on(engine_at(cluster, note, cpus=float(threads)))


def miner_on(engine: Engine) -> Miner:
    """What mines on an engine: the same lists as one process, ties included."""
    return partial(_mine, engine)


def _mine(
    engine: Engine, work: MiningWork, state: MiningState, advance: Count
) -> tuple[Lists, Lists]:
    """The lists of all images and of all texts, strip by strip; nothing is kept between runs."""
    merges = [partial(_merged, length) for length in work.lengths]
    return engine.cross(BlockMiner.of(work), work.strips(), (merges[0], merges[1]), advance)


def _merged(k: int, parts: Sequence[Nearest]) -> Int32[ndarray, "anchor hard"]:
    return merge_nearest(parts, k).items.astype(np.int32)
