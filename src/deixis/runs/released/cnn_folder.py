"""Write the CNN inside a checkpoint to a folder, so that it can be used as a backbone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from deixis.errors import RunError
from deixis.extras import need
from deixis.features.backbones.timm.timm_folder import timm_settings, write_timm_folder
from deixis.features.backbones.tower_names import split_side
from deixis.features.backbones.trainable_inputs import PREFIX
from deixis.methods.released import CNN


def lay_cnn(image: str, shown: Mapping[str, Any], state: Mapping[str, Tensor]) -> None:
    """Write the folder that ``tuned:FOLDER`` names, or refuse one that says otherwise.

    Strides and the scale of pixels are in no weight: another network of the same shapes would fit
    and give other features.
    """
    if image.startswith("hf:"):
        return  # what the CNN made of pictures is there already
    if not image.startswith(PREFIX):
        raise RunError("there is a CNN inside: name a folder to write it to (--image tuned:FOLDER)")
    need("transformers", "hub")
    path = split_side(image.removeprefix(PREFIX))[0]
    found, folder = timm_settings(path), Path(path)
    if not found and not folder.exists() and folder.parent.is_dir():
        weights = {n.removeprefix(CNN): value for n, value in state.items() if n.startswith(CNN)}
        write_timm_folder(folder, weights, shown)
        return
    if not found:
        raise RunError(
            f"{path} is not a network in timm's layout, nor a folder that can be written: wanted a "
            "new name in a folder that is there"
        )
    for key in ("architecture", "image_mean", "image_std"):
        if found.get(key) != shown[key]:
            raise RunError(
                f"{path} has {key} = {found.get(key)}, the CNN inside the checkpoint {shown[key]}: "
                "name a folder that is not there yet, and it will be written"
            )
