"""What a text says about a scene, and exactly for which scenes it is true."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from deixis.data.simulated.scenes.scene import Scene, Thing

_EDGE = 1 / 3  # left is the left third of the picture, and so on
_CLEARLY = 0.12  # how much farther left a thing's centre must be to be "to the left of" another

PLACES = ("on the left", "on the right", "at the top", "at the bottom", "in the middle")
RELATIONS = ("to the left of", "to the right of", "above", "below")


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing as a text speaks of it; what is None is left unsaid."""

    noun: str | None = None
    colour: str | None = None
    size: str | None = None
    place: str | None = None

    def fits(self, thing: Thing) -> bool:
        """Whether everything that is said holds for the thing."""
        return (
            self.noun in (None, thing.noun)
            and self.colour in (None, thing.colour)
            and self.size in (None, thing.size)
            and (self.place is None or self.place in places_of(thing))
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """The things a scene must show, the relation of the first two, and the background."""

    mentions: tuple[Mention, ...]
    relation: str | None = None
    background: str | None = None

    def fits(self, scene: Scene) -> bool:
        """Whether the scene has different things for all mentions, in the claimed relation."""
        if self.background not in (None, scene.background):
            return False
        options = [[t for t in scene.things if mention.fits(t)] for mention in self.mentions]
        return any(
            len({thing.noun for thing in chosen}) == len(chosen)
            and (self.relation is None or self.relation in relations_of(chosen[0], chosen[1]))
            for chosen in product(*options)
        )


def places_of(thing: Thing) -> tuple[str, ...]:
    """Every place word that is true of a thing."""
    left, right = thing.x < _EDGE, thing.x > 1 - _EDGE
    top, bottom = thing.y < _EDGE, thing.y > 1 - _EDGE
    middle = not (left or right or top or bottom)
    holds = (left, right, top, bottom, middle)
    return tuple(place for place, true in zip(PLACES, holds, strict=True) if true)


def relations_of(a: Thing, b: Thing) -> tuple[str, ...]:
    """Every relation of the first thing to the second; there is always one."""
    across, down = b.x - a.x, b.y - a.y
    holds = (across > _CLEARLY, across < -_CLEARLY, down > _CLEARLY, down < -_CLEARLY)
    return tuple(relation for relation, true in zip(RELATIONS, holds, strict=True) if true)


class ClaimIndex:
    """Finds all scenes a claim is true of without trying every one.

    Every word is true of a set of things; where one thing is in the sets of all the words of a
    mention, the scene is a candidate, and only scenes that are so for all mentions are tried.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._things: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
        for index, scene in enumerate(scenes):
            for thing in scene.things:
                for word in (thing.noun, thing.colour, thing.size, *places_of(thing)):
                    self._things[word].add((index, thing.noun))

    def fitting(self, claim: Claim) -> list[int]:
        """The scenes the claim is true of, in order."""
        candidates = set.intersection(*(self._showing(mention) for mention in claim.mentions))
        return [index for index in sorted(candidates) if claim.fits(self._scenes[index])]

    def _showing(self, mention: Mention) -> set[int]:
        words = (mention.noun, mention.colour, mention.size, mention.place)
        things = set.intersection(*(self._things[word] for word in words if word is not None))
        return {index for index, _ in things}
