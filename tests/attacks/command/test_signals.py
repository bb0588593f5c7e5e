"""Ctrl-C and a plain kill end any verb with one line and the code shells expect."""

import signal
import subprocess
import sys
import time

import pytest

WAITING = """
import sys, time
from deixis.cli.command import app, main

@app.command("wait")
def wait():
    print("ready", flush=True)
    try:
        time.sleep(600)
    except Exception:
        print("swallowed", flush=True)

sys.argv = ["deixis", "wait"]
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_verb_with_one_line(number, code):
    verb = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert verb.stdout.readline() == "ready\n"
    time.sleep(0.1)
    verb.send_signal(number)
    out, said = verb.communicate(timeout=120)
    assert verb.returncode == code
    assert out == ""
    assert said.startswith("stopped: ")
    assert said.count("\n") == 1
