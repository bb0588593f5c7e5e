"""Request and response types of queries with several parts."""

from typing import Annotated

from pydantic import Base64Bytes, BaseModel, Field, FiniteFloat, model_validator

from deixis.search.query.mixed_query import MOST_PARTS
from deixis.serve.schemas import ExplainResponse, Id, K, QueryBody, Where

LARGEST_INLINE = 700_000  # bytes of a picture sent inside the JSON, in base64

Crop = Annotated[
    tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] | None,
    Field(description="xmin, xmax, ymin, ymax from 0 to 1: this part of the picture."),
]


class MixedPart(BaseModel):
    """Words, a picture of the library, or a picture sent along, and how much it is wanted."""

    weight: FiniteFloat = Field(default=1.0, ge=-1, le=1, description="Below 0: unwanted.")
    words: QueryBody | None = None
    id: Id | None = None
    picture: Base64Bytes | None = Field(default=None, max_length=LARGEST_INLINE)
    crop: Crop = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "MixedPart":
        given = [one for one in (self.words, self.id, self.picture) if one is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of words, id and picture")
        if self.crop is not None:
            xmin, xmax, ymin, ymax = self.crop
            if self.words is not None or not (0 <= xmin < xmax <= 1 and 0 <= ymin < ymax <= 1):
                raise ValueError("crop is of a picture, with 0 <= xmin < xmax <= 1, y likewise")
        return self


class MixedBody(BaseModel):
    """What is wanted and what is not."""

    parts: list[MixedPart] = Field(min_length=1, max_length=MOST_PARTS)


class MixedRequest(MixedBody):
    """A search by several things."""

    where: Where = None
    k: K = 24


class MixedExplainRequest(MixedBody):
    """The same, and one picture it may fit."""

    id: Id


class PartShare(BaseModel):
    """What one part adds to the score, and where in the picture."""

    share: float
    regions: list[float]


class MixedExplainResponse(BaseModel):
    """A mixture explained part by part; words as in a search by words alone."""

    score: float
    parts: list[PartShare]
    words: list[ExplainResponse | None] = Field(description="Per part: of words, all about them.")
    boxes: list[list[float]] = Field(description="xmin, xmax, ymin, ymax of each region, 0 to 1.")
    regions: list[float]
