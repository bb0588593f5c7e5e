"""Sixteen bits are what numpy's own conversion gives, bit for bit."""

import numpy as np
import pytest

from deixis.features.store.half_precision import STRIP, in_half_precision


def same(values):
    with np.errstate(over="ignore", invalid="ignore"):
        found, wanted = in_half_precision(values), values.astype(np.float16)
    assert found.dtype == np.float16 and found.shape == values.shape
    assert np.array_equal(found.view(np.uint16), wanted.view(np.uint16))


def test_every_number_of_16_bits_stays():
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    same(every[np.isfinite(every)].astype(np.float32))
    same(every.astype(np.float32))


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_what_lies_between_two_goes_to_the_nearer_one(step):
    half = np.arange(0x7BFF, dtype=np.uint16)
    low, high = half.view(np.float16), (half + 1).astype(np.uint16).view(np.float16)
    between = (low.astype(np.float32) + high.astype(np.float32)) / 2
    bits = between.view(np.int32) + step
    same(bits[bits >= 0].view(np.float32))
    same(-bits[bits >= 0].view(np.float32))


def test_any_bits_at_all():
    rows = 7
    random = np.random.default_rng(0)
    same(random.integers(-(2**31), 2**31, (rows, STRIP), dtype=np.int32).view(np.float32))
    small = random.integers(0, 0x477FF000, (rows, STRIP), dtype=np.int32).view(np.float32)
    same(small * random.choice([-1, 1], small.shape).astype(np.float32))
    same(small[:, ::2])


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (1,), (2, 3, 4)])
def test_shapes_stay(shape):
    same(np.ones(shape, np.float32))
    same(np.ones(shape, np.float64))
