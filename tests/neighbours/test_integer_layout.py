import json

import numpy as np
import pytest

from deixis.neighbours import integer_layout as module
from deixis.neighbours.integer_layout import integer_layout, processor_name, sums_are_right
from deixis.neighbours.integer_product import IntegerProduct


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DEIXIS_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("rows", "dim"), [(1, 1), (17, 5), (300, 513)])
def test_products_without_saturation_are_exact(rows, dim):
    random = np.random.default_rng(0)
    left = random.integers(-127, 128, (4, dim)).astype(np.int8)
    right = random.integers(-127, 128, (dim, rows)).astype(np.int8)
    wanted = left.astype(np.int64) @ right.astype(np.int64)
    room = np.empty(wanted.size, np.float32)
    found = IntegerProduct(right, np.ones(rows, np.float32), "unsigned")(left, room)
    assert np.array_equal(found, wanted)


def test_what_a_child_process_found_is_kept(own_cache, monkeypatch):
    found = integer_layout()
    assert found is None or sums_are_right(found)
    monkeypatch.setattr(module, "_works", lambda layout: pytest.fail("tried again"))
    assert integer_layout() == found
    (file,) = own_cache.iterdir()
    assert json.loads(file.read_text())["machine"][0] == processor_name()


def test_a_layout_that_ends_the_process_is_not_used(monkeypatch):
    monkeypatch.setattr(module, "_works", lambda layout: layout == "unsigned")
    assert integer_layout() == "unsigned"


def test_where_none_works_there_is_none(monkeypatch):
    monkeypatch.setattr(module, "_works", lambda layout: False)
    assert integer_layout() is None
    assert integer_layout() is None  # as kept
