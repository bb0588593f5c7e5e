"""What is searched for in a library, and what comes back.

A query changes shape six times on its way from the page to the ranking:

1. the page's text field and canvas, in JavaScript;
2. ``QueryBody``: the same as JSON, checked for type and size;
3. ``Query``: text with its ``Drawing``, or a picture file; every rule is checked here;
4. ``Narration``: text and strokes as if spoken, each stroke drawn while its words are said;
5. ``EncodedQuery``: its vectors, of text and strokes together and of the text alone;
6. ``Results``: the ranking.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from deixis.errors import SearchError
from deixis.features.store.image_files import PictureSource
from deixis.features.trace.cleaning import MOST_POINTS
from deixis.features.trace.drawing import Drawing
from deixis.features.words.vocabulary import split_words, word_spans
from deixis.search.places.named_places import drawing_at, read_points
from deixis.search.query.filters import Filter, optional_filter
from deixis.search.query.narration_file import read_narration
from deixis.search.query.whole_characters import require_whole

# How much a hit stands out: above what senseless queries reach, among it, or below.
Band = Literal["confident", "maybe", "rest"]
NoteCode = Literal[
    "nothing_fits",
    "nothing_passes",
    "places_missing",
    "trace_not_aligned",
    "trace_not_read",
    "trace_too_wide",
]
LATEST = 1e6  # seconds, either way, a pointer sample or a spoken word may lie from zero
MOST_TIMED = 1_000  # words with times; finding each in the text takes time
FARTHEST = 100.0  # canvas sides a pointer sample may lie from the canvas


@dataclass(frozen=True, slots=True)
class Query:
    """A text with or without strokes, or a picture file; how many hits, and out of which.

    >>> Query(text="a red boat", k=3).k
    3
    """

    text: str | None = None
    image: PictureSource | None = None
    k: int = 10
    where: Filter | None = None
    drawing: Drawing = Drawing()

    @classmethod
    def of(
        cls,
        text: str | None = None,
        *,
        image: Path | None = None,
        narration: Path | None = None,
        at: Sequence[str] = (),
        k: int = 10,
        where: str | None = None,
    ) -> "Query":
        """A query as the command takes it: words, a picture file, or a file with a narration.

        ``at`` are places of its phrases, such as ``a dog=0.1,0.4,0.5,0.9``.
        """
        if at and text is None:
            raise SearchError("places need a text; say what the picture shows, too")
        drawing = drawing_at(text or "", read_points(at))
        if narration is not None:
            if text is not None:
                raise SearchError("a narration has its own words; leave the text out")
            text, drawing = read_narration(narration)
        return cls(text, image, k, optional_filter(where), drawing)

    def __post_init__(self) -> None:
        if (self.text is None) == (self.image is None):
            raise SearchError("a query is either a text or a picture file; give exactly one")
        if self.text is not None and not self.text.strip():
            raise SearchError("the query is empty; say what the picture shows")
        require_whole(self.text or "", "the text")
        if self.k < 1:
            raise SearchError(f"k is {self.k}; ask for at least one hit")
        self._check_drawing()

    def _check_drawing(self) -> None:
        drawing = self.drawing
        if not 0 <= drawing.weight <= 1:
            raise SearchError(f"the trace's weight is {drawing.weight}; give 0 to 1")
        if self.text is None and (drawing.strokes or drawing.links or drawing.words):
            raise SearchError("strokes need a text; a search by picture takes none")
        points = sum(map(len, drawing.strokes))
        if points > MOST_POINTS:
            raise SearchError(f"the trace has {points} points; at most {MOST_POINTS} are read")
        timed = sum(len(split_words(word.text)) for word in drawing.words)
        if timed > MOST_TIMED:
            raise SearchError(f"{timed:,} words have times; at most {MOST_TIMED:,} are read")
        times = [time for word in drawing.words for time in (word.start, word.end)]
        times += [point.t for stroke in drawing.strokes for point in stroke]
        if any(abs(time) > LATEST for time in times):
            raise SearchError(f"a time of the trace is beyond {LATEST:,.0f} seconds; count from 0")
        if not all(isfinite(p.x) and isfinite(p.y) for s in drawing.strokes for p in s):
            raise SearchError("a point of the trace is not a number; x and y go from 0 to 1")
        if any(max(abs(p.x), abs(p.y)) > FARTHEST for stroke in drawing.strokes for p in stroke):
            raise SearchError(
                "a point of the trace lies far off the canvas; x and y go from 0 to 1"
            )
        self._check_links(self.text or "")

    def _check_links(self, text: str) -> None:
        spans = word_spans(text)
        for link in self.drawing.links:
            if not 0 <= link.start < link.end <= len(text):
                raise SearchError(
                    f"a link names the characters {link.start} to {link.end} of a text "
                    f"with {len(text)}"
                )
            if not any(a < link.end and link.start < b for a, b in spans):
                raise SearchError(
                    f"a link names the characters {link.start} to {link.end}, where there is "
                    "no word"
                )
            if not 0 <= link.stroke < len(self.drawing.strokes):
                raise _no_such(link.stroke, self.drawing)
        for stroke in self.drawing.loose:
            if not 0 <= stroke < len(self.drawing.strokes):
                raise _no_such(stroke, self.drawing)


def _no_such(stroke: int, drawing: Drawing) -> SearchError:
    return SearchError(f"a link names stroke {stroke}; there are {len(drawing.strokes)}")


@dataclass(frozen=True, slots=True)
class Note:
    """Something the person searching should know: a code for programs, a sentence for people."""

    code: NoteCode
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A found picture: its content hash, its score, and every file with that content."""

    id: str
    score: float
    paths: tuple[str, ...]
    band: Band = "maybe"
    text_score: float | None = None  # by the text alone, when strokes were drawn
    size: tuple[int, int] | None = None  # width and height of the upright picture
    stack: tuple[str, ...] = ()  # ids of near-duplicates that scored lower


@dataclass(frozen=True, slots=True)
class Results:
    """The hits of a query, best first, out of how many pictures."""

    query: Query
    hits: tuple[Hit, ...]
    searched: int
    text_order: tuple[
        str, ...
    ] = ()  # ids as the text alone would rank them, when strokes were drawn
    notes: tuple[Note, ...] = ()
    coverage: tuple[int, int] | None = None  # of shards: pictures that were asked, and of how many

    @property
    def partial(self) -> bool:
        """Whether a part of the library did not answer."""
        return self.coverage is not None and self.coverage[0] < self.coverage[1]

    @property
    def needs_attention(self) -> bool:
        """Whether nothing was found."""
        return not self.hits

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        image = self.query.image
        asked = {"text": self.query.text, "image": image and str(image), "k": self.query.k}
        return {
            "query": asked,
            "hits": [asdict(hit) for hit in self.hits],
            "searched": self.searched,
            "text_order": self.text_order,
            "notes": [asdict(note) for note in self.notes],
        }
