"""Folders are followed: what is added, renamed, changed and removed reaches the library."""

import os
import threading
import time
from collections import Counter

import pytest

from deixis.errors import SearchError
from deixis.search import folder_watch
from deixis.search.folder_watch import FolderWatch
from deixis.search.library.library_store import LibraryStore
from fake_encoder import FakeEncoder

PATIENCE = 60.0  # seconds; a busy machine reports changes late


class Followed:
    """A folder that is followed by a thread, and what its passes did."""

    def __init__(self, folder):
        self.pictures, self.library = folder / "pictures", folder / "library"
        self.pictures.mkdir()
        self.passes, self.errors, self.stop = [], [], threading.Event()
        self.failing, self.begun, self.encoder = 0, 0, FakeEncoder()
        watch = FolderWatch([folder], self.library, self.passes.append, self.errors.append)
        self.thread = threading.Thread(target=watch.run, args=(self.add, self.stop))
        self.thread.start()
        self.wait(lambda: self.passes)

    def add(self):
        self.begun += 1
        if self.failing:
            self.failing -= 1
            raise SearchError("somebody else is indexing")
        with LibraryStore.open_or_create(self.library, self.encoder) as store:
            return store.add([self.pictures], self.encoder)

    def wait(self, done):
        until = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < until and self.thread.is_alive()
            time.sleep(0.02)

    def counts(self):
        return sum((Counter(report.counts) for report in self.passes), Counter())


@pytest.fixture
def followed(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_watch, "PAUSE", 0.05)
    monkeypatch.setattr(folder_watch, "SHARE", 0.0)
    monkeypatch.setattr(folder_watch, "SETTLE", 50)
    monkeypatch.setattr(folder_watch, "WAKE", 50)
    found = Followed(tmp_path)
    yield found
    found.stop.set()
    found.thread.join(PATIENCE)
    assert not found.thread.is_alive()


def test_what_changes_in_a_folder_reaches_the_library(followed):
    (followed.pictures / "one.jpg").write_text("one")
    (followed.pictures / "two.jpg").write_text("two")
    followed.wait(lambda: followed.counts()["added"] == 2)
    (followed.pictures / "one.jpg").rename(followed.pictures / "first.jpg")
    followed.wait(lambda: followed.counts()["renamed"] == 1)
    (followed.pictures / "two.jpg").write_text("two, changed")
    followed.wait(lambda: followed.counts()["updated"] == 1)
    (followed.pictures / "two.jpg").unlink()
    followed.wait(lambda: followed.counts()["removed"] == 1)
    assert followed.counts()["added"] == 2  # a rename is no new picture


def test_a_renamed_folder_keeps_its_vectors(followed):
    (followed.pictures / "old").mkdir()
    (followed.pictures / "old" / "one.jpg").write_text("one")
    followed.wait(lambda: followed.counts()["added"] == 1)
    encoded = sum(report.encoded for report in followed.passes)
    os.rename(followed.pictures / "old", followed.pictures / "new")
    followed.wait(lambda: followed.counts()["renamed"] == 1)
    assert sum(report.encoded for report in followed.passes) == encoded


def test_a_pass_that_fails_is_reported_and_tried_again(followed):
    followed.failing = 2
    (followed.pictures / "one.jpg").write_text("one")
    followed.wait(lambda: followed.counts()["added"] == 1)
    assert [str(error) for error in followed.errors] == ["somebody else is indexing"] * 2


def test_a_library_inside_a_followed_folder_does_not_wake_itself(followed):
    (followed.pictures / "one.jpg").write_text("one")
    followed.wait(lambda: followed.counts()["added"] == 1)

    def rests():
        begun = followed.begun
        time.sleep(2)
        return followed.begun == begun

    followed.wait(rests)  # after what the last pass wrote was reported, once


def test_what_is_wrong_from_the_start_is_the_callers_to_hear(tmp_path):
    def add():
        raise SearchError("'none' does not exist")

    watch = FolderWatch([tmp_path / "none"], tmp_path / "library", print, print)
    with pytest.raises(SearchError, match="does not exist"):
        watch.run(add, threading.Event())
