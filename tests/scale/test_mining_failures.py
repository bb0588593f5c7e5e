"""A node that dies while a cluster mines; minutes on a busy machine."""

import time

import numpy as np
import pytest
import torch
from acting_on_progress import when
from examples.local_cluster import two_nodes

from deixis.data.batches.mined import OfflineSpec
from deixis.data.negatives.mined_negatives import MiningSource
from deixis.methods.vsepp import VSEPP
from deixis.runs.hard_negatives import block_pass
from deixis.runs.hard_negatives.mining import mine
from deixis.scale.mine_blocks import miner_on
from deixis.scale.ray_engine import RayEngine
from deixis.types import Sizes
from made import made_dataset

pytestmark = pytest.mark.slow


def held_back(function, folder, free):
    """A function that lets so many through, and the others once there is a file `go`."""

    def held(*given):
        from uuid import uuid4

        result = function(*given)
        (folder / uuid4().hex).touch()
        while len(list(folder.iterdir())) > free and not (folder / "go").exists():
            time.sleep(0.05)
        return result

    return held


class HeldBackEngine(RayEngine):
    """Blocks end only after a node died, but for some that it may hold by then."""

    def cross(self, function, sides, merges, on_block):
        return super().cross(held_back(function, self.folder, 6), sides, merges, on_block)


def test_a_killed_node_changes_no_mined_list(tmp_path, monkeypatch):
    torch.manual_seed(3)
    monkeypatch.setattr(block_pass, "BLOCK", 1600)  # 27 blocks
    dataset = made_dataset(images=60, texts_per_image=3)
    model = VSEPP(dim=8, word_dim=4).model(Sizes(region=8, vocabulary=30)).eval()
    work, source = (model, dataset, OfflineSpec(texts=7, images=4)), MiningSource("m", "s")
    alone = mine(*work, source, tmp_path / "alone", lambda done, total: None)
    begun, lost = tmp_path / "begun", []
    begun.mkdir()
    with two_nodes(600 * 2**20) as cluster:
        engine = HeldBackEngine(cluster.address, on_lost=lambda done, why: lost.append(why))
        object.__setattr__(engine, "folder", begun)
        second = cluster.list_all_nodes()[-1]

        def kill_node():
            cluster.remove_node(second, allow_graceful=False)
            (begun / "go").touch()

        watching = when(lambda: len(list(begun.iterdir())) >= 8, kill_node)
        found = mine(*work, source, tmp_path / "cluster", lambda *step: None, miner_on(engine))
        watching.join()
    assert lost and "died" in lost[0]
    np.testing.assert_array_equal(found.texts, alone.texts)
    np.testing.assert_array_equal(found.images, alone.images)
