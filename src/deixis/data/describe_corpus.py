"""What a corpus holds, counted."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deixis.data.read_corpus import format_of, read_corpus


@dataclass(frozen=True)
class CorpusSummary:
    """How many images, texts and pairs a corpus has, and in which format it is kept."""

    name: str
    format: str
    images: int
    texts: int
    pairs: int
    narrations: int
    labels: int
    splits: Mapping[str, int]  # images per split

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def describe_corpus(path: Path) -> CorpusSummary:
    """Read a corpus and count what is in it."""
    corpus = read_corpus(path)
    return CorpusSummary(
        name=corpus.name,
        format=format_of(path).name,
        images=len(corpus.files),
        texts=len(corpus.texts),
        pairs=len(corpus.pairs),
        narrations=len(corpus.narrations),
        labels=len(corpus.label_names),
        splits={name: corpus.splits.count(name) for name in sorted(set(corpus.splits))},
    )
