"""A server that follows its folders: what is added on disk is found without a restart."""

import time

import numpy as np
from fake_server import fake_server
from made_library import made_library
from PIL import Image

import deixis
from deixis.search.library.library_store import LibraryStore
from fake_encoder import FakeEncoder

PATIENCE = 60.0  # seconds; a busy machine reports changes late


def test_a_picture_put_into_a_folder_is_found(tmp_path):
    library = made_library(tmp_path)
    with fake_server(library, "--watch") as (url, server):
        client = deixis.Client(url)
        assert client.library().pictures == 40
        pixels = np.random.default_rng(7).integers(0, 255, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "new.png")
        # Whole at once: a pass may look at a file that is being written, and comes back for it.
        (tmp_path / "new.png").rename(tmp_path / "pictures" / "new.png")
        until = time.monotonic() + PATIENCE
        while client.library().pictures == 40:
            assert time.monotonic() < until and server.poll() is None
            time.sleep(0.1)
        found = client.search(deixis.Query(image=tmp_path / "pictures" / "new.png", k=1))
        assert found.hits[0].paths == (str(tmp_path / "pictures" / "new.png"),)
    assert server.returncode == 143


def test_a_folder_added_while_it_serves_is_followed_too(tmp_path):
    library, more = made_library(tmp_path), tmp_path / "more"
    more.mkdir()
    random = np.random.default_rng(8)

    def put(name):
        pixels = random.integers(0, 255, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(more / name)

    def wait_for(client, count):
        until = time.monotonic() + PATIENCE
        while client.library().pictures != count:
            assert time.monotonic() < until
            time.sleep(0.1)

    put("first.png")
    with fake_server(library, "--watch") as (url, _):
        client = deixis.Client(url)
        with LibraryStore.open_or_create(library, FakeEncoder()) as opened:
            opened.add([more], FakeEncoder())
        wait_for(client, 41)
        put("second.png")
        wait_for(client, 42)
