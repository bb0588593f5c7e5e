"""Groundings: which boxes of an image the phrases of its texts refer to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from deixis.data.corpus import Corpus
from deixis.data.groundings.placed_phrase import GroundedPhrase

GroundedText = tuple[GroundedPhrase, ...]


@dataclass(frozen=True)
class Groundings:
    """The grounded phrases of a corpus' texts, found by image file and text.

    They stay valid for any part of the corpus, such as one split.
    """

    by_text: Mapping[
        tuple[str, str], GroundedText
    ]  # by the image's file or file name, and the text

    def __len__(self) -> int:
        """How many texts are annotated."""
        return len(self.by_text)

    def of_text(self, file: str, text: str) -> GroundedText | None:
        """The phrases of one text in order of reading; None when nobody annotated the text."""
        return self.by_text.get((file, text), self.by_text.get((PurePosixPath(file).name, text)))

    def of_corpus(self, corpus: Corpus) -> list[GroundedText | None]:
        """The phrases of every text of a corpus."""
        pairs = zip(corpus.owners.tolist(), corpus.texts, strict=True)
        return [self.of_text(corpus.files[owner], text) for owner, text in pairs]
