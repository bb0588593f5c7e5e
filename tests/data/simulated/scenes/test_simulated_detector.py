import numpy as np

from deixis.data.simulated.scenes.objects import NOUNS
from deixis.data.simulated.scenes.scene import make_scenes
from deixis.data.simulated.scenes.simulated_detector import WIDTH, detect


def test_regions_encode_noun_and_place_under_noise() -> None:
    rng = np.random.default_rng(0)
    found: dict[str, list[np.ndarray]] = {noun: [] for noun in NOUNS}
    for scene in make_scenes(60, 0, rng, first_group=0):
        values, boxes = detect(scene, rng)
        assert values.shape == (len(boxes), WIDTH)
        assert len(scene.things) + 4 <= len(boxes) <= len(scene.things) + 7
        assert np.allclose(
            boxes[:, 4], (boxes[:, 1] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 2]), atol=1e-6
        )
        for thing in scene.things:
            off = np.abs(boxes[:, :4] - np.array(thing.box[:4])).max(axis=1)
            assert off.min() < 0.06
            found[thing.noun].append(values[off.argmin()].astype(np.float64))
    within = [np.corrcoef(rows)[0, 1] for rows in found.values() if len(rows) > 1]
    across = [
        np.corrcoef(found[a][0], found[b][0])[0, 1] for a, b in zip(NOUNS, NOUNS[1:], strict=False)
    ]
    assert np.mean(within) > np.mean(across) + 0.25
