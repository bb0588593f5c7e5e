"""Manifests that somebody wrote for others to open: programs in them, and values of other kinds."""

import sqlite3
from pathlib import Path

import pytest

from deixis.errors import SearchError
from deixis.search.library.library_status import status
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query
from deixis.search.query.searcher import Searcher
from fake_encoder import FakeEncoder, fake_places

ENDLESS = """CREATE VIEW file AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT 'p' || i path, i size, i mtime_ns, 'h' || i hash, NULL reason FROM n"""
PROGRAMS = {
    "a view without end": ("DROP TABLE file", ENDLESS),
    "a trigger": ("CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM content; END",),
    "a virtual table": ("DROP TABLE note", "CREATE VIRTUAL TABLE note USING fts5(path, kind)"),
}
SEARCHED = {
    "rows that are text": "UPDATE content SET parts = 'x'",
    "rows below zero": "UPDATE content SET row = -row - 1",
    "contents without rows": "UPDATE content SET parts = 0",
    "a fingerprint of text": "UPDATE look SET print = 'x'",
    "a fingerprint cut short": "UPDATE look SET print = x'00'",
    "a size below zero": "UPDATE look SET width = -1",
}
COMPARED = {
    "a path of bytes": "UPDATE file SET path = x'ff00' WHERE path LIKE '%00.png'",
    "a path with a zero": "UPDATE file SET path = path || char(0)",
    "a folder with a zero": "UPDATE root SET path = path || char(0)",
    "a size of text": "UPDATE file SET size = 'large'",
    "rows that are text": "UPDATE content SET parts = 'x'",
}


def changed(library: Path, *statements: str) -> None:
    db = sqlite3.connect(library / "generation-1" / "manifest.sqlite")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def search(library: Path) -> None:
    encoder = FakeEncoder()
    with LibraryStore(library) as store:
        Searcher(encoder, store).search(Query(text="a ball"))


def index(library: Path) -> None:
    encoder = FakeEncoder()
    with LibraryStore(library) as store:
        store.add([library.parent / "pictures"], encoder)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_would_run_in_a_manifest_is_refused_before_it_runs(library, name):
    changed(library, *PROGRAMS[name])
    for use in (search, status, index):
        with pytest.raises(SearchError, match="which no library has"):
            use(library)


@pytest.mark.parametrize("name", SEARCHED)
def test_values_of_other_kinds_are_damage_to_a_search(library, name):
    changed(library, SEARCHED[name])
    with pytest.raises(SearchError, match="deixis verify"):
        search(library)


@pytest.mark.parametrize("name", COMPARED)
def test_values_of_other_kinds_are_damage_to_a_comparison_with_the_disk(library, name):
    changed(library, COMPARED[name])
    with pytest.raises(SearchError, match="deixis verify"):
        status(library)


@pytest.mark.parametrize("name", ["a path of bytes", "a size of text", "rows that are text"])
def test_values_of_other_kinds_are_damage_to_an_indexing(library, name):
    changed(library, COMPARED[name])
    with pytest.raises(SearchError, match="deixis verify"):
        index(library)


ASKED = (
    "library",
    "pictures",
    "pictures?order=folder",
    "examples",
    "search?text=dog&where=label:dog",
)
SERVED = {
    **SEARCHED,
    **COMPARED,
    "a time of text": "UPDATE file SET mtime_ns = 'x'",
    "a time of bytes": "UPDATE file SET mtime_ns = x'ff00'",
    "a time past the calendar": "UPDATE file SET mtime_ns = 9223372036854775807",
    "a time before it": "UPDATE file SET mtime_ns = -9223372036854775808",
    "labels of bytes": "UPDATE note SET value = x'ff00'",
    "labels of numbers": "UPDATE note SET value = 5",
    "dates of text": "INSERT OR REPLACE INTO shot SELECT hash, 'x', 'y', 'z' FROM content",
}


@pytest.mark.parametrize("name", [*SERVED, "no database"])
@pytest.mark.parametrize("when", ["before it is opened", "while it is served"])
def test_a_server_answers_whatever_a_manifest_holds(library, client, name, when):
    def hits():
        return client.get("/v1/search?text=a&k=1").json().get("hits", [])

    found = hits() if when == "while it is served" else []
    if name == "no database":
        (library / "generation-1" / "manifest.sqlite").write_bytes(b"no database" * 9000)
    else:
        changed(library, SERVED[name])
    asked = [*ASKED, *(f"images/{hit['id']}" for hit in found or hits())]
    for path in asked:
        answer = client.get(f"/v1/{path}")
        assert answer.status_code < 500, (path, answer.text)


@pytest.mark.parametrize("slot", ["'x' || slot", "-slot - 1"])
def test_slots_of_other_kinds_are_damage(library, slot):
    encoder = FakeEncoder(places=fake_places())
    with LibraryStore(library) as store:
        store.rebuild([library.parent / "pictures"], encoder)
        table = store.generation.manifest.cells
        db = sqlite3.connect(store.generation.folder / "manifest.sqlite")
        db.execute(f"UPDATE cells SET slot = {slot}")
        db.commit()
        db.close()
        for read in (table.of, lambda head: table.slots_by_row(head, 40)):
            with pytest.raises(sqlite3.DatabaseError, match="not as it was written"):
                read(encoder.places.identity)
