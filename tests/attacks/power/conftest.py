"""Real disks are asked here whether they hold what was written."""

import os
import posix

import pytest


@pytest.fixture(autouse=True)
def _disks_that_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", posix.fsync)
