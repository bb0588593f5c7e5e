"""The screenshots' photographs come from packages; without one, a sentence says how to get it."""

import importlib.util

import pytest
from checks import photograph_gallery


def test_a_package_that_is_not_here_is_named_with_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        photograph_gallery.write_gallery(tmp_path / "Pictures")
    assert (
        "the package skimage, which is not here: `make screenshots` brings it" in ended.value.code
    )
