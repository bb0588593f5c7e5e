"""The place head of a trained run, converted from torch; and what a run needs to be pointed at."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.errors import RunError
from deixis.features.places.region_cells import cells_of_regions
from deixis.features.store.packed import PackedRegions
from deixis.methods.places import PhrasePlaces
from deixis.runs.advance import Advance, silent
from deixis.runs.places.place_head import PlaceHead
from deixis.runs.run import Run
from deixis.similarity.places.place_map import PlaceMap

PHRASES = 4096  # averaged for "something is here"
IMAGES = 512  # whose cells, with these phrases, pack several members into one head


def take_place_head(run: Run, advance: Advance = silent) -> PlaceHead:
    """The head of a run of method ``places``, or the one a packed run carries."""
    if run.path("places").is_file():
        return PlaceHead.read(run.path("places"))
    model = run.matcher.model
    if not isinstance(model.similarity, PlaceMap):
        raise RunError(
            f"{run} has no place head; pack one with it, or name a run of method"
            f" '{PhrasePlaces.name}'"
        )
    weights = {
        name.removeprefix(side): value.numpy()
        for side in ("image.body.", "text.body.")
        for name, value in model.state_dict().items()
        if name.startswith(side)
    }
    own_parts = bool(run.data.parts_of)
    score, config = model.similarity.place_score, run.config
    head = PlaceHead(weights, score, config.image, config.text, own_parts=own_parts)
    train = run.dataset(run.data.train, advance=advance)
    phrases = _some_phrases(train)
    head = head.packed(_some_cells(train), phrases)
    return replace(head, weights={**head.weights, "anything": head.phrases(phrases).mean(axis=0)})


def dataset_cells(head: PlaceHead, dataset: Dataset) -> Float32[ndarray, "image 81 dim"]:
    """The cells of a split's images as a library would keep them, in eight bits."""
    rows = dataset.images.tolist()
    found = [head.cells(cells_of_regions(_one(dataset.regions, row))).vectors() for row in rows]
    return np.concatenate(found)


def _some_phrases(train: Dataset) -> Float32[ndarray, "phrase feature"]:
    assert train.tokens.pooled is not None, "phrases have a vector each"
    rows = np.random.default_rng(0).permutation(len(train.texts))[:PHRASES]
    return np.asarray(train.tokens.pooled[train.texts[rows]], dtype=np.float32)


def _some_cells(train: Dataset) -> Float32[ndarray, "cell feature"]:
    rows = np.random.default_rng(0).permutation(len(train.images))[:IMAGES]
    found = [cells_of_regions(_one(train.regions, row)) for row in train.images[rows].tolist()]
    return np.concatenate(found).reshape(-1, found[0].shape[2])


def _one(regions: PackedRegions, image: int) -> PackedRegions:
    start, end = regions.offsets[image : image + 2].tolist()
    boxes = None if regions.boxes is None else regions.boxes[start:end]
    return PackedRegions(regions.values[start:end], np.array([0, end - start]), boxes)
