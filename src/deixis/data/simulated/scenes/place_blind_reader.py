"""The perfect reader that ignores place words: what text alone can reach on narrated scenes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from deixis.data.corpus import Corpus
from deixis.data.simulated.scenes.claims import Claim, ClaimIndex, Mention
from deixis.data.simulated.scenes.objects import COLOURS, NOUNS
from deixis.data.simulated.scenes.scene import Scene, Thing


def read_scenes(root: Path) -> dict[str, Scene]:
    """The facts of every scene of a written corpus, by image file."""
    scenes = {}
    for path in sorted(root.glob("*/metadata.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            things = tuple(_thing(thing) for thing in row["objects"])
            scene = Scene(row["background"], things, row["group"], row["twin"])
            scenes[f"{path.parent.name}/{row['file_name']}"] = scene
    return scenes


def place_blind(corpus: Corpus) -> Bool[ndarray, "image text"]:
    """Which images each narration fits when its place words and its trace are ignored."""
    scenes = read_scenes(corpus.root)
    index = ClaimIndex([scenes[file] for file in corpus.files])
    fits = np.zeros((len(corpus.files), len(corpus.texts)), dtype=bool)
    for text in corpus.narrations:
        fits[index.fitting(Claim(mentions_of(corpus.texts[text]))), text] = True
    return fits


def place_blind_recall(corpus: Corpus, cutoffs: Sequence[int] = (1, 5, 10)) -> dict[int, float]:
    """Expected share of narrations whose image a place-blind reader ranks within each cutoff.

    Images that fit equally well come in random order, so with n of them the narrated one is
    among the first k with probability min(k / n, 1).
    """
    fitting = place_blind(corpus.narrated()).sum(axis=0)
    return {k: float(np.minimum(k / fitting, 1).mean()) for k in cutoffs}


def mentions_of(text: str) -> tuple[Mention, ...]:
    """What a narration speaks of, its place words left out."""
    words = [word.strip(",.") for word in text.split()]
    return tuple(
        Mention(word, before if before in COLOURS else None)
        for before, word in zip(["", *words], words, strict=False)
        if word in NOUNS
    )


def _thing(facts: Mapping[str, Any]) -> Thing:
    left, right, top, bottom, _ = facts["box"]
    x, y = round((left + right) / 2, 4), round((top + bottom) / 2, 4)
    extent = round(right - left, 4)
    return Thing(facts["noun"], facts["colour"], facts["size"], x, y, extent)
