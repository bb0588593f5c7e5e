"""How often a library says "nothing fits", by kinds of query: python calibration.py LIBRARY CORPUS.

None of these queries is one the bands were learnt from. Captions are asked twice: those of pictures
in the library, and those of pictures that are not.
"""

import sys
from collections import Counter
from pathlib import Path

from deixis.data.read import read_corpus
from deixis.search.library import Library
from deixis.search.opening import open_run
from deixis.search.query import Query, Results
from deixis.search.searcher import Searcher

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


def main(folder: Path, corpus: Path) -> None:
    """Ask every kind of query and print what share got which answer."""
    with Library(folder) as library:
        searcher = Searcher(open_run(library.header.source), library)
        names = {Path(path).name for path in library.generation.manifest.files()}
        photos = read_corpus(corpus)
        kinds: dict[str, list[str]] = {
            "made-up words": list(MADE_UP),
            "nothing to see": list(UNSEEN),
        }
        for text, owner in zip(photos.texts, photos.owners, strict=True):
            here = Path(photos.files[owner]).name in names
            kinds.setdefault("captions of its pictures" if here else "other captions", []).append(
                text
            )
        for kind, texts in kinds.items():
            asked = texts[:: max(1, len(texts) // 400)]
            found = [searcher.search(Query(text=text, k=24)) for text in asked]
            counts = Counter(_best(one) for one in found)
            shares = "  ".join(f"{band} {100 * counts[band] / len(found):4.0f} %" for band in BANDS)
            print(f"{kind:26} {len(found):5}  {shares}")


BANDS = ("confident", "maybe", "rest")


def _best(found: Results) -> str:
    """The band of the best hit: with "rest" the answer is that nothing fits."""
    return found.hits[0].band if found.hits else "rest"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
