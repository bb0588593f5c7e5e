import numpy as np
import pytest

from deixis.data.simulated.scenes.backgrounds import BACKGROUNDS
from deixis.data.simulated.scenes.draw_scene import SIDE, draw_scene
from deixis.data.simulated.scenes.objects import COLOURS, NOUNS
from deixis.data.simulated.scenes.scene import Scene, Thing


def drawn(scene: Scene) -> np.ndarray:
    return np.asarray(draw_scene(scene, np.random.default_rng(0)), dtype=np.float64)


@pytest.mark.parametrize("noun", NOUNS)
def test_a_thing_is_drawn_in_its_box_and_nowhere_else(noun: str) -> None:
    thing = Thing(noun, "red", "large", 0.3, 0.6, 0.25)
    change = np.abs(drawn(Scene("meadow", (thing,))) - drawn(Scene("meadow", ()))).sum(axis=2) > 0
    rows, columns = np.nonzero(change)
    left, right, top, bottom, _ = (edge * SIDE for edge in thing.box)
    assert left - 1 <= columns.min() < columns.max() <= right + 1
    assert top - 1 <= rows.min() < rows.max() <= bottom + 1
    assert max(np.ptp(rows), np.ptp(columns)) > 0.85 * thing.extent * SIDE


@pytest.mark.parametrize("noun", NOUNS)
@pytest.mark.parametrize("colour", ["red", "blue", "yellow"])
def test_a_thing_shows_its_colour(noun: str, colour: str) -> None:
    picture = drawn(Scene("snow", (Thing(noun, colour, "large", 0.5, 0.5, 0.26),)))
    tile = picture[95:161, 95:161].reshape(-1, 3)
    palette = np.array(list(COLOURS.values()))
    distance = np.abs(tile[:, None] - palette).max(axis=2)
    close = np.bincount(distance.argmin(axis=1)[distance.min(axis=1) < 30], minlength=len(palette))
    vivid = {name: close[i] for i, name in enumerate(COLOURS) if name not in ("white", "black")}
    assert max(vivid, key=vivid.__getitem__) == colour
    assert vivid[colour] > 0.04 * len(tile)


def test_backgrounds_differ() -> None:
    means = np.array(
        [drawn(Scene(kind, ())).reshape(2, -1, 3).mean(axis=1) for kind in BACKGROUNDS]
    )
    means = means.reshape(len(BACKGROUNDS), -1)
    apart = np.abs(means[:, None] - means).max(axis=2)
    assert apart[~np.eye(len(means), dtype=bool)].min() > 15
