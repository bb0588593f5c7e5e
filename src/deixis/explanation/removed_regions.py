"""A picture without each of its regions: for models that compare them."""

import numpy as np
import torch

from deixis.explanation.perturbed_views import PerturbedViews
from deixis.explanation.slot_attention import WatchedHead, attention_maps
from deixis.features.store.image_files import PictureSource
from deixis.runs.matcher import Matcher
from deixis.search.encoders.embedded_parts import EmbeddedParts
from deixis.types import Regions, map_tensors


@torch.no_grad()
def removed(matcher: Matcher, picture: PictureSource) -> PerturbedViews | None:
    """Encode an image as it is and without each region; None when that changes nothing."""
    regions = matcher.regions([picture])
    if regions.boxes is None or int(regions.mask.sum()) < 2:
        return None
    images = matcher.model.image(without_each(regions))
    if all(torch.equal(t[1:], t[:-1]) for t in (images.vectors, images.mask)):
        return None
    present = regions.mask[0].numpy()
    looks = np.zeros((0, int(present.sum())))
    if isinstance(matcher.model.image.head, WatchedHead):
        looks = attention_maps(matcher.model.image, regions).shares[0, -1].numpy()[:, present]
    parts = EmbeddedParts(
        images.vectors.numpy().astype(np.float32, copy=False), images.mask.numpy()
    )
    return PerturbedViews("removal", parts, regions.boxes[0].numpy()[present], looks=looks)


def without_each(regions: Regions) -> Regions:
    """One image as it is, then once without each of its regions."""
    (present,) = torch.nonzero(regions.mask[0], as_tuple=True)
    copies = map_tensors(regions, lambda t: t.expand(1 + len(present), *t.shape[1:]))
    mask = copies.mask.clone()
    mask[torch.arange(1, 1 + len(present)), present] = False
    return Regions(copies.values, mask, copies.boxes, copies.pooled)
