"""One bad file must not stop indexing: it is an outcome with a reason, and the run goes on."""

import io
import json
import os
import subprocess
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image

from deixis.errors import SearchError
from deixis.scale import encode_shard, index_shards
from deixis.scale.engine import LocalEngine
from deixis.scale.store import FolderStore, SilentStoreError
from deixis.search.library import indexing
from deixis.search.library.library_store import LibraryStore
from fake_encoder import FakeEncoder


class Looking(FakeEncoder):
    """Raises what no decoder should, for one file."""

    def encode_image(self, files):
        if any(str(file).endswith("raising.jpg") for file in files):
            raise RecursionError("maximum recursion depth exceeded\udcff")
        return super().encode_image(files)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(3):
        pixels = np.random.default_rng(number).integers(0, 255, (40, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


@dataclass
class Outcome:
    """What became of an indexing: how many pictures there are, and what is broken."""

    sound: int
    broken: dict[str, str]


def alone(folder, tmp_path, *more):
    encoder = Looking()
    with LibraryStore.open_or_create(tmp_path / "library", encoder) as opened:
        report = opened.add([folder, *more], encoder)
    json.dumps(report.to_dict()).encode()
    broken = {one.path: one.reason for one in report.broken}
    return Outcome(report.counts.get("added", 0), broken)


def in_shards(folder, tmp_path):
    report = index_shards.index_shards(
        str(folder), str(tmp_path / "shards"), LocalEngine(), per_shard=2
    )
    json.dumps(report.to_dict()).encode()
    return Outcome(report.pictures, dict(report.broken))


@pytest.fixture(params=[alone, in_shards], ids=["alone", "in shards"])
def index(request, monkeypatch):
    monkeypatch.setattr(index_shards, "load_encoder", lambda name: Looking())
    monkeypatch.setattr(encode_shard, "_encoder", lambda name: Looking())
    return request.param


def test_an_orientation_that_is_text_is_no_reason_to_stop(index, folder, tmp_path):
    for number, value in enumerate(["upside down", "", (1, 2), 99, b"\xff"]):
        picture = Image.new("RGB", (20, 10), (number, 0, 0))
        exif = Image.Exif()
        exif[274] = value
        out = io.BytesIO()
        try:
            picture.save(out, "JPEG", exif=exif.tobytes())
        except Exception:
            continue  # Pillow itself will not write it
        (folder / f"exif-{number}.jpg").write_bytes(out.getvalue())
    (folder / "text.jpg").write_bytes(with_text_orientation())
    found = index(folder, tmp_path)
    assert not found.broken
    assert found.sound == len(list(folder.iterdir()))


@pytest.mark.parametrize(
    "line",
    [
        "null",
        "17",
        '["a"]',
        '{"file_name": 3}',
        '{"file_name": "0.png", "image_id": null}',
        '{"file_name": "0.png", "also": null, "text": "a"}',
        '{"file_name": "0.png", "text_ids": 5, "text": "a"}',
        '{"file_name": "0.png", "group": {}, "text": "a"}',
        '{"file_name": "0.png", "image_id": 1e999}',
        '{"file_name": "0.png", "text": "a \\udc80 b"}',
        '{"file_name": "0.png", "label": "\\ud800"}',
        "[" * 100_000,
        '{"file_name": ' + '{"a":' * 50_000,
        "\x00\xff",
    ],
    ids=range(14),
)
def test_whatever_a_metadata_file_holds_the_pictures_are_indexed(index, folder, tmp_path, line):
    (folder / "metadata.jsonl").write_text(line + "\n", encoding="utf-8")
    found = index(folder, tmp_path)
    assert found.sound == 3
    assert {os.path.basename(path) for path in found.broken} <= {"metadata.jsonl"}


def test_what_an_encoder_raises_for_one_file_is_that_files_outcome(index, folder, tmp_path):
    (folder / "raising.jpg").write_bytes(b"x")
    found = index(folder, tmp_path)
    assert (found.sound, len(found.broken)) == (3, 1)
    assert "maximum recursion depth" in found.broken[str(folder / "raising.jpg")]


def test_a_root_that_is_a_loop_of_links_is_reported(folder, tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    found = alone(folder, tmp_path, tmp_path / "one")
    assert found.sound == 3
    assert "symbolic links" in found.broken[str(tmp_path / "one")]
    with pytest.raises(SearchError, match="cannot be read: .* symbolic links"):
        in_shards(tmp_path / "one", tmp_path)


def test_a_tree_deeper_than_the_stack_is_walked(index, folder, tmp_path):
    top = os.open(folder, os.O_RDONLY)
    current = top
    for _ in range(1100):
        os.mkdir("d", dir_fd=current)
        below = os.open("d", os.O_RDONLY, dir_fd=current)
        if current != top:
            os.close(current)
        current = below
    deep = os.open("deep.png", os.O_CREAT | os.O_WRONLY, dir_fd=current)
    os.write(deep, (folder / "0.png").read_bytes() + b"deep")
    for handle in (deep, current, top):
        os.close(handle)
    try:
        assert index(folder, tmp_path).sound == 4
    finally:
        subprocess.run(["rm", "-rf", folder / "d"], check=True)  # deeper than pytest can clear


def test_a_name_that_is_not_utf_8_and_a_link_to_nowhere_are_outcomes(index, folder, tmp_path):
    with open(os.fsencode(folder) + b"/\xff.png", "wb") as file:
        file.write((folder / "0.png").read_bytes())
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    os.mkfifo(folder / "pipe.png")
    found = index(folder, tmp_path)
    assert found.sound == 3
    assert sorted(found.broken.values()) == [
        "No such file or directory",
        "its name is not UTF-8; rename it",
        "not a regular file",
    ]


def test_a_sparse_file_of_terabytes_is_not_read(index, folder, tmp_path):
    with (folder / "vast.png").open("wb") as file:
        file.truncate(8 * 10**12)
    found = index(folder, tmp_path)
    assert found.sound == 3
    assert found.broken == {str(folder / "vast.png"): "8000.0 GB; a picture file has at most 1 GB"}


def test_a_picture_that_becomes_a_pipe_after_it_was_listed_is_not_waited_for(
    index, folder, tmp_path, monkeypatch
):
    swapped = folder / "1.png"

    def swap():
        if swapped.is_file():
            swapped.unlink()
            os.mkfifo(swapped)

    def scan(paths, real=indexing.scan):
        found = real(paths)
        swap()
        return found

    def listed(self, *asked, real=FolderStore.list, **more):
        found = list(real(self, *asked, **more))
        swap()
        return iter(found)

    monkeypatch.setattr(indexing, "scan", scan)
    monkeypatch.setattr(FolderStore, "list", listed)
    # Whoever does wait reads an empty file after a while, and says something else of it.
    late = threading.Timer(60, lambda: os.close(os.open(swapped, os.O_WRONLY | os.O_NONBLOCK)))
    late.start()
    found = index(folder, tmp_path)
    late.cancel()
    assert (found.sound, found.broken) == (2, {str(swapped): "not a regular file"})


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), SearchError("no")])
def test_a_picture_that_may_not_be_read_is_an_outcome_until_it_may(
    folder, tmp_path, monkeypatch, error
):
    monkeypatch.setattr(index_shards, "load_encoder", lambda name: Looking())
    monkeypatch.setattr(encode_shard, "_encoder", lambda name: Looking())
    read = FolderStore.read

    def refusing(self, name):
        if name == "1.png":
            raise error
        return read(self, name)

    with monkeypatch.context() as patched:
        patched.setattr(FolderStore, "read", refusing)
        found = in_shards(folder, tmp_path)
    assert found.sound == 2
    assert found.broken == {str(folder / "1.png"): getattr(error, "strerror", None) or "no"}
    assert in_shards(folder, tmp_path) == Outcome(3, {})


def test_a_store_that_answers_nothing_is_no_pictures_fault(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(index_shards, "load_encoder", lambda name: Looking())
    monkeypatch.setattr(encode_shard, "_encoder", lambda name: Looking())
    monkeypatch.setattr(encode_shard, "SILENT", 1)
    read = FolderStore.read

    def silent(self, name):
        if name.endswith(".png"):
            raise SilentStoreError("nobody answers")
        return read(self, name)

    monkeypatch.setattr(FolderStore, "read", silent)
    with pytest.raises(SearchError, match="nobody answers"):
        in_shards(folder, tmp_path)


def with_text_orientation() -> bytes:
    """A JPEG whose EXIF orientation (274) is of the type ASCII."""
    out = io.BytesIO()
    Image.new("RGB", (20, 10), "red").save(out, "JPEG")
    tiff = b"II*\0\x08\0\0\0" + b"\x01\0" + b"\x12\x01\x02\0\x02\0\0\0" + b"6\0\0\0" + b"\0\0\0\0"
    body = b"Exif\0\0" + tiff
    segment = b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    content = out.getvalue()
    return content[:2] + segment + content[2:]
