"""How often a library says "nothing fits", by kinds of query: python calibration.py LIBRARY CORPUS.

The bands were tuned on none of these queries. Captions of pictures in the library are
asked in two halves: the thresholds were chosen on the even one. Those of other pictures follow.
"""

import json
import random
import sys
from collections import Counter
from pathlib import Path

from deixis.data.read_corpus import read_corpus
from deixis.search.encoders.load_encoder import load_encoder
from deixis.search.library.library_store import LibraryStore
from deixis.search.query.query import Query, Results
from deixis.search.query.searcher import Searcher

MADE_UP = (
    "gorp fenwick dralla", "plim plam pollo", "nuvvit srekk", "qqq www rrr", "tobo lanterix mauve",
    "hgfd sapoiu", "wibble frotz", "skrim and jandle", "vorpal uffish galumph", "eeny ozo iki",
)  # fmt: skip
UNSEEN = (
    "the contract ends in june", "a proof by contradiction", "your session has expired",
    "prices fell by two percent", "he could not remember the word", "an idea whose time had come",
    "the opposite is also true", "see the footnote on page nine", "nobody knew what it meant",
    "the vote was postponed again",
)  # fmt: skip

# Ten queries say little of a share: more are drawn by a seed, words of syllables and sentences of
# parts that no picture shows.
SYLLABLES = tuple(first + last for first in "bdfgklmnprstvwz" for last in ("a", "ix", "orn", "u"))
DOUBTS = (
    "the treaty", "his excuse", "a footnote", "the annual budget", "their disagreement",
    "an assumption", "the software licence", "a hypothesis", "the deadline", "her answer",
)  # fmt: skip
FATES = (
    "was never explained", "expires next quarter", "contradicts the evidence",
    "needs further study", "came as no surprise", "was adopted without a vote",
    "depends on the definition", "turned out to be wrong", "cannot be appealed",
    "made the whole thing pointless",
)  # fmt: skip
DRAWN = 100


def main(folder: Path, corpus: Path) -> None:
    """Ask every kind of query and print what share got which answer."""
    with LibraryStore(folder) as library:
        searcher = Searcher(load_encoder(library.header.source), library)
        names = {Path(path).name for path in library.generation.manifest.files()}
        photos = read_corpus(corpus)
        kinds: dict[str, list[str]] = {
            "made-up words": [*MADE_UP, *_made_up(random.Random(0))],
            "nothing to see": [*UNSEEN, *(f"{one} {fate}" for one in DOUBTS for fate in FATES)],
        }
        for text, owner in zip(photos.texts, photos.owners, strict=True):
            here = Path(photos.files[owner]).name in names
            half = "its pictures, odd half" if owner % 2 else "its pictures, even half"
            kinds.setdefault(half if here else "other captions", []).append(text)
        kinds |= _sentences(photos.root / "hard_text.jsonl", names)
        for kind, texts in kinds.items():
            asked = texts[:: max(1, len(texts) // 400)]
            found = [searcher.search(Query(text=text, k=24)) for text in asked]
            counts = Counter(_best(one) for one in found)
            shares = "  ".join(f"{band} {100 * counts[band] / len(found):5.1f} %" for band in BANDS)
            print(f"{kind:26} {len(found):5}  {shares}")


def _made_up(draw: random.Random) -> list[str]:
    """Queries of two to four words, each of two or three syllables."""
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 3))) for _ in range(4 * DRAWN)]
    return [" ".join(words[4 * n : 4 * n + draw.randint(2, 4)]) for n in range(DRAWN)]


def _sentences(path: Path, names: set[str]) -> dict[str, list[str]]:
    """Sentences people wrote that are true of a picture of the library, and that contradict one."""
    found: dict[str, list[str]] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            if one["file"] in names and one["label"] != "neutral":
                found.setdefault(f"hard text, {one['label']}", []).append(one["text"])
    return found


BANDS = ("confident", "maybe", "rest")


def _best(found: Results) -> str:
    """The band of the best hit: with "rest" the answer is that nothing fits."""
    return found.hits[0].band if found.hits else "rest"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
