"""Damage is named to the byte range, repaired where it can be, and never searched in silence."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from deixis.cli.command import app, load_verbs
from deixis.errors import DeixisError, SearchError
from deixis.files import file_hash, locked, write_json
from deixis.neighbours.eight_bit_store import FOLDER, eight_bit_blocks
from deixis.runs.run import Run
from deixis.search.encoders import load_encoder
from deixis.search.encoders.load_encoder import PACKAGED, PHOTOS
from deixis.search.library.derived_files import damaged_graphs
from deixis.search.library.library_store import LOCK, LibraryStore
from deixis.search.library.verification import verify
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from fake_encoder import FakeEncoder

load_verbs()
WIDTH = 4 * 8  # bytes of a row


def generation(library: Path) -> Path:
    return library / (library / "current").read_text().strip()


def flip(path: Path, *places: int) -> None:
    facts = path.stat()
    content = bytearray(path.read_bytes())
    for place in places:
        content[place] ^= 0x10
    path.write_bytes(content)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # as rot does it


def fake(source):
    return FakeEncoder()


def search(library: Path):
    with LibraryStore(library) as opened:
        return Searcher(FakeEncoder(), opened).search(Query(text="a", k=40)).hits


def test_a_sound_library_has_nothing_to_report(library):
    found = verify(library)
    assert (found.pictures, found.compared, found.damages, found.notes) == (40, 40, (), ())


def test_every_damaged_range_of_vectors_is_named_and_encoded_anew(library):
    before = [(hit.id, hit.score) for hit in search(library)]
    vectors = generation(library) / "vectors.f32"
    flip(vectors, 5 * WIDTH + 3, 6 * WIDTH, 20 * WIDTH + 31)
    found = verify(library)
    assert [(one.start, one.end) for one in found.damages] == [
        (5 * WIDTH, 7 * WIDTH),
        (20 * WIDTH, 21 * WIDTH),
    ]
    assert found.needs_attention
    mended = verify(library, fake)
    assert all(one.repaired for one in mended.damages)
    assert not verify(library).damages
    after = [(hit.id, hit.score) for hit in search(library)]
    assert sorted(after) == sorted(before)


@pytest.mark.parametrize("what", ["missing", "cut"])
def test_lost_vectors_are_a_true_sentence_and_can_be_repaired(library, what):
    vectors = generation(library) / "vectors.f32"
    if what == "missing":
        vectors.unlink()
    else:
        os.truncate(vectors, 10 * WIDTH)
    with pytest.raises(SearchError, match="deixis verify"):
        search(library)
    assert verify(library, fake).damages[0].repaired
    assert len(search(library)) == 40


def test_some_damage_is_found_when_a_library_is_opened(library):
    vectors = generation(library) / "vectors.f32"
    flip(vectors, *range(0, 40 * WIDTH, WIDTH))
    with pytest.raises(SearchError, match="is damaged at row"):
        search(library)


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_row_of_no_numbers_that_opening_does_not_see_spoils_no_search_in_silence(library, number):
    vectors = generation(library) / "vectors.f32"
    with LibraryStore(library) as opened:
        searcher = Searcher(FakeEncoder(), opened)
        with vectors.open("r+b") as file:
            file.seek(7 * WIDTH)
            file.write(np.full(8, float(number), "<f4").tobytes())
        with pytest.raises(SearchError, match="is damaged at row 7; .* deixis verify"):
            searcher.search(Query(text="a", k=3))
    assert verify(library, fake).damages[0].repaired
    assert len(search(library)) == 40


def test_rows_of_no_numbers_that_no_picture_uses_are_damage_too(library):
    (library.parent / "pictures" / "07.png").unlink()
    with LibraryStore(library) as opened:
        opened.add([library.parent / "pictures"], FakeEncoder())
    vectors = generation(library) / "vectors.f32"
    with vectors.open("r+b") as file:
        file.seek(7 * WIDTH)
        file.write(np.full(8, np.nan, "<f4").tobytes())
    with pytest.raises(SearchError, match="is damaged at row 7"):
        search(library)
    (found,) = verify(library).damages
    assert (found.start, found.end, found.repaired) == (7 * WIDTH, 8 * WIDTH, False)
    assert verify(library, fake).damages[0].repaired
    assert not verify(library).damages
    assert len(search(library)) == 39


def test_a_damaged_manifest_and_header_are_placed(library):
    manifest, header = generation(library) / "manifest.sqlite", generation(library) / "header.json"
    flip(manifest, manifest.stat().st_size - 50)
    flip(header, 3)
    found = {one.file: one for one in verify(library, fake).damages}
    assert found["manifest.sqlite"].end - found["manifest.sqlite"].start <= 65_536
    assert not found["manifest.sqlite"].repaired
    assert found["header.json"].repaired
    LibraryStore(library).close()


def test_damaged_copies_of_vectors_are_named_and_taken_away(library):
    folder = generation(library) / FOLDER
    vectors = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    made = list(eight_bit_blocks(vectors, 32, folder))
    assert not verify(library).damages
    flip(folder / "000001.safetensors", (folder / "000001.safetensors").stat().st_size - 40)
    (found,) = verify(library).damages
    assert (found.file, found.start) == (f"{FOLDER}/000001.safetensors", 0)
    assert all(one.repaired for one in verify(library, fake).damages)
    assert not verify(library).damages
    again = list(eight_bit_blocks(vectors, 32, folder))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(made, again, strict=True))


def test_damaged_graphs_and_weights_of_the_model_are_named(library, tmp_path):
    run = Run(tmp_path / "run")
    run.path("onnx").mkdir(parents=True)
    files = [run.path("weights"), run.path("onnx") / "image.onnx", run.path("onnx") / "text.onnx"]
    for file in files:
        file.write_bytes(b"a network " * 9)
    record = {"image": {}, "text": {}, "identity": "a" * 32, "exact": True, "reads_traces": False}
    sums = {file.name: file_hash(file) for file in files}
    weights = sums.pop("model.safetensors")
    write_json(run.path("onnx") / "export.json", {**record, "weights": weights, "graphs": sums})
    with LibraryStore(library) as opened:
        opened.add([], FakeEncoder(source=str(run.folder)))
    assert not verify(library).damages
    for file in files:
        flip(file, 50)
    found = verify(library, fake)
    assert {(one.file, one.start, one.end) for one in found.damages} == {
        (str(file), 0, 90) for file in files
    }
    assert found.needs_attention


def test_the_model_that_comes_with_deixis_has_a_hash_for_every_graph():
    record = json.loads((Run(PACKAGED).path("onnx") / "export.json").read_text())
    there = {path.name for path in Run(PACKAGED).path("onnx").glob("*.onnx")}
    assert set(record["graphs"]) == there
    assert not list(damaged_graphs(PHOTOS))


def test_a_missing_manifest_is_a_true_sentence(library):
    (generation(library) / "manifest.sqlite").unlink()
    with pytest.raises(SearchError, match=r"manifest.sqlite is missing.*deixis index"):
        LibraryStore(library)
    assert not (generation(library) / "manifest.sqlite").exists()


def test_the_command_names_ranges_as_json_and_asks_for_attention(library, monkeypatch):
    monkeypatch.setattr(load_encoder, "load_encoder", fake)
    flip(generation(library) / "vectors.f32", 0)
    done = CliRunner().invoke(app, ["verify", "-l", str(library), "--no-repair", "--json"])
    assert done.exit_code == 3, done.output
    damage = json.loads(done.stdout)["damages"][0]
    assert (damage["file"], damage["start"], damage["end"]) == ("vectors.f32", 0, WIDTH)
    done = CliRunner().invoke(app, ["verify", "-l", str(library)])
    assert done.exit_code == 0, done.output
    assert "repaired" in done.output


def test_a_library_that_cannot_be_written_is_searched(library, tmp_path):
    """On a disk mounted for reading; root may write anywhere else."""
    target = tmp_path / "mounted"
    target.mkdir()
    mount = ["mount", "--bind", str(library), str(target)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(target)], check=True)
        with pytest.raises(OSError, match="Read-only"):
            (target / "x").touch()
        assert len(search(target)) == 40
        assert (verify(target).compared, verify(target).damages) == (40, ())
        with pytest.raises(SearchError, match="cannot be written here; add --no-repair"):
            verify(target, fake)
        from fake_server import fake_server

        from deixis.search.query.server_client import ADDRESS

        with fake_server(target) as (url, _):
            assert url.startswith("http://127.0.0.1")
            assert not (target / ADDRESS).exists()
    finally:
        subprocess.run(["umount", str(target)], check=True)


def test_two_indexers_of_one_folder_one_works_the_other_says_who_holds_it(library):
    with (
        locked(library / LOCK),
        LibraryStore(library) as opened,
        pytest.raises(DeixisError, match=rf"being written by process {os.getpid()} on"),
    ):
        opened.add([library.parent / "pictures"], FakeEncoder())


def test_generations_and_files_of_killed_writers_are_collected(library):
    stray = library / ".current.4194300-abcd.tmp"
    stray.write_text("x")
    os.utime(stray, (0, 0))
    left = library / "generation-7"
    shutil.copytree(generation(library), left)
    header = json.loads((left / "header.json").read_text())
    (left / "header.json").write_text(json.dumps(header | {"model": ""}))
    (library / "generation-8").mkdir()
    with LibraryStore(library) as opened:
        opened.add([library.parent / "pictures"], FakeEncoder())
        opened.rebuild([], FakeEncoder("b" * 32))
    names = {path.name for path in library.iterdir()}
    assert not names & {"generation-7", "generation-8", stray.name}


def test_files_have_ordinary_modes(library):
    mask = os.umask(0)
    os.umask(mask)
    wrong = [
        path
        for path in library.rglob("*")
        if path.is_file() and path.stat().st_mode & 0o777 != 0o666 & ~mask
    ]
    assert not [path.name for path in wrong if not path.name.startswith(".")]
