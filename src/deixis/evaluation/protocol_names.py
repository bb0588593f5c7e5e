"""The names of the protocols, for recipes and the command; importing this loads no torch."""

from typing import Literal

ProtocolName = Literal["whole", "folds", "coco", "coco-part", "labels", "label-folds"]

ABOUT: dict[ProtocolName, str] = {
    "whole": "the whole split by matching pairs",
    "folds": "the mean of five folds by matching pairs",
    "coco": "COCO 1K, 5K, CxC and ECCV Caption, for a corpus that is COCO's test split",
    "coco-part": "the same judgements restricted to the images at hand, no official numbers",
    "labels": "the whole split by shared labels",
    "label-folds": "the mean of five folds by shared labels",
}
