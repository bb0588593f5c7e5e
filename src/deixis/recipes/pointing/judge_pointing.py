"""A run that ranks by text and a place head that adds where, judged together."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.data.groundings.read_groundings import read_groundings
from deixis.errors import EvaluationError
from deixis.evaluation.judge import scores_of
from deixis.evaluation.places.method_maps import MapsResult, judge_maps
from deixis.evaluation.places.places_protocol import judge_places
from deixis.evaluation.places.places_result import PlacesResult
from deixis.evaluation.reranking.hubness import corrected
from deixis.features.backbones.backbone import text_source
from deixis.features.places.phrase_inputs import SpannedText
from deixis.runs.advance import Advance, silent
from deixis.runs.embed_dataset import encode
from deixis.runs.find_corpus import find_corpus
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.places.take_place_head import dataset_cells
from deixis.runs.prepare import prepare_split
from deixis.runs.run import Run
from deixis.runs.text_bank import Bank
from deixis.similarity.places.place_map import PlaceMap


def judge_pointing(
    run: Run,
    head: PlaceHead,
    split: str = "",
    corpus: str = "",
    advance: Advance = silent,
    bank: Bank | None = None,
) -> PlacesResult:
    """Every way to point at a split, added to the text score of a run.

    That score is corrected by a bank: the given one, or the one the run carries, if any.
    """
    dataset = run.dataset(split, corpus, advance)
    spec = replace(run.data, corpus=corpus or run.data.corpus, image=head.image, text=head.text)
    spec = replace(spec, parts_of=str(run) if head.own_parts else "")
    cells = prepare_split(spec, split or spec.test, None, advance)
    if cells.corpus.files != dataset.corpus.files:
        raise EvaluationError(f"{run} and its place head read other images of this split")
    backbone = text_source(head.text).fit([])
    if not isinstance(backbone, SpannedText):
        raise EvaluationError(f"the place head reads texts by '{head.text}', which has no states")
    whole = find_corpus(spec, advance)
    return judge_places(
        head,
        dataset.corpus,
        read_groundings(whole.root, whole),
        text_scores(run, dataset, bank),
        dataset_cells(head, cells),
        backbone,
    )


def has_place_head(run: Run) -> bool:
    """Whether a run is a place head or carries one."""
    return run.path("places").is_file() or isinstance(run.matcher.model.similarity, PlaceMap)


def judge_own_maps(
    run: Run, split: str = "", corpus: str = "", advance: Advance = silent
) -> tuple[MapsResult, list[Path]]:
    """The pointing game by a run's own attention, slots, and regions taken away; its pictures."""
    dataset = run.dataset(split, corpus, advance)
    spec = replace(run.data, corpus=corpus or run.data.corpus)
    whole = find_corpus(spec, advance)
    found = judge_maps(run.matcher, dataset, read_groundings(whole.root, whole))
    return found, [dataset.corpus.path(image) for image in range(len(dataset.corpus.files))]


def text_scores(
    run: Run, dataset: Dataset, bank: Bank | None = None
) -> Float[ndarray, "image text"]:
    """Scores as search ranks by: pictures corrected by a bank, or by the one the run carries."""
    model, own = run.matcher.model, run.path("bank")
    scores = scores_of(model, dataset)
    if bank is None:
        if not own.is_file():
            return scores
        bank = Bank.read(own)
    images, _ = encode(model, dataset)
    popular = bank.popularity(images.vectors[:, 0].numpy())
    return corrected(scores, popular, np.zeros(scores.shape[1], np.float32))
