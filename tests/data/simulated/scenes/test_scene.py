from itertools import combinations

import numpy as np
import pytest

from deixis.data.simulated.scenes.objects import NOUNS
from deixis.data.simulated.scenes.scene import Scene, make_scenes


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return make_scenes(80, 15, np.random.default_rng(0), first_group=7)


def test_there_are_twenty_four_nouns() -> None:
    assert len(NOUNS) == 24


def test_things_lie_inside_the_picture_apart_and_never_twice(scenes: list[Scene]) -> None:
    for scene in scenes:
        assert len({thing.noun for thing in scene.things}) == len(scene.things)
        assert len(scene.things) in (4, 5)
        for thing in scene.things:
            assert min(thing.box[:4]) >= -1e-4
            assert max(thing.box[:4]) <= 1 + 1e-4
        for a, b in combinations(scene.things, 2):
            assert np.hypot(a.x - b.x, a.y - b.y) >= 0.2
            assert (
                a.box[1] <= b.box[0] + 1e-9
                or b.box[1] <= a.box[0] + 1e-9
                or (a.box[3] <= b.box[2] + 1e-9 or b.box[3] <= a.box[2] + 1e-9)
            )


def test_twins_show_the_same_things_on_the_same_ground(scenes: list[Scene]) -> None:
    groups = sorted({scene.group for scene in scenes} - {-1})
    assert groups == list(range(7, 22))
    for group in groups:
        twins = [scene for scene in scenes if scene.group == group]
        assert [scene.twin for scene in twins] == [0, 1, 2, 3]
        seen = {
            (scene.background, tuple((t.noun, t.colour, t.size, t.extent) for t in scene.things))
            for scene in twins
        }
        assert len(seen) == 1


def test_the_first_two_twins_fill_the_same_places_with_two_described_things_exchanged(
    scenes: list[Scene],
) -> None:
    for first, second in zip(scenes[:60:4], scenes[1:60:4], strict=True):
        assert {t.box for t in first.things} == {t.box for t in second.things}
        moved = [(a, b) for a, b in zip(first.things, second.things, strict=True) if a != b]
        assert len(moved) == 2
        (a, a_after), (b, b_after) = moved
        assert (a_after.box, b_after.box) == (b.box, a.box)
        assert a in first.described
        assert b in first.described


def test_the_other_twins_are_laid_out_anew(scenes: list[Scene]) -> None:
    for start in range(0, 60, 4):
        layouts = {frozenset(t.box for t in scene.things) for scene in scenes[start : start + 4]}
        assert len(layouts) == 3
