"""Request and response types; traces and timed words are named as in Localized Narratives."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, FiniteFloat

from deixis.errors import SearchError
from deixis.features.trace.cleaning import MOST_POINTS
from deixis.features.trace.drawing import Drawing, Link
from deixis.features.trace.narration import Point, TimedWord
from deixis.search.places.named_places import drawing_at
from deixis.search.query.filters import optional_filter
from deixis.search.query.query import NoteCode, Query, Results

LONGEST_TEXT, MOST_HITS = 2_000, 200
MOST_STROKES, MOST_PLACES = 500, 100

Id = Annotated[str, Field(pattern="^[0-9a-f]{32}$", description="A picture's content hash.")]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
Where = Annotated[
    str | None,
    Field(
        max_length=1_000,
        description="Which pictures may be found, such as `label:dog AND NOT path:old`.",
        examples=["label:dog AND (path:holiday OR after:2024-06-01) AND NOT word:snow"],
    ),
]
K = Annotated[int, Field(ge=1, le=MOST_HITS)]
ProblemCode = Literal[
    "busy",
    "failed",
    "invalid_filter",
    "invalid_request",
    "not_found",
    "not_ready",
    "refused",
    "token_needed",
    "too_large",
    "too_slow",
    "wrong_type",
]


class TracePoint(BaseModel):
    """A pointer sample: place relative to the canvas, origin top left; time in seconds."""

    x: FiniteFloat
    y: FiniteFloat
    t: FiniteFloat | None = None


class Utterance(BaseModel):
    """A word or group of words and when it was said or typed."""

    utterance: str = Field(max_length=LONGEST_TEXT)
    start_time: FiniteFloat
    end_time: FiniteFloat


class StrokeLink(BaseModel):
    """A stroke that points at what some characters of the text name, or at something unnamed."""

    start_char: int | None = Field(default=None, ge=0)
    end_char: int | None = Field(default=None, ge=0)
    stroke: int = Field(ge=0)


class PlaceBody(BaseModel):
    """Where a phrase of the text is; without a phrase, something is there."""

    phrase: str | None = Field(default=None, max_length=LONGEST_TEXT)
    box: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] = Field(
        description="xmin, xmax, ymin, ymax from 0 to 1, origin top left."
    )


class QueryBody(BaseModel):
    """Words, and what was drawn with them."""

    model_config = ConfigDict(populate_by_name=True)

    text: Text = Field(validation_alias=AliasChoices("text", "caption"))
    timed_text: list[Utterance] = Field(
        default=[], max_length=1_000, validation_alias=AliasChoices("timed_text", "timed_caption")
    )
    traces: list[Annotated[list[TracePoint], Field(max_length=MOST_POINTS)]] = Field(
        default=[], max_length=MOST_STROKES
    )
    links: list[StrokeLink] = Field(default=[], max_length=MOST_STROKES)
    places: list[PlaceBody] = Field(
        default=[], max_length=MOST_PLACES, description="Boxes instead of strokes."
    )
    trace_weight: FiniteFloat = Field(default=0.5, ge=0, le=1)

    def query(self, k: int = 1, where: str | None = None) -> Query:
        """The same as the searcher takes it."""
        drawing = self._named() if self.places else self._drawn()
        return Query(text=self.text, k=k, where=optional_filter(where), drawing=drawing)

    def _drawn(self) -> Drawing:
        links = [
            Link(one.start_char, one.end_char, one.stroke)
            for one in self.links
            if one.start_char is not None and one.end_char is not None
        ]
        loose = [o.stroke for o in self.links if o.start_char is None or o.end_char is None]
        return Drawing(
            strokes=tuple(tuple(_point(p) for p in stroke) for stroke in self.traces),
            words=tuple(TimedWord(u.utterance, u.start_time, u.end_time) for u in self.timed_text),
            links=tuple(links),
            loose=tuple(loose),
            weight=self.trace_weight,
        )

    def _named(self) -> Drawing:
        if self.traces:
            raise SearchError("a query has traces or places; send one of them")
        points: dict[str | None, list[tuple[float, ...]]] = {}
        for place in self.places:
            points.setdefault(place.phrase, []).append(place.box)
        return replace(drawing_at(self.text, points), weight=self.trace_weight)


class SearchRequest(QueryBody):
    """A search by words, with or without a trace; a line of Localized Narratives is one."""

    where: Where = None
    k: K = 24


class ExplainRequest(QueryBody):
    """A query and one picture it may fit."""

    id: Id


class HitBody(BaseModel):
    """A found picture."""

    id: Id
    score: float
    text_score: float | None = Field(description="By the words alone, when a trace was drawn.")
    band: Literal["confident", "maybe", "rest"]
    paths: list[str] = Field(description="Every file with this content.")
    width: int | None
    height: int | None
    stack: list[Id] = Field(description="Near-duplicates that scored lower.")


class NoteBody(BaseModel):
    """Something the person searching should know."""

    code: NoteCode = Field(description="For programs.")
    text: str = Field(description="For people.")


class Coverage(BaseModel):
    """How much of a library of shards answered."""

    rows: int
    of: int


class SearchResponse(BaseModel):
    """The hits of a query, best first."""

    hits: list[HitBody]
    searched: int | Coverage = Field(
        description="Pictures that passed the filter; on a cluster, how many of all were asked."
    )
    partial: bool = Field(default=False, description="Whether a part of the library was missing.")
    text_order: list[Id] = Field(description="The order by the words alone, with a trace.")
    notes: list[NoteBody] = Field(description="Such as that nothing fits.")
    seconds: float

    @classmethod
    def of(cls, results: Results, seconds: float) -> "SearchResponse":
        """Plain values of results."""
        hits = [
            HitBody(
                id=hit.id,
                score=hit.score,
                text_score=hit.text_score,
                band=hit.band,
                paths=list(hit.paths),
                width=hit.size and hit.size[0],
                height=hit.size and hit.size[1],
                stack=list(hit.stack),
            )
            for hit in results.hits
        ]
        return cls(
            hits=hits,
            searched=results.searched if results.coverage is None else _coverage(results.coverage),
            partial=results.partial,
            text_order=list(results.text_order),
            notes=[NoteBody(code=note.code, text=note.text) for note in results.notes],
            seconds=seconds,
        )


class WordShare(BaseModel):
    """What one word adds to the score, and where in the picture."""

    start_char: int
    end_char: int
    share: float
    regions: list[float] = Field(description="The share that needs each region.")


class ElementMap(BaseModel):
    """What one element of a picture's set attends to."""

    affinity: float = Field(description="Its best cosine with an element of the query.")
    regions: list[float] = Field(description="The share of its attention each region has.")


class PhraseMapBody(BaseModel):
    """Where in a picture a phrase is, or something unnamed; the map does not say whether it is."""

    start_char: int | None
    end_char: int | None
    share: float | None = Field(description="What pointing at it adds; null if nobody did.")
    cells: list[float] = Field(description="A share per cell of 9 x 9, row by row; the sum is 1.")


class ExplainResponse(BaseModel):
    """A score explained by removing words, strokes and regions and scoring again."""

    method: Literal["removal", "places", "words"] = Field(
        description="Whether regions were taken away, phrases have maps, or words alone are shared."
    )
    score: float
    text_score: float | None = Field(description="By the words alone, when a trace was drawn.")
    rank: int | None = Field(description="Place in the whole library; unknown for sets.")
    text_rank: int | None = Field(description="Place by the words alone, when a trace was drawn.")
    words: list[WordShare]
    strokes: list[float] = Field(description="What each stroke adds to the score.")
    boxes: list[list[float]] = Field(description="xmin, xmax, ymin, ymax of each region, 0 to 1.")
    regions: list[float]
    phrases: list[PhraseMapBody] = Field(
        description="Where each phrase is, by models that can be pointed at."
    )
    pointing_game: float | None = Field(
        description="Percent of maps that peak inside the box people drew; null if unknown."
    )
    elements: list[ElementMap] = Field(description="Of models whose pictures are sets.")
    drop: float = Field(description="Lost when the region with the largest share is taken away.")


class LibraryResponse(BaseModel):
    """What can be searched, and with what."""

    pictures: int
    folders: list[str]
    model: str
    reads_traces: bool
    labels: list[str] = Field(description="The most frequent labels.")
    hears: bool = Field(default=False, description="Whether recordings are recognised here.")
    adding: bool = Field(description="Whether folders can be added through this server.")


class PhraseBody(BaseModel):
    """Some words of a text that one can point at."""

    start_char: int
    end_char: int


class PhrasesResponse(BaseModel):
    """The phrases of a text, first to last."""

    phrases: list[PhraseBody]


class ProblemDocument(BaseModel):
    """Why a request was not answered (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    code: ProblemCode = Field(description="For programs; detail is for people.")
    detail: str


def _coverage(coverage: tuple[int, int]) -> Coverage:
    return Coverage(rows=coverage[0], of=coverage[1])


def _point(point: TracePoint) -> Point:
    return Point(point.x, point.y, float("nan") if point.t is None else point.t)
