"""The protocol ``places``: every way to point, with controls, on one split."""

import numpy as np
from jaxtyping import Float, Float32
from numpy import ndarray

from deixis.data.corpus import Corpus, split_sha
from deixis.data.groundings.groundings import Groundings
from deixis.evaluation.places.drawn_regions import DRAWN, REMEMBERED, drawn_regions
from deixis.evaluation.places.places_result import PlacesLine, PlacesResult, line_of
from deixis.evaluation.places.pointed_retrieval import PointedRetrieval
from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.evaluation.places.pointing_game import (
    mean_gains,
    mirrored_twins,
    own_maps,
    pointing_game,
    score_gains,
)
from deixis.features.places.phrase_inputs import SpannedText, phrase_inputs
from deixis.runs.places.place_head import PlaceHead

RIGHT, EXACT = f"σ = {REMEMBERED:g}", "σ = 0"
SWAPPED = "swapped places"


def judge_places(
    head: PlaceHead,
    corpus: Corpus,
    groundings: Groundings,
    text_scores: Float[ndarray, "image text"],
    cells: Float32[ndarray, "image cell dim"],
    backbone: SpannedText,
    seed: int = 0,
) -> PlacesResult:
    """Point at every grounded text of a split in every way; cells are as a library keeps them."""
    asked = PointedTexts.of(corpus, groundings)
    texts = [corpus.texts[text] for text in asked.texts]
    phrases = head.phrases(phrase_inputs(texts, asked.spans(), backbone))
    found = PointedRetrieval(asked, text_scores, cells, phrases, head.score)
    ways = drawn_regions(asked, seed)
    maps = own_maps(asked, cells, phrases)
    return PlacesResult(
        lines=tuple(_lines(found, ways, head)),
        images=len(corpus.files),
        split_sha=split_sha(corpus),
        game=pointing_game(asked, maps),
        ranked_twins=mirrored_twins(asked, score_gains(maps, ways[RIGHT], head.score)),
        twins=mirrored_twins(asked, mean_gains(maps, ways[RIGHT])),
        exact_twins=mirrored_twins(asked, mean_gains(maps, ways[EXACT])),
    )


def _lines(
    found: PointedRetrieval, ways: dict[str, Float32[ndarray, "phrase 81"]], head: PlaceHead
) -> list[PlacesLine]:
    text, images = found.text_ranks(), found.asked.images
    every, first = found.ranks(ways), found.ranks(ways, first=True)
    wordless = np.tile(head.anything, (len(found.phrases), 1))
    blind = PointedRetrieval(found.asked, found.text_scores, found.cells, wordless, found.score)
    without = blind.ranks({RIGHT: ways[RIGHT]})[RIGHT]
    several = np.diff(found.asked.offsets) > 1
    shown = [name for name in ways if name != SWAPPED]
    assert set(DRAWN) <= set(shown)
    lines = [line_of("text only", text, text, images)]
    lines += [line_of(name, every[name], text, images, first[name]) for name in shown]
    lines.append(line_of("places without words", without, text, images))
    if several.any():
        named = {"text only": text, "right places": every[RIGHT], SWAPPED: every[SWAPPED]}
        for name, ranks in named.items():
            label = f"{name}, two phrases or more"
            lines.append(line_of(label, ranks, text, images, among=several))
    return lines
