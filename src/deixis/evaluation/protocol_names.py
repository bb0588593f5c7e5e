"""The names of the protocols, for recipes and the command; importing this loads no torch."""

from typing import Literal

ProtocolName = Literal["whole", "folds", "coco", "coco-part", "labels", "label-folds"]

ABOUT: dict[ProtocolName, str] = {
    "whole": "recall over the whole split",
    "folds": "recall, the mean of five folds",
    "coco": "COCO 1K, 5K, CxC and ECCV Caption, if the corpus is COCO's test split",
    "coco-part": "the same judgements on the images you have (not official numbers)",
    "labels": "NDCG, mAP and F1 by shared labels, over the whole split",
    "label-folds": "the same, the mean of five folds",
}
