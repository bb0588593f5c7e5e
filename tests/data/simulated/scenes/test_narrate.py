import numpy as np
import pytest

from deixis.data.simulated.scenes.narrate import PLACE_WORDS, NarratedScene, narrate
from deixis.data.simulated.scenes.objects import NOUNS
from deixis.data.simulated.scenes.scene import Scene, make_scenes


@pytest.fixture(scope="module")
def narrated() -> list[tuple[Scene, NarratedScene]]:
    rng = np.random.default_rng(11)
    return [(scene, narrate(scene, rng)) for scene in make_scenes(150, 20, rng, first_group=0)]


def test_each_described_thing_is_named_once(narrated: list[tuple[Scene, NarratedScene]]) -> None:
    for scene, story in narrated:
        words = [word.text.strip(",.") for word in story.narration.words]
        named = [word for word in words if word in NOUNS]
        assert named == [mention.noun for mention in story.mentions]
        assert sorted(named) == sorted(thing.noun for thing in scene.described)
        assert story.narration.text == " ".join(word.text for word in story.narration.words)


def test_words_follow_each_other_in_time(narrated: list[tuple[Scene, NarratedScene]]) -> None:
    for _, story in narrated:
        words = story.narration.words
        assert all(word.start < word.end for word in words)
        assert all(a.end <= b.start + 1e-9 for a, b in zip(words, words[1:], strict=False))


def test_the_trace_is_sampled_at_twenty_hertz(narrated: list[tuple[Scene, NarratedScene]]) -> None:
    for _, story in narrated:
        (stroke,) = story.narration.strokes
        steps = np.diff([point.t for point in stroke])
        assert np.allclose(steps, 0.05, atol=1e-3)


def test_the_trace_circles_the_thing_that_is_named(
    narrated: list[tuple[Scene, NarratedScene]],
) -> None:
    misses, nearest_is_named, spans = [], [], []
    for scene, story in narrated:
        places = {thing.noun: thing for thing in scene.things}
        for word in story.narration.words:
            thing = places.get(word.text.strip(",."))
            if thing is None:
                continue
            during = [
                (p.x, p.y) for p in story.narration.strokes[0] if word.start <= p.t <= word.end
            ]
            middle = np.mean(during, axis=0)
            away = {t.noun: np.hypot(*(middle - (t.x, t.y))) for t in scene.things}
            misses.append(away[thing.noun])
            nearest_is_named.append(min(away, key=away.__getitem__) == thing.noun)
            spans.append(np.ptp(during, axis=0).max() / thing.extent)
    assert np.mean(nearest_is_named) > 0.95
    assert np.median(misses) < 0.08
    assert np.median(spans) > 0.4  # it goes around, it does not rest


def test_place_words_are_rare_and_true(narrated: list[tuple[Scene, NarratedScene]]) -> None:
    said = []
    for scene, story in narrated:
        places = {thing.noun: thing for thing in scene.things}
        for mention in story.mentions:
            assert mention.noun is not None
            assert mention.fits(places[mention.noun])
            said.append(mention.place is not None)
    # Things for which no place word is true make it rarer than the coin.
    assert 0.5 * PLACE_WORDS < np.mean(said) < 1.3 * PLACE_WORDS
