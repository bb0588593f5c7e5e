"""A library of drawn dogs and men, indexed by the packaged model with a small place head."""

import pytest

from deixis.search.library.library import Library
from place_runs import around, drawn, place_run, save_all

LEFT, RIGHT, TOP, BOTTOM = around(0.2, 0.5), around(0.8, 0.5), around(0.5, 0.2), around(0.5, 0.8)


@pytest.fixture(scope="session")
def dogs_and_men(tmp_path_factory):
    """The library, and the names of its pictures without their endings."""
    parent = tmp_path_factory.mktemp("pointing")
    save_all(
        parent / "pictures",
        [
            ("dog-left-man-right.png", drawn(LEFT, RIGHT, 50)),
            ("dog-right-man-left.png", drawn(RIGHT, LEFT, 51)),
            ("dog-top.png", drawn(TOP, None, 52)),
            ("dog-bottom.png", drawn(BOTTOM, None, 53)),
            ("dog-bottom-tall.png", drawn(BOTTOM, None, 56, size=(180, 320))),
            ("man-top.png", drawn(None, TOP, 54)),
            ("two-dogs.png", drawn(LEFT, None, 57, other_dog=RIGHT)),
            ("nothing.png", drawn(None, None, 55)),
        ],
    )
    library = Library(parent / "library", place_run(parent / "run"))
    library.add(parent / "pictures")
    yield library
    library.close()
