"""Where the things of simulated scenes are: the phrases of their captions with the drawn boxes."""

import json
import re
from pathlib import Path
from typing import Any

from deixis.data.corpus import Corpus
from deixis.data.groundings.groundings import GroundedText, Groundings
from deixis.data.groundings.placed_phrase import GroundedPhrase

METADATA = "metadata.jsonl"


def is_scenes(path: Path) -> bool:
    """Whether a folder holds simulated scenes."""
    about = path / "corpus.json"
    return about.is_file() and '"generator": "deixis scenes' in about.read_text(encoding="utf-8")


def scene_groundings(path: Path, corpus: Corpus) -> Groundings:
    """Every noun of a caption that the scene shows, with the words before it that belong to it."""
    things = {
        f"{metadata.parent.name}/{row['file_name']}": row["objects"]
        for metadata in sorted(path.glob(f"*/{METADATA}"))
        for row in map(json.loads, metadata.read_text(encoding="utf-8").splitlines())
    }
    pairs = [(corpus.files[o], t) for o, t in zip(corpus.owners, corpus.texts, strict=True)]
    return Groundings({(file, text): _grounded(text, things[file]) for file, text in pairs})


def _grounded(text: str, things: list[dict[str, Any]]) -> GroundedText:
    found = []
    for thing in things:
        for mention in re.finditer(
            rf"\ban? (?:\w+ ){{0,2}}?{thing['noun']}\b", text, re.IGNORECASE
        ):
            box = tuple(thing["box"][:4])
            found.append(GroundedPhrase(*mention.span(), str(thing["noun"]), ("thing",), (box,)))
    return tuple(sorted(found, key=lambda phrase: phrase.start))
