"""Any method with its towers trained as well: ``data.image`` or ``data.text`` = ``tuned:…``."""

from dataclasses import replace

from deixis.encoders.trainable_towers import TrainableImageTower, TrainableTextTower
from deixis.features.backbones.trainable_inputs import PREFIX
from deixis.features.backbones.transformers_features import HFImages, HFTexts
from deixis.methods.model import Model
from deixis.types import Sizes


def tuned_sizes(sizes: Sizes, image: str, text: str) -> Sizes:
    """What a method meets behind towers in training, instead of pixels and word pieces."""
    if image.startswith(PREFIX):
        seen = HFImages(image.removeprefix(PREFIX))([])
        assert seen.pooled is not None, "every tower gives a whole vector"
        sizes = replace(sizes, region=seen.values.shape[1], image=seen.pooled.shape[1])
    if text.startswith(PREFIX):
        read = HFTexts(text.removeprefix(PREFIX))([])
        assert read.values is not None and read.pooled is not None, "every tower gives both"
        sizes = replace(sizes, token=read.values.shape[1], text=read.pooled.shape[1])
    return sizes


def attach_towers(model: Model, image: str, text: str) -> Model:
    """Put pretrained towers in front of a model's encoders, where features say ``tuned:``."""
    if image.startswith(PREFIX):
        model.image = TrainableImageTower(HFImages(image.removeprefix(PREFIX)).tower, model.image)
    if text.startswith(PREFIX):
        model.text = TrainableTextTower(HFTexts(text.removeprefix(PREFIX)).tower, model.text)
    return model
