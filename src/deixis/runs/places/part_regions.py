"""What a trained run makes of each region of an image, in place of the regions themselves."""

import numpy as np
import torch
from jaxtyping import Int
from numpy import ndarray

from deixis.data.batches.collate import regions_of
from deixis.data.regions import IndexedRegions
from deixis.errors import RunError
from deixis.features.store.packed import PackedRegions, offsets_of
from deixis.runs.run import Run

IMAGES = 128  # encoded at once


def parts_of_regions(
    run: Run, regions: PackedRegions, images: Int[ndarray, " image"]
) -> IndexedRegions:
    """The vectors of a run's image encoder before it pools them, one per region, with its box.

    So a place head can be trained over any run whose image side has parts.
    """
    encoder = run.matcher.model.image.eval()
    values, counts, boxes = [], [], []
    with torch.no_grad():
        for start in range(0, len(images), IMAGES):
            batch = regions_of(regions, images[start : start + IMAGES])
            vectors, mask = encoder.body(batch)
            if batch.boxes is None or vectors.shape[:2] != batch.values.shape[:2]:
                raise RunError(
                    f"{run} has no vector per region with a box; a place head needs one, as of"
                    " SCAN, BFAN, CAMP, DivE or text + trace"
                )
            values.append(vectors[mask].numpy())
            boxes.append(batch.boxes[mask].numpy())
            counts += mask.sum(dim=1).tolist()
    packed = PackedRegions(np.concatenate(values), offsets_of(counts), np.concatenate(boxes))
    return packed, np.arange(len(images))
