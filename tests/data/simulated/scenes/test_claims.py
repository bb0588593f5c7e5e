from itertools import permutations

import numpy as np
import pytest

from deixis.data.simulated.scenes.captions import caption_scene
from deixis.data.simulated.scenes.claims import (
    PLACES,
    RELATIONS,
    Claim,
    ClaimIndex,
    Mention,
    places_of,
    relations_of,
)
from deixis.data.simulated.scenes.scene import Scene, Thing, make_scenes


def true_by_hand(claim: Claim, scene: Scene) -> bool:
    """The claim tried on every ordered choice of things, word by word."""
    if claim.background and claim.background != scene.background:
        return False
    for things in permutations(scene.things, len(claim.mentions)):
        said = [
            (wanted, found)
            for mention, thing in zip(claim.mentions, things, strict=True)
            for wanted, found in (
                (mention.noun, [thing.noun]),
                (mention.colour, [thing.colour]),
                (mention.size, [thing.size]),
                (mention.place, by_hand_places(thing)),
            )
            if wanted is not None
        ]
        if claim.relation:
            said.append((claim.relation, by_hand_relations(*things[:2])))
        if all(wanted in found for wanted, found in said):
            return True
    return False


def by_hand_places(thing: Thing) -> list[str]:
    inside = 1 / 3 <= thing.x <= 2 / 3 and 1 / 3 <= thing.y <= 2 / 3
    table = {
        "on the left": thing.x < 1 / 3,
        "on the right": thing.x > 2 / 3,
        "at the top": thing.y < 1 / 3,
        "at the bottom": thing.y > 2 / 3,
        "in the middle": inside,
    }
    return [place for place in PLACES if table[place]]


def by_hand_relations(a: Thing, b: Thing) -> list[str]:
    table = {
        "to the left of": b.x - a.x > 0.12,
        "to the right of": a.x - b.x > 0.12,
        "above": b.y - a.y > 0.12,
        "below": a.y - b.y > 0.12,
    }
    return [relation for relation in RELATIONS if table[relation]]


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return make_scenes(32, 4, np.random.default_rng(5), first_group=0)


def test_the_index_finds_exactly_the_scenes_a_caption_is_true_of(scenes: list[Scene]) -> None:
    index = ClaimIndex(scenes)
    rng = np.random.default_rng(0)
    sizes = []
    for own, scene in enumerate(scenes):
        for _, claim in caption_scene(scene, rng):
            found = index.fitting(claim)
            assert found == [i for i, s in enumerate(scenes) if true_by_hand(claim, s)]
            assert own in found
            sizes.append(len(found))
    assert min(sizes) == 1
    assert max(sizes) > 4  # some fit beyond their twin group


def test_two_mentions_need_two_things() -> None:
    ball = Thing("ball", "red", "small", 0.2, 0.2, 0.12)
    cup = Thing("cup", "blue", "small", 0.7, 0.7, 0.12)
    claim = Claim((Mention("ball"), Mention(colour="red")))
    assert not claim.fits(Scene("snow", (ball, cup)))
    red_cup = Thing("cup", "red", "small", 0.7, 0.7, 0.12)
    assert claim.fits(Scene("snow", (ball, red_cup)))


def test_things_always_stand_in_some_relation(scenes: list[Scene]) -> None:
    for scene in scenes:
        for a, b in permutations(scene.things, 2):
            assert relations_of(a, b)
            assert list(places_of(a)) == by_hand_places(a)
