"""What is asked of a library, and what it answers."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deixis.errors import SearchError


@dataclass(frozen=True, slots=True)
class Query:
    """Words or a picture file to search by, and how many hits to return."""

    text: str | None = None
    image: Path | None = None
    k: int = 10

    def __post_init__(self) -> None:
        if (self.text is None) == (self.image is None):
            raise SearchError("a query is either a text or a picture file; give exactly one")
        if self.text is not None and not self.text.strip():
            raise SearchError("the query is empty; say what the picture shows")
        if self.k < 1:
            raise SearchError(f"k is {self.k}; ask for at least one hit")


@dataclass(frozen=True, slots=True)
class Hit:
    """A found picture: its content hash, its score, and every file with that content."""

    id: str
    score: float
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """The hits of a query, best first, out of how many pictures."""

    query: Query
    hits: tuple[Hit, ...]
    searched: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        image = self.query.image
        asked = {"text": self.query.text, "image": image and str(image), "k": self.query.k}
        hits = [asdict(hit) | {"paths": list(hit.paths)} for hit in self.hits]
        return {"query": asked, "hits": hits, "searched": self.searched}
