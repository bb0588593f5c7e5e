"""The pointing game for any model: where its own maps of a phrase have their peak.

A model that compares parts has attention, a model of sets has slots that attend; and of every model
whose image depends on its regions one can ask which region the phrase's score would miss most.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from deixis.data.batches.collate import regions_of, tokens_of
from deixis.data.corpus import split_sha
from deixis.data.dataset import Dataset
from deixis.data.groundings.groundings import Groundings
from deixis.data.groundings.placed_phrase import EdgeBox, GroundedPhrase
from deixis.errors import EvaluationError
from deixis.evaluation.image_bootstrap import interval_over_images
from deixis.evaluation.places.pointed_texts import PointedTexts
from deixis.evaluation.places.pointing_game import within
from deixis.features.backbones.backbone import text_source
from deixis.features.places.phrase_inputs import SpannedText
from deixis.heads.slots import Slots
from deixis.runs.matcher import Matcher
from deixis.similarity.part_level import PartLevel
from deixis.types import Regions

PHRASES = 1_000  # drawn by a fixed seed where a split has more
DRAWN = 8  # kept to be looked at
Interval = tuple[float, float, float]  # percent, with its 95 % interval over images
Maps = Float[ndarray, "phrase region"]


@dataclass(frozen=True)
class DrawnPhrase:
    """A phrase with its human boxes and the maps of it, to be looked at."""

    image: int  # of the split
    text: str
    words: str
    human: tuple[EdgeBox, ...]
    maps: Mapping[str, Float[ndarray, " region"]]  # by their kind


@dataclass(frozen=True)
class MapsResult:
    """How often the peak of each kind of map lies in a human box of the phrase."""

    games: Mapping[str, Interval]  # by the kind of map
    centre: float  # percent, for the middle of the picture
    random: float  # for a region drawn evenly
    best: float  # for the best region there is: what no map of these regions can exceed
    phrases: int
    images: int
    split_sha: str
    drawn: tuple[DrawnPhrase, ...] = field(default=(), repr=False)  # by a fixed seed, not by hand
    boxes: Float[ndarray, "region 5"] = field(default_factory=lambda: np.zeros((0, 5)), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it; maps are left out."""
        return {key: value for key, value in vars(self).items() if key not in ("drawn", "boxes")}


@dataclass(frozen=True)
class _Asked:
    """The phrases that are asked, and the regions of their images."""

    texts: PointedTexts
    rows: Int[ndarray, " phrase"]  # places among all phrases
    regions: Callable[[int], Regions]  # of one image of the split

    def by_image(self) -> Iterator[tuple[int, Int[ndarray, " some"]]]:
        """Each image with the places of its phrases among those asked."""
        images = self.texts.images[self.texts.owners[self.rows]]
        for image in np.unique(images):
            yield int(image), np.flatnonzero(images == image)

    def words(self, dataset: Dataset) -> list[str]:
        """What each phrase says."""
        owners = self.texts.texts[self.texts.owners[self.rows]]
        spans = [(self.texts.phrases[row].start, self.texts.phrases[row].end) for row in self.rows]
        return [dataset.corpus.texts[t][a:b] for t, (a, b) in zip(owners, spans, strict=True)]


@torch.no_grad()
def judge_maps(matcher: Matcher, dataset: Dataset, groundings: Groundings) -> MapsResult:
    """Play the pointing game with every kind of map the model has."""
    texts = PointedTexts.of(dataset.corpus, groundings)
    count = len(texts.phrases)
    rows = np.sort(np.random.default_rng(0).permutation(count)[:PHRASES])
    asked = _Asked(
        texts, rows, lambda image: regions_of(dataset.regions, dataset.images[image : image + 1])
    )
    boxes = asked.regions(0).boxes
    if boxes is None or boxes.shape[1] < 2:
        raise EvaluationError("these features have no regions with places; their maps have no peak")
    matcher.model.eval()
    maps = {"removal": _removal(matcher, dataset, asked)}
    if isinstance(matcher.model.similarity, PartLevel):
        maps["attention"] = _attention(matcher, dataset, asked)
    if isinstance(matcher.model.image.head, Slots):
        maps["slots"] = _slots(matcher, dataset, asked)
    return _result(asked, maps, boxes[0].numpy(), dataset)


def _result(
    asked: _Asked, maps: Mapping[str, Maps], boxes: Float[ndarray, "region 5"], dataset: Dataset
) -> MapsResult:
    middles = np.stack([boxes[:, :2].mean(axis=1), boxes[:, 2:4].mean(axis=1)], axis=1)
    count = len(asked.texts.phrases)

    def hit(points: Float[ndarray, "phrase 2"]) -> ndarray:
        spread = np.zeros((count, 2))
        spread[asked.rows] = points
        return 100.0 * within(asked.texts, spread)[asked.rows]

    images = asked.texts.images[asked.texts.owners[asked.rows]]
    each = np.stack([hit(np.tile(one, (len(asked.rows), 1))) for one in middles])
    centre = hit(np.full((len(asked.rows), 2), 0.5))
    peaks = {name: hit(middles[found.argmax(axis=1)]) for name, found in maps.items()}
    return MapsResult(
        {name: interval_over_images(own, images) for name, own in peaks.items()},
        centre=float(centre.mean()),
        random=float(each.mean()),
        best=float(each.max(axis=0).mean()),
        phrases=len(asked.rows),
        images=len(np.unique(images)),
        split_sha=split_sha(dataset.corpus),
        drawn=_drawn(asked, maps, dataset),
        boxes=boxes,
    )


def _drawn(asked: _Asked, maps: Mapping[str, Maps], dataset: Dataset) -> tuple[DrawnPhrase, ...]:
    words, found = asked.words(dataset), []
    for place in np.random.default_rng(1).permutation(len(asked.rows))[:DRAWN].tolist():
        query = asked.texts.owners[asked.rows[place]]
        found.append(
            DrawnPhrase(
                int(asked.texts.images[query]),
                dataset.corpus.texts[asked.texts.texts[query]],
                words[place],
                asked.texts.phrases[asked.rows[place]].boxes,
                {kind: own[place] for kind, own in maps.items()},
            )
        )
    return tuple(found)


def _removal(matcher: Matcher, dataset: Dataset, asked: _Asked) -> Maps:
    """What a phrase, asked alone, loses with each region."""
    phrases = matcher.encode_text(asked.words(dataset))
    found = []
    for image, places in asked.by_image():
        views = matcher.model.image(_without_each(asked.regions(image)))
        scores = matcher.model.similarity(views, phrases.rows(torch.from_numpy(places)))
        found.append((places, (scores[:1] - scores[1:]).T.numpy()))
    return _gathered(found)


def _without_each(regions: Regions) -> Regions:
    count = regions.values.shape[1]
    mask = torch.ones(1 + count, count, dtype=torch.bool)
    mask[torch.arange(1, 1 + count), torch.arange(count)] = False

    def repeated(values: Tensor | None) -> Tensor | None:
        return None if values is None else values.expand(1 + count, *values.shape[1:])

    values = repeated(regions.values)
    assert values is not None
    return Regions(values, mask, repeated(regions.boxes), repeated(regions.pooled))


def _attention(matcher: Matcher, dataset: Dataset, asked: _Asked) -> Maps:
    """What the words of a phrase, within its whole text, attend to on average."""
    backbone = matcher.vocabulary or text_source(matcher.config.text).fit([])
    if not isinstance(backbone, SpannedText):
        raise EvaluationError(f"'{matcher.config.text}' does not say where its words stand")
    similarity = matcher.model.similarity
    assert isinstance(similarity, PartLevel)
    owners = asked.texts.texts[asked.texts.owners[asked.rows]]
    found = []
    for image, places in asked.by_image():
        seen = matcher.model.image(asked.regions(image))
        for text in np.unique(owners[places]):
            said = dataset.corpus.texts[text]
            tokens = tokens_of(dataset.tokens, dataset.texts[text : text + 1])
            aligned = similarity.align(seen, matcher.model.text(tokens))
            shares = aligned.to_regions
            if shares is None:
                assert aligned.to_words is not None, "attention goes one way at least"
                shares = aligned.to_words.T
            own = places[owners[places] == text]
            spans = backbone.piece_spans([said])[0]
            rows = [_pieces(spans, asked.texts.phrases[asked.rows[place]]) for place in own]
            found.append((own, np.stack([shares[row].mean(dim=0).numpy() for row in rows])))
    return _gathered(found)


def _pieces(spans: list[tuple[int, int]], phrase: GroundedPhrase) -> list[int]:
    """The word pieces within a phrase; all of a text that was cut before it."""
    inside = [i for i, (a, b) in enumerate(spans) if a < phrase.end and b > phrase.start and a < b]
    return inside or list(range(len(spans)))


def _slots(matcher: Matcher, dataset: Dataset, asked: _Asked) -> Maps:
    """What the slot nearest to a phrase, asked alone, attends to in its last round."""
    encoder, phrases = matcher.model.image, matcher.encode_text(asked.words(dataset))
    head = encoder.head
    assert isinstance(head, Slots)
    found = []
    for image, places in asked.by_image():
        parts, mask = encoder.body(asked.regions(image))
        shares = head.attention_by_iteration(parts, mask)[0, -1]
        near = phrases.vectors[torch.from_numpy(places)] @ head(parts, mask).vectors[0].T
        found.append((places, shares[near.amax(dim=1).argmax(dim=1)].numpy()))
    return _gathered(found)


def _gathered(found: list[tuple[ndarray, ndarray]]) -> Maps:
    """Maps in the order their phrases were asked."""
    places = np.concatenate([own for own, _ in found])
    return np.concatenate([maps for _, maps in found])[np.argsort(places)]
