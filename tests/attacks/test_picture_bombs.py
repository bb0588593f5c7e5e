"""A small file that is a huge picture must cost neither memory nor the searches of others."""

import asyncio
import base64
import io
import os
import signal
import subprocess
import sys
import time
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from threading import Event, Thread

import pytest
from PIL import Image, ImageFile

from deixis.errors import DataError
from deixis.features.store.image_files import PictureBytes
from deixis.search.query.query import Query
from deixis.serve.decoding.decode_child import HANDED_ON, prepared
from deixis.serve.decoding.decode_pool import LINE, PROCESSES, DecodePool, PictureForm
from deixis.serve.limits.upload_budget import MOST, UploadBudget
from deixis.serve.served_library import FolderLibrary
from deixis.serve.worker import BusyError, Worker
from fake_encoder import FakeEncoder

PNG = {"content-type": "image/png"}


@cache
def bomb(mode="RGBA", size=8900, kind="PNG") -> bytes:
    out = io.BytesIO()
    Image.new(mode, size if isinstance(size, tuple) else (size, size)).save(out, kind)
    return out.getvalue()


@pytest.fixture
def pool():
    pool = DecodePool(seconds=300.0)
    yield pool
    pool.stop()


@pytest.fixture
def patient(monkeypatch):
    """Decoders with all the time they need, and callers too, however busy the machine is."""
    monkeypatch.setattr("deixis.serve.app.DecodePool", lambda: DecodePool(seconds=300.0))
    monkeypatch.setattr("deixis.serve.limits.waiting.LONGEST", 300.0)
    monkeypatch.setattr("deixis.serve.worker.PATIENCE", 300.0)


def test_a_small_file_of_eighty_megapixels_is_refused(patient, client):
    content = bomb()
    assert len(content) < 400_000
    answer = client.post("/v1/search/picture", content=content, headers=PNG)
    assert answer.status_code == 400
    assert "too large" in answer.json()["detail"]


def test_what_is_too_large_is_refused_before_a_pixel_is_opened(monkeypatch):
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda self: pytest.fail("it was opened"))
    with pytest.raises(DataError, match="too large"):
        prepared(bomb(), asdict(PictureForm()))


@pytest.mark.parametrize("size", [(1023, 23000), (23000, 1023), (3, 1_500_000), (6300, 6300)])
@pytest.mark.parametrize("crop", [None, [0.0, 0.9, 0.0, 0.9]])
def test_the_server_gets_a_few_megapixels_however_thin_a_picture_is(size, crop):
    """Bounding the shorter side alone let a picture of 69 kB become 71 MB in the server."""
    opened = prepared(bomb("RGB", size), {**asdict(PictureForm()), "crop": crop})
    assert len(opened) <= 4 * HANDED_ON + 100  # rows of BMP end at multiples of four bytes
    assert min(Image.open(io.BytesIO(opened)).size) >= min(*size, 512) * (0.9 if crop else 1) - 1


def test_a_mixture_of_thin_pictures_costs_one_of_them_at_a_time(patient, client):
    content = bomb("RGB", (1023, 23000))
    assert len(content) < 80_000
    part = {"picture": base64.b64encode(content).decode()}
    client.post("/v1/search/picture", content=bomb("RGB", 20), headers=PNG)
    before, most = resident("self"), 0.0
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(client.post, "/v1/search/mixed", json={"parts": [part] * 8})
        while not sent.done():
            most = max(most, resident("self") - before)
            time.sleep(0.02)
    assert sent.result().status_code == 200
    assert most < 200e6  # 760 when all were open at once, whole
    assert resident("self") - before < 100e6  # 680 when the last batch was kept


@pytest.mark.parametrize("size", [6300, (1023, 39000)], ids=["square", "thin"])
@pytest.mark.parametrize("crop", ["", "?crop=0,0.5,0,0.5"])
def test_five_at_once_add_at_most_600_mb_and_nothing_stays(patient, client, crop, size):
    """The largest that is let through: forty megapixels without a cheap way to open them."""
    content = bomb("RGB", size)
    before = resident()
    peak = [before]
    with ThreadPoolExecutor(5) as threads:
        sent = [
            threads.submit(client.post, f"/v1/search/picture{crop}", content=content, headers=PNG)
            for _ in range(5)
        ]
        while not all(one.done() for one in sent):
            peak.append(resident())
            time.sleep(0.02)
    # A thin one is not made smaller before its colours are, for which memory may not be enough.
    assert {one.result().status_code for one in sent} <= {200, 400 if size != 6300 else 200}
    assert max(peak) - before < 600e6
    assert resident() - before < 250e6


def test_what_takes_too_long_is_killed_and_the_next_is_opened():
    pool = DecodePool(processes=1, seconds=300.0)
    try:
        small = pool.open(bomb("RGB", 20), PictureForm()).result()
        pool._seconds = 1.5
        child = next(iter(pool._children))
        os.kill(child.pid, 19)  # stopped: as good as a decoder that never returns
        with pytest.raises(DataError, match="limits of time and memory"):
            pool.open(bomb("RGB", 20), PictureForm()).result()
        assert child.poll() is not None
        pool._seconds = 300.0
        assert pool.open(bomb("RGB", 20), PictureForm()).result() == small
    finally:
        pool.stop()


@pytest.mark.parametrize(
    ("mode", "side", "kind"),
    [("RGBA", 4400, "WEBP"), ("RGB", 6300, "AVIF"), ("RGB", (1, 5_000_000), "PNG")],
)
def test_a_decoder_that_needs_more_memory_than_it_may_have_says_so(pool, mode, side, kind):
    with pytest.raises(DataError, match="needs more than 224 MB"):
        pool.open(bomb(mode, side, kind), PictureForm()).result()


def requests_that_open_pictures(client):
    id = client.get("/v1/search", params={"text": "a"}).json()["hits"][0]["id"]
    part = {"parts": [{"id": id, "weight": 1.0}]}
    yield lambda: client.post("/v1/search/picture", content=bomb("RGB", 20), headers=PNG)
    yield lambda: client.get(f"/v1/images/{id}/similar")
    yield lambda: client.get(f"/v1/images/{id}")
    yield lambda: client.post("/v1/explain", json={"text": "a", "id": id})
    yield lambda: client.post("/v1/search/mixed", json=part)


@pytest.mark.parametrize("how", ["never", "cut off", "refused", "full"])
def test_whatever_becomes_of_a_decoder_the_caller_gets_a_clear_answer(client, monkeypatch, how):
    def opened(self, content, form) -> Future:
        if how == "full":
            raise BusyError
        done = Future()
        if how == "refused":
            done.set_exception(DataError("it cannot be opened"))
        if how == "cut off":
            done.cancel()
        return done

    asked = list(requests_that_open_pictures(client))
    if how == "never":
        for module in ("limits.waiting", "picture_files"):
            monkeypatch.setattr(f"deixis.serve.{module}.LONGEST", 0.3)
    monkeypatch.setattr(DecodePool, "open", opened)
    for ask in asked:
        answer = ask()
        assert answer.status_code in ((400, 404) if how == "refused" else (503,)), answer.text
        assert answer.headers["content-type"] == "application/problem+json"


ENDLESS = """
from deixis.serve.decoding import decode_child
decode_child.CPU = 1
decode_child.grant_time()
while True:
    pass
"""


def test_a_decoder_that_never_ends_is_ended_by_the_system():
    done = subprocess.run([sys.executable, "-c", ENDLESS], check=False, timeout=120)
    assert done.returncode == -signal.SIGXCPU


def test_pictures_and_bytes_that_may_wait_are_counted(pool, monkeypatch):
    done = [pool.open(bomb("RGB", 20), PictureForm()) for _ in range(LINE + PROCESSES)]
    with pytest.raises(BusyError):
        pool.open(b"", PictureForm())
    for one in done:
        one.result()
    budget = UploadBudget()
    with budget.holding(MOST), pytest.raises(BusyError), budget.holding(1):
        pytest.fail("more was taken than there is")
    with budget.holding(MOST):
        pass


def test_a_decoder_that_starts_while_the_server_ends_is_ended_too(monkeypatch):
    pool, starting, go = DecodePool(processes=1, seconds=300.0), Event(), Event()
    start, started = subprocess.Popen, []

    def starts(*given, **more):
        starting.set()
        assert go.wait(120)
        started.append(start(*given, **more))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", starts)
    opened = pool.open(bomb("RGB", 20), PictureForm())
    assert starting.wait(120)
    ending = Thread(target=pool.stop)
    ending.start()
    while not pool._stopping:
        time.sleep(0.01)
    go.set()
    with pytest.raises(BusyError):
        opened.result(120)
    ending.join(120)
    assert started[0].poll() is not None


def test_what_was_answered_is_not_kept_until_the_next_comes(library):
    worker = Worker(FolderLibrary(library, lambda source: FakeEncoder(), "exact"))
    worker.start()
    query = Query(image=PictureBytes("the picture", bomb("RGB", 20)))
    kept = weakref.ref(done := worker.search(query))
    done.result(120)
    del done
    until = time.monotonic() + 120
    while kept() is not None and time.monotonic() < until:
        time.sleep(0.01)
    assert kept() is None
    worker.stop()


@pytest.mark.slow
def test_bombs_move_the_p99_of_searches_by_less_than_twice(library):
    from clients import ask
    from fake_server import fake_server

    def p99(url) -> float:
        answers = []
        until = time.monotonic() + 6

        async def both():
            await asyncio.gather(*(ask(url, number, until, answers) for number in range(4)))

        asyncio.run(both())
        assert {status for status, _ in answers} == {200}
        return sorted(seconds for _, seconds in answers)[int(0.99 * len(answers))]

    content = bomb("RGB", 6300)
    with fake_server(library) as (url, _):
        p99(url)
        alone = p99(url)
        file = library.parent / "bomb"
        file.write_bytes(content)
        command = ["curl", "-s", "-o", "/dev/null", "-H", "Content-Type: image/png"]
        command += ["--data-binary", f"@{file}", f"{url}/v1/search/picture"]
        bombs = [subprocess.Popen(command) for _ in range(5)]
        beside = p99(url)
        for one in bombs:
            one.wait()
    assert beside < 2 * alone + 0.02  # a scheduler's slice of two cores


def resident(only: str | None = None) -> float:
    """Bytes this process and its decoders hold, or one of them."""
    if only is not None:
        return _resident(only)
    decoders = [pid.name for pid in Path("/proc").glob("[0-9]*") if _parent(pid) == os.getpid()]
    return sum(map(_resident, ["self", *decoders]))


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:  # it has ended
        return 0


def _resident(pid: str) -> float:
    """What several hold, in shares: a process just forked holds all that its parent does."""
    try:
        held = (Path("/proc") / pid / "smaps_rollup").read_text()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in held.splitlines() if line.startswith("Pss:"))
