"""Files appear whole or not at all, and a lock says who holds it."""

import os
import subprocess
import sys
import threading

import pytest

from deixis import files
from deixis.errors import DeixisError
from deixis.files import locked, replacing, write_atomic
from deixis.paths import cache_folder


def test_a_write_that_fails_leaves_the_old_file_and_no_trace(tmp_path):
    write_atomic(tmp_path / "a", b"old")
    with pytest.raises(RuntimeError), replacing(tmp_path / "a") as temporary:
        temporary.write_bytes(b"half")
        raise RuntimeError
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_held_lock_names_its_holder_and_a_dead_holder_frees_it(tmp_path):
    code = f"""
import sys, time
from pathlib import Path
from deixis.files import locked
with locked(Path({str(tmp_path / ".lock")!r})):
    print("held", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        with (
            pytest.raises(DeixisError, match=f"written by process {other.pid} on"),
            locked(tmp_path / ".lock", seconds=0.1),
        ):
            pass
        other.kill()
    with locked(tmp_path / ".lock", seconds=60.0):
        pass


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("DEIXIS_CACHE")
    assert cache_folder().name == "deixis"


def test_who_waits_for_a_lock_says_for_whom(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("deixis.files.SILENT", 0.05)
    held, said = threading.Event(), threading.Event()
    monkeypatch.setattr(files.LOG, "filters", [lambda record: said.set() or True])

    def hold():
        with locked(tmp_path / "lock"):
            held.set()
            said.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(60)
    with locked(tmp_path / "lock"):
        assert said.is_set()
    holder.join()
    assert f"waiting for '{tmp_path}': process {os.getpid()} on" in caplog.text
