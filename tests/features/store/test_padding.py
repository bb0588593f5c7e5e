import numpy as np

from deixis.features.store.packed import PackedRegions
from deixis.features.store.padding import padded_arrays


def test_what_a_network_does_not_read_is_not_padded():
    values, boxes = np.ones((3, 2), np.float32), np.ones((3, 5), np.float32)
    packed = PackedRegions(values, np.array([0, 1, 3]), boxes, np.ones((2, 4), np.float32))
    whole, small = padded_arrays(packed), padded_arrays(packed, {"values", "boxes"})
    assert whole.keys() == {"mask", "values", "boxes", "pooled"}
    assert small.keys() == {"mask", "pooled"}
    assert whole["values"][0].tolist() == [[1, 1], [0, 0]]
    assert np.array_equal(whole["mask"], small["mask"])
