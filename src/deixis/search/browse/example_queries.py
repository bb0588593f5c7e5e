"""A few queries to begin with, made from what a library holds."""

from deixis.search.query.query import Query, Results
from deixis.search.query.searcher import Searcher

MOST, LONGEST = 6, 60  # examples, and characters of one
CANDIDATES = 40

# Plain things of photographs, asked where a library brings neither captions nor labels.
COMMON = (
    "a dog running on grass", "people at a table", "the sea and a beach", "a child playing",
    "a street in a city", "snow on mountains", "a cat indoors", "someone on a bicycle",
    "flowers in a garden", "a red car", "a football game", "a man climbing a rock",
    "a crowd of people", "a boat on water", "a birthday cake", "a forest in autumn",
    "a bird", "a sunset", "a horse", "a wedding", "food on a plate", "a train", "a baby smiling",
    "a building at night",
)  # fmt: skip


def example_queries(
    searcher: Searcher, captions: list[str], labels: tuple[str, ...]
) -> tuple[str, ...]:
    """Queries that find something here: of captions, else of labels, else of common things."""
    found = [_plain(text) for text in captions if len(text) <= LONGEST]
    if found:
        return tuple(dict.fromkeys(found))[:MOST]
    if labels:
        return labels[:MOST]
    answers = searcher.search_all([Query(text=text, k=1) for text in COMMON])
    standing = [one for one in answers if isinstance(one, Results) and _stands_out(one)]
    return tuple(one.query.text or "" for one in standing)[:MOST]


def _plain(caption: str) -> str:
    return caption.strip().rstrip(".").strip()


def _stands_out(found: Results) -> bool:
    return bool(found.hits) and found.hits[0].band == "confident"
