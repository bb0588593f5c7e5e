"""Five differently worded captions of a scene, each with the claim it makes."""

from collections.abc import Callable, Sequence

import numpy as np

from deixis.data.simulated.scenes.claims import Claim, Mention, places_of, relations_of
from deixis.data.simulated.scenes.scene import Scene, Thing

Caption = tuple[str, Claim]

_GROUNDS = {
    "beach": ("on a beach", "by the sea"),
    "desert": ("in a desert", "on desert sand"),
    "meadow": ("in a meadow", "on the grass"),
    "night": ("at night", "under a night sky"),
    "room": ("in a room", "indoors"),
    "snow": ("in the snow", "on a snowy day"),
}


def caption_scene(scene: Scene, rng: np.random.Generator) -> list[Caption]:
    """Write the five captions, in random order; each names at most three of the things.

    Two are ambiguous on purpose: they leave so much unsaid that they often fit other scenes.
    """
    captions = []
    for write in _WRITERS:
        chosen = [scene.things[i] for i in rng.permutation(len(scene.things))[:3]]
        captions.append(write(scene, chosen, rng))
    return [captions[i] for i in rng.permutation(len(captions))]


def noun_phrase(mention: Mention) -> str:
    """A mention as a noun phrase with its article."""
    words = [mention.size, mention.colour, mention.noun or "thing"]
    phrase = " ".join(word for word in words if word is not None)
    article = "an" if phrase[0] in "aeiou" else "a"
    return f"{article} {phrase}" + (f" {mention.place}" if mention.place else "")


def _related(scene: Scene, things: list[Thing], rng: np.random.Generator) -> Caption:
    """Two things with their colours, and how one stands to the other."""
    first, second = (_mention(thing, rng, colour=1.0, size=0.2) for thing in things[:2])
    relation = _any_of(relations_of(things[0], things[1]), rng)
    frame = _any_of(("{} {} {}.", "There is {} {} {}.", "You can see {} {} {}."), rng)
    return _sentence(frame.format(noun_phrase(first), relation, noun_phrase(second))), Claim(
        (first, second), relation
    )


def _listed(scene: Scene, things: list[Thing], rng: np.random.Generator) -> Caption:
    """Three things side by side, some with colours."""
    mentions = tuple(_mention(thing, rng, colour=0.5, size=0.1) for thing in things)
    frame = _any_of(("{}, {} and {}.", "A picture of {}, {} and {}.", "We see {}, {}, {}."), rng)
    return _sentence(frame.format(*map(noun_phrase, mentions))), Claim(mentions)


def _placed(scene: Scene, things: list[Thing], rng: np.random.Generator) -> Caption:
    """A thing with its place, if a place word is true of it, and another thing."""
    places = places_of(things[0])
    place = _any_of(places, rng) if places else None
    first = _mention(things[0], rng, colour=0.7, size=0.2, place=place)
    second = _mention(things[1], rng, colour=0.5, size=0.2)
    frame = _any_of(("{}, and {}.", "{} with {} elsewhere.", "Look: {}; also {}."), rng)
    return _sentence(frame.format(noun_phrase(first), noun_phrase(second))), Claim((first, second))


def _grounded(scene: Scene, things: list[Thing], rng: np.random.Generator) -> Caption:
    """Ambiguous: two nouns without colours and the ground."""
    mentions = (Mention(noun=things[0].noun), Mention(noun=things[1].noun))
    ground = _any_of(_GROUNDS[scene.background], rng)
    frame = _any_of(("{} and {} {}.", "Somebody left {} and {} {}.", "Just {} and {} {}."), rng)
    claim = Claim(mentions, background=scene.background)
    return _sentence(frame.format(*map(noun_phrase, mentions), ground)), claim


def _single(scene: Scene, things: list[Thing], rng: np.random.Generator) -> Caption:
    """Ambiguous: one thing with its colour, perhaps another only by its colour and size."""
    first = Mention(things[0].noun, things[0].colour)
    if rng.random() < 0.5:
        frame = _any_of(("There is {}.", "{} among other things.", "I like {} here."), rng)
        return _sentence(frame.format(noun_phrase(first))), Claim((first,))
    second = Mention(colour=things[1].colour, size=things[1].size)
    frame = _any_of(("{} and {}.", "Next to other things: {} and {}."), rng)
    return _sentence(frame.format(noun_phrase(first), noun_phrase(second))), Claim((first, second))


_WRITERS: tuple[Callable[[Scene, list[Thing], np.random.Generator], Caption], ...] = (
    _related,
    _listed,
    _placed,
    _grounded,
    _single,
)


def _mention(
    thing: Thing,
    rng: np.random.Generator,
    *,
    colour: float,
    size: float,
    place: str | None = None,
) -> Mention:
    """A thing by its noun, with colour and size said at these probabilities."""
    says_colour, says_size = rng.random(2) < (colour, size)
    return Mention(
        thing.noun,
        thing.colour if says_colour else None,
        thing.size if says_size else None,
        place,
    )


def _any_of(choices: Sequence[str], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
