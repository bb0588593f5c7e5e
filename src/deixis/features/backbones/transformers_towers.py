"""Pretrained towers as torch modules with one common interface, frozen or trained.

This module needs torch; nothing else in this folder imports it before a tower is used.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class VisionTower(nn.Module):
    """Pixels of 0 to 255 to one vector per patch and one for the whole picture."""

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        model: nn.Module,
        mean: Sequence[float],
        std: Sequence[float],
        *,
        resized: bool = False,
    ) -> None:
        super().__init__()
        self.model: Any = getattr(model, "vision_model", model)
        # Transformers know positions of their own size; at another these lie between the known.
        takes = inspect.signature(self.model.forward).parameters
        between = resized and "interpolate_pos_encoding" in takes
        self._options = {"interpolate_pos_encoding": True} if between else {}
        # CLIP projects into the space shared with texts; SigLIP's vector lies there already.
        self.project = getattr(model, "visual_projection", nn.Identity())
        self.register_buffer("mean", torch.tensor(mean) * 255, persistent=False)
        self.register_buffer("std", torch.tensor(std) * 255, persistent=False)

    def forward(
        self, pixels: Float[Tensor, "image y x 3"]
    ) -> tuple[Float[Tensor, "image patch feature"], Float[Tensor, "image whole"]]:
        """Encode a batch of pictures."""
        values = ((pixels - self.mean) / self.std).permute(0, 3, 1, 2)
        out = self.model(pixel_values=values, **self._options)
        return _patches(out.last_hidden_state), self.project(_vector(out))


class TextTower(nn.Module):
    """Word pieces to a state each and one vector for the whole text."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model: Any = getattr(model, "text_model", model)
        self.project = getattr(model, "text_projection", nn.Identity())
        self._pair = hasattr(model, "vision_model")
        config: Any = model.config
        self._config = getattr(config, "text_config", config)
        # SigLIP learnt on texts filled up to one length and reads its answer off the last place.
        self._full = str(config.model_type).startswith("siglip")

    def forward(
        self, ids: Int[Tensor, "text piece"], mask: Bool[Tensor, "text piece"]
    ) -> tuple[Float[Tensor, "text piece feature"], Float[Tensor, "text whole"]]:
        """Encode a batch of texts."""
        length = ids.shape[1]
        if self._full:
            missing = self._config.max_position_embeddings - length
            ids = ids.masked_fill(~mask, self._config.pad_token_id)
            ids = nn.functional.pad(ids, (0, missing), value=self._config.pad_token_id)
            out = self.model(input_ids=ids)
        else:
            out = self.model(input_ids=ids, attention_mask=mask.long())
        states = out.last_hidden_state[:, :length]
        if self._pair:
            return states, self.project(_vector(out))
        weight = mask[..., None].to(states.dtype)
        mean = (states * weight).sum(1) / weight.sum(1).clamp(min=1)
        return states, nn.functional.normalize(mean, dim=1)


def _patches(hidden: Tensor) -> Float[Tensor, "image patch feature"]:
    """States of the patches in reading order, without the class and register places before them."""
    if hidden.ndim == 4:  # a map of a convolutional network
        return hidden.flatten(2).transpose(1, 2)
    side = int(hidden.shape[1] ** 0.5)  # fewer places stand before the patches than a row has
    return hidden[:, hidden.shape[1] - side * side :]


def _vector(out: Any) -> Float[Tensor, "item whole"]:
    """One vector per item: the tower's own, or the state of its first place."""
    pooled = getattr(out, "pooler_output", None)
    if pooled is None:
        return out.last_hidden_state[:, 0]
    return pooled.flatten(1)
