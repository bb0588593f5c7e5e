"""Two real nodes on this machine: what they compute equals what one process computes."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import torch
from examples.local_cluster import two_nodes
from made_pictures import make_pictures

from deixis.data.batches.mined import OfflineSpec
from deixis.data.negatives.mined_negatives import MiningSource
from deixis.errors import SearchError
from deixis.features.backbones.backbone import image_backbone
from deixis.features.store import extract
from deixis.features.store.extract import extract_images
from deixis.methods.vsepp import VSEPP
from deixis.runs.hard_negatives import block_pass
from deixis.runs.hard_negatives.mining import mine
from deixis.scale import extract_blocks, ray_engine
from deixis.scale.engine import LocalEngine
from deixis.scale.index_shards import index_shards
from deixis.scale.library_transfer import pull
from deixis.scale.mine_blocks import miner_on
from deixis.scale.ray_engine import RayEngine, connect, require_one_version
from deixis.scale.serving.ray_serve import ClusterServing, start, stop
from deixis.scale.sharded_library import ShardedLibrary
from deixis.scale.store import open_store
from deixis.search.library.library import Library
from deixis.types import Sizes
from made import made_dataset

LIMIT = 480  # seconds for any of these on however busy a machine; a quiet one needs ten


@pytest.fixture(autouse=True)
def hard_limit():
    """Ray waits for ever for what cannot come; a test does not."""

    def end(number, frame):
        raise TimeoutError(f"not done after {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def cluster():
    with two_nodes() as found:
        yield found


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return make_pictures(tmp_path_factory.mktemp("cluster") / "pictures", 12)


def manifest(library):
    return ShardedLibrary(open_store(str(library))).manifest()


def test_a_cluster_embeds_what_one_process_embeds_bit_by_bit(cluster, pictures, tmp_path):
    alone = index_shards(str(pictures), str(tmp_path / "alone"), LocalEngine(), per_shard=4)
    engine = RayEngine(cluster.address)
    report = index_shards(str(pictures), str(tmp_path / "cluster"), engine, per_shard=4)
    assert report.embedded == report.shards > 1
    assert report.broken == alone.broken
    vectors = [
        [shard.files["vectors.f32"] for shard in manifest(tmp_path / name).shards]
        for name in ("alone", "cluster")
    ]
    assert vectors[0] == vectors[1]
    assert [shard.pictures for shard in manifest(tmp_path / "cluster").shards] == [
        shard.pictures for shard in manifest(tmp_path / "alone").shards
    ]


def test_a_cluster_mines_the_lists_of_one_process(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(block_pass, "BLOCK", 8000)
    torch.manual_seed(3)
    dataset = made_dataset(images=60, texts_per_image=3)
    model = VSEPP(dim=8, word_dim=4).model(Sizes(region=8, vocabulary=30)).eval()
    work, source = (model, dataset, OfflineSpec(texts=7, images=4)), MiningSource("m", "s")
    mine(*work, source, tmp_path / "alone", lambda done, total: None)
    steps = []
    mine(
        *work,
        source,
        tmp_path / "cluster",
        lambda *step: steps.append(step),
        miner_on(RayEngine(cluster.address)),
    )
    assert steps[-1][0] == steps[-1][1] > 3
    for file in ("texts.npy", "images.npy"):
        assert (tmp_path / "alone" / file).read_bytes() == (
            tmp_path / "cluster" / file
        ).read_bytes()


def test_a_cluster_extracts_the_features_of_one_process(cluster, pictures, tmp_path, monkeypatch):
    files = sorted(pictures.iterdir())
    for module in (extract, extract_blocks):
        monkeypatch.setattr(module, "IMAGES", 4)
    backbone, engine = image_backbone("lite0-int8"), RayEngine(cluster.address)
    extract_images(backbone, files, tmp_path / "alone", "c")
    blocks = extract_blocks.extraction_on(engine).images
    extract_images(backbone, files, tmp_path / "cluster", "c", None, blocks)
    assert contents(tmp_path / "cluster") == contents(tmp_path / "alone")


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".lock"}


def test_a_task_larger_than_any_node_is_refused_at_once(cluster):
    with pytest.raises(SearchError, match="needs 64 processors, and the largest node .* has 2"):
        list(RayEngine(cluster.address, cpus=64.0).run(str, [1]))


def test_a_node_with_another_version_is_named(cluster, monkeypatch):
    connect(cluster.address)
    monkeypatch.setattr(ray_engine, "__version__", "9.9")
    with pytest.raises(SearchError, match=r"node 127.0.0.1:\d+ has deixis .*, this machine 9.9"):
        require_one_version()


def test_a_task_that_takes_too_long_is_begun_again(cluster, tmp_path):
    def hang_once(job):
        first = tmp_path / "begun"
        if not first.exists():
            first.touch()
            time.sleep(LIMIT)
        return job

    lost = []
    connect(cluster.address)
    engine = RayEngine(cluster.address, seconds=30.0, on_lost=lambda place, why: lost.append(place))
    (done,) = engine.run(hang_once, ["a job"])
    assert (done.result, done.attempts >= 2, set(lost)) == ("a job", True, {0})


def test_what_a_task_refuses_comes_back_in_its_own_words(cluster, pictures, tmp_path):
    def refuse(job):
        raise SearchError(f"job {job} cannot be done")

    with pytest.raises(SearchError, match="job 1 cannot be done"):
        list(RayEngine(cluster.address).run(refuse, [1]))


def ask(address, text, **more):
    with httpx.Client(base_url=address, timeout=180) as client:
        return client.get("/v1/search", params={"text": text, "k": 20, **more})


def test_a_cluster_serves_what_one_machine_finds(cluster, pictures, tmp_path, free_port):
    library = tmp_path / "library"
    index_shards(str(pictures), str(library), LocalEngine(), per_shard=2)
    how = ClusterServing(str(library), cluster.address, shards=2, port=free_port, cpus=0.2)
    address = start(how)
    try:
        pull(str(library), tmp_path / "alone")
        with Library(tmp_path / "alone") as alone:
            for text in ("a red wall", "something green"):
                expected = alone.search(text, k=20)
                answer = ask(address, text).json()
                assert [(hit["id"], hit["score"], hit["band"]) for hit in answer["hits"]] == [
                    (hit.id, hit.score, hit.band) for hit in expected.hits
                ]
                assert answer["searched"] == {"rows": 12, "of": 12}
                assert not answer["partial"]
        with ThreadPoolExecutor(8) as pool:
            many = list(pool.map(lambda _: ask(address, "a red wall"), range(24)))
        found = [one.json() for one in many if one.status_code == httpx.codes.OK]
        assert found and not any(one["partial"] for one in found), "whichever thread answers"
        shown = httpx.get(f"{address}/v1/images/{answer['hits'][0]['id']}", timeout=180)
        assert shown.headers["content-type"] == "image/jpeg"
        assert httpx.get(f"{address}/v1/library", timeout=180).json()["pictures"] == 12
        explained = httpx.post(
            f"{address}/v1/explain",
            json={"text": "a red wall", "id": answer["hits"][0]["id"]},
            timeout=180,
        )
        # Explanations run at the lowest priority: a busy machine may have no time for them.
        assert explained.status_code in {200, 408, 503}, explained.text
        assert explained.status_code != httpx.codes.OK or explained.json()["rank"] >= 1
    finally:
        stop()
