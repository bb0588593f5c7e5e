"""Nothing is served but pictures as they were indexed, whatever paths and links say."""

import hashlib
import os
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from deixis.errors import DataError
from deixis.search.library.library_store import LibraryStore
from deixis.serve.app import create_app
from deixis.serve.served_library import FolderLibrary
from fake_encoder import FakeEncoder


def hits(client):
    return client.get("/v1/search", params={"text": "anything", "k": 40}).json()["hits"]


def shown(client, id, size="original"):
    return client.get(f"/v1/images/{id}", params={"size": size})


def test_a_folder_swapped_for_a_link_serves_nothing(client, library):
    found = hits(client)[0]["id"]
    pictures = library.parent / "pictures"
    elsewhere = library.parent / "elsewhere"
    shutil.move(pictures, elsewhere)
    pictures.symlink_to(elsewhere)
    for size in ("original", "thumbnail"):
        assert shown(client, found, size).status_code == 404
    assert client.get(f"/v1/images/{found}/similar").status_code == 404


def test_content_swapped_at_equal_size_and_time_serves_nothing(client):
    hit = hits(client)[0]
    path = Path(hit["paths"][0])
    facts = path.stat()
    path.write_bytes(bytes(facts.st_size))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    answer = shown(client, hit["id"])
    assert answer.status_code == 404
    assert "changed since it was indexed" in answer.json()["detail"]


def test_a_tampered_manifest_serves_no_other_file(client, library, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the password\n")
    known = hashlib.blake2b(secret.read_bytes(), digest_size=16).hexdigest()
    facts = secret.stat()
    name = (library / "current").read_text().strip()
    with sqlite3.connect(library / name / "manifest.sqlite") as db:
        row = (str(secret), facts.st_size, facts.st_mtime_ns, known, None)
        db.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?)", row)
        old = hits(client)[0]["id"]
        db.execute("UPDATE file SET path = ? WHERE hash = ?", (str(tmp_path / "x"), old))
        db.commit()
    for id in (known, old):
        answer = shown(client, id)
        assert answer.status_code == 404
        assert b"password" not in answer.content


@pytest.mark.parametrize("way", ["outside.png", "pictures/../outside.png"])
def test_a_tampered_manifest_serves_no_picture_outside_the_roots(client, library, tmp_path, way):
    outside = tmp_path / "outside.png"
    Image.new("RGB", (90, 60), "red").save(outside)
    known = hashlib.blake2b(outside.read_bytes(), digest_size=16).hexdigest()
    facts = outside.stat()
    name = (library / "current").read_text().strip()
    with sqlite3.connect(library / name / "manifest.sqlite") as db:
        row = (f"{tmp_path}/{way}", facts.st_size, facts.st_mtime_ns, known, None)
        db.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?)", row)
    for size in ("original", "thumbnail"):
        answer = shown(client, known, size)
        assert answer.status_code == 404
        assert "lies outside the indexed folders" in answer.json()["detail"]
    assert client.get(f"/v1/images/{known}/similar").status_code == 404


def test_a_file_that_was_indexed_singly_is_shown_and_its_folder_is_not(tmp_path):
    single, beside = tmp_path / "single.png", tmp_path / "beside.png"
    Image.new("RGB", (90, 60), "red").save(single)
    Image.new("RGB", (90, 60), "blue").save(beside)
    library = tmp_path / "library"
    with LibraryStore.open_or_create(library, FakeEncoder()) as opened:
        opened.add([single], FakeEncoder())
        opened.rebuild([], FakeEncoder("b" * 32))
        manifest = opened.generation.manifest
        assert (manifest.roots(), manifest.folders()) == ([str(single)], [])
    served = FolderLibrary(library, lambda source: FakeEncoder())
    id = hashlib.blake2b(single.read_bytes(), digest_size=16).hexdigest()
    assert served.picture(id).content == single.read_bytes()
    with LibraryStore(library) as opened, opened.generation.manifest.writing():
        entry = opened.generation.manifest.files_of(id)[0]
        opened.generation.manifest.add_files([replace(entry, path=str(beside))])
        opened.generation.manifest.remove_files([str(single)])
        assert opened.generation.manifest.roots() == []
    with pytest.raises(DataError, match="lies outside the indexed folders"):
        served.picture(id)


@pytest.mark.parametrize("inside", [True, False])
def test_a_link_that_was_indexed_is_shown_or_refused_with_the_true_reason(tmp_path, inside):
    from made_library import made_library

    library = made_library(tmp_path)
    pictures = tmp_path / "pictures"
    target = (pictures if inside else tmp_path) / "target.jpg"
    content = (pictures / "00.png").read_bytes() + b"more"
    target.write_bytes(content)
    (pictures / "link.png").symlink_to(target)
    with LibraryStore(library) as opened:
        opened.add([pictures], FakeEncoder())
    if inside:
        target.rename(pictures / "target.x")  # only the link is left under the indexed name
        (pictures / "link.png").unlink()
        (pictures / "link.png").symlink_to(pictures / "target.x")
    app = create_app(library, load=lambda source: FakeEncoder())
    id = hashlib.blake2b(content, digest_size=16).hexdigest()
    with TestClient(app, "http://localhost") as client:
        answer = shown(client, id)
    if inside:
        assert answer.status_code == 200
        assert answer.content == content
    else:
        assert answer.status_code == 404
        assert "is a link to a file outside the indexed folders" in answer.json()["detail"]
