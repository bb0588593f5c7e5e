from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deixis.neighbours.exact import Exact
from deixis.scale.serving.merge import merge_top


@dataclass(frozen=True)
class Entry:
    score: float
    order: tuple[int, int]


@given(
    st.lists(st.lists(st.integers(-2, 2), max_size=8), min_size=1, max_size=5), st.integers(1, 12)
)
def test_merged_shards_rank_as_one_index_would_ties_included(shards, k):
    scores = np.array([score for shard in shards for score in shard], dtype=np.float32)
    whole = Exact(scores[:, None]).search(
        np.ones((1, 1), np.float32), k, np.ones(len(scores), dtype=bool)
    )
    lists, start = [], 0
    places = {}
    for number, shard in enumerate(shards):
        values = np.array(shard, dtype=np.float32)[:, None]
        found = Exact(values.reshape(-1, 1)).search(
            np.ones((1, 1), np.float32), k, np.ones(len(values), dtype=bool)
        )
        rows, values = found.rows[0].tolist(), found.scores[0].tolist()
        lists.append([Entry(v, (number, r)) for r, v in zip(rows, values, strict=True)])
        places |= {(number, row): start + row for row in range(len(shard))}
        start += len(shard)
    merged = merge_top(lists, k)
    assert [places[entry.order] for entry in merged] == whole.rows[0].tolist()
    assert [entry.score for entry in merged] == whole.scores[0].tolist()
