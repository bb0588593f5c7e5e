"""A picture without each of its regions: for models that compare them."""

from pathlib import Path

import numpy as np
import torch

from deixis.explain.sets import WatchedHead, attention_of
from deixis.explain.views import Views
from deixis.methods.matcher import Matcher
from deixis.search.parts import Parts
from deixis.types import Regions, map_tensors


@torch.no_grad()
def removed(matcher: Matcher, picture: Path) -> Views | None:
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
        looks = attention_of(matcher.model.image, regions)[0, -1].numpy()[:, present]
    parts = Parts(images.vectors.numpy().astype(np.float32, copy=False), images.mask.numpy())
    return Views("removal", parts, regions.boxes[0].numpy()[present], looks=looks)


def without_each(regions: Regions) -> Regions:
    """One image as it is, then once without each of its regions."""
    (present,) = torch.nonzero(regions.mask[0], as_tuple=True)
    copies = map_tensors(regions, lambda t: t.expand(1 + len(present), *t.shape[1:]))
    mask = copies.mask.clone()
    mask[torch.arange(1, 1 + len(present)), present] = False
    return Regions(copies.values, mask, copies.boxes, copies.pooled)
