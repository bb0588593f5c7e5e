"""Cells are the mean over a picture and its mirror image, normalised layer by layer."""

import numpy as np

from deixis.features.backbones.cells import MIDDLE, Cells
from deixis.features.backbones.efficientnet_lite import LiteMaps
from deixis.features.places.cell_grid import on_grid


class Patches:
    """A network whose features are means of pixels and their squares."""

    name = "patches"

    def maps(self, pictures):
        grid, middle = (
            np.stack([self._cells(pixels, side) for pixels in pictures]) for side in (7, 14)
        )
        return LiteMaps(grid, grid.mean(axis=1), middle)

    def _cells(self, pixels, side):
        cut = pixels.reshape(side, 28 // side, side, 28 // side, 3).astype(np.float32)
        return np.concatenate([cut.mean((1, 3)), (cut**2).mean((1, 3))], axis=2).reshape(-1, 6)


def test_both_views_count_and_each_layer_is_normalised():
    random = np.random.default_rng(0)
    pictures = [random.integers(0, 256, (28, 28, 3), dtype=np.uint8) for _ in range(3)]
    network = Patches()
    packed = Cells((network,))([(pixels,) for pixels in pictures])
    seen, turned = network.maps(pictures), network.maps([pixels[:, ::-1] for pixels in pictures])
    parts = []
    for name, side, weight in (("grid", 7, 1.0), ("middle", 14, MIDDLE)):
        back = getattr(turned, name).reshape(3, side, side, 6)[:, :, ::-1].reshape(3, -1, 6)
        mean = on_grid((getattr(seen, name) + back) / 2).astype(np.float64)
        mean -= mean.mean(axis=2, keepdims=True)
        parts.append(weight * mean / np.sqrt((mean**2).mean(axis=2, keepdims=True) + 1e-5))
    wanted = np.concatenate(parts, axis=2).reshape(-1, 12)
    assert np.allclose(packed.values, wanted, atol=1e-4)
    assert np.allclose(packed.pooled, (seen.pooled + turned.pooled) / 2)
