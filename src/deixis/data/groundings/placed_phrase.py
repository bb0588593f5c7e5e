"""A phrase of a text and where people say its thing is."""

from dataclasses import dataclass

EdgeBox = tuple[float, float, float, float]  # xmin, xmax, ymin, ymax, relative to the picture


@dataclass(frozen=True, slots=True)
class GroundedPhrase:
    """A phrase of a text and the boxes people drew for it.

    Phrases of one image that share an ``entity`` refer to the same thing.
    """

    start: int  # characters of the text
    end: int
    entity: str
    types: tuple[str, ...]  # such as people, clothing, scene
    boxes: tuple[EdgeBox, ...] = ()  # empty: named, but no box was drawn


@dataclass(frozen=True, slots=True)
class PlacedPhrase:
    """A grounded phrase with the text that contains it."""

    text: str
    phrase: GroundedPhrase

    @property
    def span(self) -> tuple[int, int]:
        """The phrase's first character, and the one after its last."""
        return self.phrase.start, self.phrase.end

    @property
    def words(self) -> str:
        """The phrase as it is written in the text."""
        return self.text[self.phrase.start : self.phrase.end]
