"""Arguments and file names that are no UTF-8 are answered by a sentence, never by a traceback."""

import json
import os
import subprocess
import sys

import pytest
from made_library import made_library


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", b"\xff"),
        ("search", "dog", "--where", b"path:\xff"),
        ("search", "dog", "--at", b"\xff=0,1,0,1"),
        ("search", "--image", b"\xff.png"),
        ("serve", "--token", b"\xff0123456789abcdef"),
        ("serve", "--host", b"\xff", "--token", "0123456789abcdef"),
        ("verify", "--library", b"\xff"),
    ],
    ids=lambda arguments: b" ".join(map(os.fsencode, arguments)).decode(errors="replace"),
)
def test_arguments_are_refused_by_a_sentence(command, tmp_path, arguments):
    made_library(tmp_path, 1)
    done = command(*map(os.fsdecode, arguments), cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr


def test_names_of_folders_can_be_printed_as_json(tmp_path):
    """In a process that the system starts with them, not in a fork."""
    folder = os.fsdecode(b"\xff")
    made_library(tmp_path, 1).rename(tmp_path / folder)
    line = [sys.executable, "-c", "from deixis.cli import main; main()"]
    line += ["status", "--library", folder, "--json"]
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}  # as outside the C locale
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, cwd=tmp_path, env=strict
    )
    assert json.loads(done.stdout)["folder"].endswith("\udcff"), done.stderr
