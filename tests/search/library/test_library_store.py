import os

import numpy as np
import pytest

from deixis.errors import SearchError
from deixis.search.library import indexing
from deixis.search.library.library_store import LibraryStore
from fake_encoder import FakeEncoder


def add(folder, paths, encoder):
    outcomes = []
    with LibraryStore.open_or_create(folder, encoder) as library:
        report = library.add(paths, encoder, lambda outcome, done, total: outcomes.append(outcome))
    return report, {os.path.basename(outcome.path): outcome for outcome in outcomes}


def stored(folder):
    """Every sound file's vectors, by file name, as a reader finds them."""
    with LibraryStore(folder) as library:
        vectors, found = np.array(library.generation.vectors()), {}
        contents = library.generation.manifest.contents()
        for path, entry in library.generation.manifest.files().items():
            if entry.reason is None:
                place = contents[entry.hash]
                found[os.path.basename(path)] = vectors[place.row : place.end]
        return found


def assert_true_to(folder, pictures, encoder):
    found = stored(folder)
    for path in (*pictures.glob("*.jpg"), *pictures.glob("*/*.PNG")):
        data = path.read_bytes()
        if not data.startswith(b"bad"):
            np.testing.assert_array_equal(found.pop(path.name), [encoder.vector(data)])
    assert not found


def test_a_first_pass_stores_the_vector_of_every_picture(tmp_path, pictures, encoder):
    report, outcomes = add(tmp_path / "library", [pictures], encoder)
    assert report.counts == {"added": 5}
    assert set(outcomes) == {"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.PNG"}
    assert_true_to(tmp_path / "library", pictures, encoder)


def test_a_second_pass_encodes_nothing(tmp_path, pictures, encoder):
    add(tmp_path / "library", [pictures], encoder)
    encoder.seen.clear()
    os.utime(pictures / "a.jpg", ns=(1, 1))
    report, _ = add(tmp_path / "library", [pictures], encoder)
    assert (report.counts, encoder.seen) == ({"unchanged": 5}, [])


def test_one_pass_adds_updates_renames_copies_and_removes(tmp_path, pictures, encoder):
    add(tmp_path / "library", [pictures], encoder)
    encoder.seen.clear()
    (pictures / "a.jpg").write_bytes(b"another picture")
    (pictures / "b.jpg").rename(pictures / "renamed.jpg")
    (pictures / "copy.jpg").write_bytes(b"picture c")
    (pictures / "d.jpg").unlink()
    (pictures / "new.jpg").write_bytes(b"new picture")
    report, outcomes = add(tmp_path / "library", [pictures], encoder)
    kinds = {name: outcome.kind for name, outcome in outcomes.items()}
    assert kinds == {
        "a.jpg": "updated",
        "renamed.jpg": "renamed",
        "copy.jpg": "added",
        "d.jpg": "removed",
        "new.jpg": "added",
        "c.jpg": "unchanged",
        "e.PNG": "unchanged",
    }
    assert sorted(encoder.seen) == ["a.jpg", "new.jpg"]
    assert report.encoded == 2
    assert_true_to(tmp_path / "library", pictures, encoder)


def test_files_outside_the_given_paths_are_left_alone(tmp_path, pictures, encoder):
    add(tmp_path / "library", [pictures], encoder)
    (pictures / "a.jpg").unlink()
    report, _ = add(tmp_path / "library", [pictures / "inner"], encoder)
    assert report.counts == {"unchanged": 1}
    assert "a.jpg" in stored(tmp_path / "library")


def test_a_given_file_that_is_gone_is_removed_but_an_unknown_path_is_refused(
    tmp_path, pictures, encoder
):
    add(tmp_path / "library", [pictures / "a.jpg", pictures / "b.jpg"], encoder)
    (pictures / "a.jpg").unlink()
    report, _ = add(tmp_path / "library", [pictures / "a.jpg"], encoder)
    assert report.counts == {"removed": 1}
    with pytest.raises(SearchError, match="nowhere' does not exist"):
        add(tmp_path / "library", [tmp_path / "nowhere"], encoder)


def test_bad_files_are_outcomes_and_are_tried_again(tmp_path, pictures, encoder):
    (pictures / "b.jpg").write_bytes(b"bad bytes")
    (pictures / "loop.jpg").symlink_to(pictures / "loop.jpg")
    os.mkfifo(pictures / "pipe.jpg")
    strange = os.fsencode(pictures) + b"/\xff.jpg"
    with open(strange, "wb"):
        pass
    report, outcomes = add(tmp_path / "library", [pictures], encoder)
    assert report.counts == {"added": 4, "broken": 4}
    assert not report.needs_attention
    reasons = {os.path.basename(broken.path): broken.reason for broken in report.broken}
    assert reasons["b.jpg"] == "no picture"
    assert "symbolic link" in reasons["loop.jpg"]
    assert reasons["pipe.jpg"] == "not a regular file"
    assert "UTF-8" in reasons["\\udcff.jpg"]
    (pictures / "b.jpg").write_bytes(b"picture b")
    assert add(tmp_path / "library", [pictures], encoder)[1]["b.jpg"].kind == "updated"


def test_a_file_that_cannot_be_opened_is_an_outcome(tmp_path, pictures, encoder, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(indexing, "content_hash", refuse)
    report, _ = add(tmp_path / "library", [pictures / "a.jpg"], encoder)
    assert report.needs_attention
    assert [broken.reason for broken in report.broken] == ["Permission denied"]


def test_pictures_in_a_folder_that_cannot_be_read_are_not_taken_for_removed(
    tmp_path, pictures, encoder, monkeypatch
):
    add(tmp_path / "library", [pictures], encoder)

    listed = os.scandir

    def scandir(folder):
        if folder == str(pictures / "inner"):
            raise PermissionError(13, "Permission denied", folder)
        return listed(folder)

    (pictures / "d.jpg").unlink()
    monkeypatch.setattr(os, "scandir", scandir)
    report, outcomes = add(tmp_path / "library", [pictures], encoder)
    assert report.counts == {"unchanged": 3, "removed": 1, "broken": 1}
    assert outcomes["inner"].reason == "folder not readable: Permission denied"
    assert "e.PNG" in stored(tmp_path / "library")


def test_a_file_that_changes_while_it_is_read_is_not_stored(tmp_path, pictures, encoder):
    class Disturbed(FakeEncoder):
        def encode_image(self, files):
            encoded = super().encode_image(files)
            (pictures / "a.jpg").write_bytes(b"something longer than before")
            return encoded

    report, outcomes = add(tmp_path / "library", [pictures], Disturbed())
    assert outcomes["a.jpg"].kind == "broken"
    assert "changed while it was read" in outcomes["a.jpg"].reason
    assert add(tmp_path / "library", [pictures], encoder)[1]["a.jpg"].kind == "updated"
    assert_true_to(tmp_path / "library", pictures, encoder)


def test_another_model_is_refused_with_a_plan(tmp_path, pictures, encoder):
    add(tmp_path / "library", [pictures], encoder)
    other = FakeEncoder(identity="b" * 32, source="runs/other")
    with pytest.raises(SearchError, match=r"5 files again.*--rebuild.*--model runs/other"):
        add(tmp_path / "library", [pictures], other)


def test_a_rebuild_switches_to_the_other_model_when_all_is_encoded(tmp_path, pictures, encoder):
    folder = tmp_path / "library"
    add(folder, [pictures], encoder)
    other = FakeEncoder(identity="b" * 32, dim=4)

    def stop(outcome, done, total):
        raise KeyboardInterrupt

    with LibraryStore(folder) as library, pytest.raises(KeyboardInterrupt):
        library.rebuild([], other, stop)
    assert_true_to(folder, pictures, encoder)
    other.seen.clear()
    with LibraryStore(folder) as library:
        report = library.rebuild([], other)
    assert report.counts == {"unchanged": 5}, "what the stopped rebuild encoded is not used"
    assert other.seen == []
    assert_true_to(folder, pictures, other)
    assert len(list(folder.glob("generation-*"))) == 1


def test_a_moved_run_of_the_same_model_is_remembered(tmp_path, pictures, encoder):
    add(tmp_path / "library", [pictures], encoder)
    add(tmp_path / "library", [pictures], FakeEncoder(source="elsewhere"))
    with LibraryStore(tmp_path / "library") as library:
        assert library.header.source == "elsewhere"


def test_rows_of_gone_pictures_are_left_behind_once_they_outweigh_the_rest(
    tmp_path, pictures, encoder
):
    folder = tmp_path / "library"
    add(folder, [pictures], encoder)
    with LibraryStore(folder) as reader:
        before = reader.generation.vectors()
        for name in ("a", "b", "c"):
            (pictures / f"{name}.jpg").unlink()
        add(folder, [pictures], encoder)
        assert before.shape == (5, 8), "a reader keeps what it opened"
        assert np.isfinite(before).all()
    with LibraryStore(folder) as library:
        assert library.generation.stored_rows() == 2
        assert library.generation.folder.name == "generation-2"
        assert library.generation.manifest.roots() == [str(pictures)]
    assert_true_to(folder, pictures, encoder)
    assert len(list(folder.glob("generation-*"))) == 1
    assert add(folder, [pictures], encoder)[0].counts == {"unchanged": 2}


def test_a_writer_whose_generation_was_replaced_is_refused(tmp_path, pictures, encoder):
    folder = tmp_path / "library"
    add(folder, [pictures], encoder)
    with LibraryStore(folder) as late:
        with LibraryStore(folder) as library:
            library.rebuild([], encoder)
        (pictures / "new.jpg").write_bytes(b"new picture")
        with pytest.raises(SearchError, match="replaced by another process"):
            late.add([pictures], encoder)


def test_lost_vectors_are_encoded_again(tmp_path, pictures, encoder):
    folder = tmp_path / "library"
    add(folder, [pictures], encoder)
    os.truncate(folder / "generation-1" / "vectors.f32", 3 * 8 * 4)
    with (
        LibraryStore(folder) as library,
        pytest.raises(SearchError, match="3 rows, its manifest names"),
    ):
        library.generation.vectors()
    report, _ = add(folder, [pictures], encoder)
    assert report.counts == {"unchanged": 3, "updated": 2}
    assert_true_to(folder, pictures, encoder)


def test_leftovers_of_a_killed_writer_are_overwritten(tmp_path, pictures, encoder):
    folder = tmp_path / "library"
    add(folder, [pictures], encoder)
    with open(folder / "generation-1" / "vectors.f32", "ab") as file:
        file.write(b"half a row and more" * 5)
    (pictures / "new.jpg").write_bytes(b"new picture")
    add(folder, [pictures], encoder)
    assert_true_to(folder, pictures, encoder)


def test_a_folder_that_is_no_library_or_of_another_format_is_refused(tmp_path, pictures, encoder):
    with pytest.raises(SearchError, match="is not a library"):
        LibraryStore(tmp_path)
    add(tmp_path / "library", [pictures], encoder)
    header = tmp_path / "library" / "generation-1" / "header.json"
    header.write_text(header.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(SearchError, match="library format 99"):
        LibraryStore(tmp_path / "library")


def test_a_model_that_breaks_its_word_about_the_vector_length_stores_nothing(
    tmp_path, pictures, encoder, monkeypatch
):
    announced = LibraryStore.open_or_create(tmp_path / "library", encoder)
    monkeypatch.setattr(encoder, "encode_image", FakeEncoder(dim=4).encode_image)
    refusal = pytest.raises(SearchError, match="vectors of 4, 8 were announced")
    with announced as library, refusal:
        library.add([pictures], encoder)
    assert stored(tmp_path / "library") == {}
