"""What goes over the wire; traces and timed words use the field names of Localized Narratives."""

from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, FiniteFloat

from deixis.features.alignment import Link
from deixis.features.narration import Point, TimedWord
from deixis.search.filters import parse_filter
from deixis.search.query import Query, Results

LONGEST_TEXT, MOST_HITS = 2_000, 200
MOST_STROKES, MOST_POINTS = 500, 20_000

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
    """A stroke that points at what some characters of the text name."""

    start_char: int = Field(ge=0)
    end_char: int = Field(ge=0)
    stroke: int = Field(ge=0)


class Told(BaseModel):
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
    trace_weight: FiniteFloat = Field(default=0.5, ge=0, le=1)

    def query(self, k: int = 1, where: str | None = None) -> Query:
        """The same as the searcher takes it."""
        return Query(
            text=self.text,
            k=k,
            where=parse_filter(where) if where and where.strip() else None,
            strokes=tuple(tuple(_point(p) for p in stroke) for stroke in self.traces),
            links=tuple(Link(one.start_char, one.end_char, one.stroke) for one in self.links),
            words=tuple(TimedWord(u.utterance, u.start_time, u.end_time) for u in self.timed_text),
            trace_weight=self.trace_weight,
        )


class SearchRequest(Told):
    """A search by words, with or without a trace; a line of Localized Narratives is one."""

    where: Where = None
    k: K = 24


class ExplainRequest(Told):
    """A query and one picture it may fit."""

    id: Id


class HitOut(BaseModel):
    """A found picture."""

    id: Id
    score: float
    text_score: float | None = Field(description="By the words alone, when a trace was drawn.")
    band: Literal["confident", "maybe", "rest"]
    paths: list[str] = Field(description="Every file with this content.")
    width: int | None
    height: int | None
    stack: list[Id] = Field(description="Near-duplicates that scored lower.")


class SearchResponse(BaseModel):
    """The hits of a query, best first."""

    hits: list[HitOut]
    searched: int = Field(description="Pictures that passed the filter.")
    text_order: list[Id] = Field(description="The order by the words alone, with a trace.")
    notes: list[str] = Field(description="What the asker should know, such as that nothing fits.")
    seconds: float

    @classmethod
    def of(cls, results: Results, seconds: float) -> "SearchResponse":
        """Plain values of results."""
        hits = [
            HitOut(
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
            searched=results.searched,
            text_order=list(results.text_order),
            notes=list(results.notes),
            seconds=seconds,
        )


class WordShare(BaseModel):
    """What the score owes to one word, and where in the picture."""

    start_char: int
    end_char: int
    share: float
    regions: list[float] = Field(description="The share that needs each region.")


class ElementMap(BaseModel):
    """What one element of a picture's set looks at."""

    affinity: float = Field(description="Its best cosine with an element of the query.")
    regions: list[float] = Field(description="The share of its attention each region has.")


class ExplainResponse(BaseModel):
    """A score shared out by taking words, strokes and regions away and scoring again."""

    method: Literal["removal", "covering"] = Field(
        description="Whether regions were taken from the model's view or covered in the picture."
    )
    score: float
    text_score: float | None = Field(description="By the words alone, when a trace was drawn.")
    rank: int | None = Field(description="Place in the whole library; unknown for sets.")
    text_rank: int | None = Field(description="Place by the words alone, when a trace was drawn.")
    words: list[WordShare]
    strokes: list[float] = Field(description="What the score owes to each stroke.")
    boxes: list[list[float]] = Field(description="xmin, xmax, ymin, ymax of each region, 0 to 1.")
    regions: list[float]
    elements: list[ElementMap] = Field(description="Of models whose pictures are sets.")
    drop: float = Field(description="Lost when the region with the largest share is taken away.")


class LibraryResponse(BaseModel):
    """What can be searched, and with what."""

    pictures: int
    folders: list[str]
    model: str
    reads_traces: bool
    labels: list[str] = Field(description="The most frequent labels.")


class Problem(BaseModel):
    """Why a request was not answered (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


def _point(point: TracePoint) -> Point:
    return Point(point.x, point.y, float("nan") if point.t is None else point.t)
