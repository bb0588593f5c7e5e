"""What is asked of a library, and what it answers."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from deixis.errors import SearchError
from deixis.features.alignment import Drawn, Link
from deixis.features.narration import Point, TimedWord
from deixis.features.typing_log import Edit
from deixis.search.filters import Filter

# How much a hit stands out: above what senseless queries reach, among it, or below.
Band = Literal["confident", "maybe", "rest"]


@dataclass(frozen=True, slots=True)
class Query:
    """Words, with or without a drawn trace, or a picture file; how many hits, out of which."""

    text: str | None = None
    image: Path | None = None
    k: int = 10
    where: Filter | None = None
    strokes: tuple[tuple[Point, ...], ...] = ()
    links: tuple[Link, ...] = ()
    words: tuple[TimedWord, ...] = ()  # when each word was said, where known
    typing: tuple[Edit, ...] = ()  # how the text was typed, key by key, where known
    trace_weight: float = 0.5  # 0: the words alone, 1: words and trace as the model reads them

    def __post_init__(self) -> None:
        if (self.text is None) == (self.image is None):
            raise SearchError("a query is either a text or a picture file; give exactly one")
        if self.text is not None and not self.text.strip():
            raise SearchError("the query is empty; say what the picture shows")
        if self.k < 1:
            raise SearchError(f"k is {self.k}; ask for at least one hit")
        if not 0 <= self.trace_weight <= 1:
            raise SearchError(f"the trace's weight is {self.trace_weight}; 0 to 1 would do")
        self._check_trace()

    def drawn(self) -> Drawn:
        """The words and what was drawn with them."""
        return Drawn(self.text or "", self.strokes, self.words, self.links, self.typing)

    def _check_trace(self) -> None:
        if self.text is None and (self.strokes or self.links or self.words or self.typing):
            raise SearchError("a trace goes with words; a picture is searched by on its own")
        for link in self.links:
            if not 0 <= link.start < link.end <= len(self.text or ""):
                raise SearchError(
                    f"a link names the characters {link.start} to {link.end} of a text "
                    f"with {len(self.text or '')}"
                )
            if not 0 <= link.stroke < len(self.strokes):
                raise SearchError(
                    f"a link names stroke {link.stroke}; there are {len(self.strokes)}"
                )


@dataclass(frozen=True, slots=True)
class Hit:
    """A found picture: its content hash, its score, and every file with that content."""

    id: str
    score: float
    paths: tuple[str, ...]
    band: Band = "maybe"
    text_score: float | None = None  # by the words alone, when a trace was drawn
    size: tuple[int, int] | None = None  # width and height of the upright picture
    stack: tuple[str, ...] = ()  # ids of near-duplicates that scored lower


@dataclass(frozen=True, slots=True)
class Results:
    """The hits of a query, best first, out of how many pictures."""

    query: Query
    hits: tuple[Hit, ...]
    searched: int
    text_order: tuple[str, ...] = ()  # ids as the words alone would rank them, with a trace
    notes: tuple[str, ...] = ()  # what the asker should know, such as that nothing fits

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        image = self.query.image
        asked = {"text": self.query.text, "image": image and str(image), "k": self.query.k}
        return {
            "query": asked,
            "hits": [asdict(hit) for hit in self.hits],
            "searched": self.searched,
            "text_order": self.text_order,
            "notes": self.notes,
        }
