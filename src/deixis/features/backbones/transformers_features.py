"""Pretrained towers in the layout of the transformers library: ``hf:<folder or hub id>``.

Any vision tower (CLIP, SigLIP, DINOv2, ViT, ResNet and their kin) gives one vector per patch and
one for the whole picture; any text tower gives one per word piece and one for the whole text. The
two sides of a CLIP or SigLIP give their whole-item vectors in the space they share.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import FeatureError
from deixis.features.backbones.hub_access import only_local
from deixis.features.backbones.timm.timm_folder import timm_model, timm_settings, tower_file
from deixis.features.backbones.tower_names import split_side
from deixis.features.store.boxes import grid_boxes
from deixis.features.store.image_files import DECODING, PictureSource, open_square
from deixis.features.store.packed import PackedRegions, PackedTokens, offsets_of
from deixis.files import json_hash
from deixis.shapes import UInt8

BATCH = 16
LONGEST = 512  # word pieces, where the tower itself sets no limit


@dataclass(frozen=True)
class HFImages:
    """A vision tower, frozen: patches as regions, the tower's own vector as the whole picture.

    The whole picture is pressed into the tower's square, never cropped, so that a patch covers the
    same share of any picture. ``PATH@512`` shows the tower squares of another size than its own.
    """

    path: str

    @property
    def name(self) -> str:
        """What a recipe calls it."""
        return f"hf:{self.path}"

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        settings = {**DECODING, "side": self.side, "mean": self._mean, "std": self._std}
        # The same weights make other maps in a network that strides elsewhere.
        settings |= {key: self._settings[key] for key in ("architecture",) if key in self._settings}
        return {"weights": weights_hash(self._model), "preprocessing": json_hash(settings)}

    def read(self, path: PictureSource) -> UInt8[ndarray, "y x 3"]:
        """Open one picture as the tower wants it."""
        return open_square(path, self.side)

    def __call__(self, pictures: Sequence[UInt8[ndarray, "y x 3"]]) -> PackedRegions:
        """Turn opened pictures into patches and a whole vector each."""
        import torch

        blank = np.zeros((self.side, self.side, 3), np.uint8)  # gives an empty batch its shapes
        grids, wholes = [], []
        with torch.inference_mode():
            for start in range(0, max(len(pictures), 1), BATCH):
                pixels = np.stack(list(pictures[start : start + BATCH]) or [blank])
                patches, whole = self.tower(torch.from_numpy(pixels.astype(np.float32)))
                grids.append(patches.numpy())
                wholes.append(whole.numpy())
        count = len(pictures)
        grid, pooled = np.concatenate(grids)[:count], np.concatenate(wholes)[:count]
        boxes = np.tile(grid_boxes(math.isqrt(grid.shape[1])), (count, 1))
        values = grid.reshape(-1, grid.shape[2])
        return PackedRegions(values, offsets_of([grid.shape[1]] * count), boxes, pooled)

    @cached_property
    def tower(self) -> Any:
        """The tower as a torch module from pixels to patches and whole vectors."""
        from deixis.features.backbones.transformers_towers import VisionTower  # torch comes with it

        _refuse_other(self._model, "vision_model", "pixel_values", f"{self.name} sees no pictures")
        resized = self.side != self._own_side
        return VisionTower(self._model, self._mean, self._std, resized=resized).eval()

    @property
    def folder(self) -> str:
        """The tower's folder, or its id on the hub."""
        return split_side(self.path)[0]

    @cached_property
    def side(self) -> int:
        """Pixels of the square the tower looks at."""
        return split_side(self.path)[1] or self._own_side

    @property
    def _own_side(self) -> int:
        size: Any = self._settings.get("crop_size") or self._settings.get("size")
        if isinstance(size, dict):
            size = size.get("height") or size.get("shortest_edge")
        config = self._model.config
        vision = getattr(config, "vision_config", config)
        return int(size if size else getattr(vision, "image_size", 224))

    @property
    def _mean(self) -> list[float]:
        return [float(x) for x in self._settings.get("image_mean", (0.485, 0.456, 0.406))]

    @property
    def _std(self) -> list[float]:
        return [float(x) for x in self._settings.get("image_std", (0.229, 0.224, 0.225))]

    @cached_property
    def _settings(self) -> dict[str, Any]:
        _need_transformers()
        if timm := timm_settings(self.folder):
            return timm
        found = tower_file(self.folder, "preprocessor_config.json")
        return dict(json.loads(found.read_text(encoding="utf-8"))) if found else {}

    @cached_property
    def _model(self) -> Any:
        return load_model(self.folder)


@dataclass(frozen=True)
class HFTexts:
    """A text tower, frozen: states of word pieces, and one vector for the whole text.

    The whole vector is the one shared with pictures where there is one, else the mean of the
    states at unit length.
    """

    path: str

    @property
    def name(self) -> str:
        """What a recipe calls it."""
        return f"hf:{self.path}"

    @property
    def size(self) -> int:
        """How many word pieces there are."""
        return len(self.tokenizer)

    def fit(self, texts: Sequence[str]) -> "HFTexts":
        """Pretrained: there is nothing to learn from the texts."""
        return self

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        pieces = self.tokenizer.get_vocab()
        settings = {"pieces": json_hash(pieces), "longest": self._longest}
        return {"weights": weights_hash(self._model), "preprocessing": json_hash(settings)}

    def __call__(self, texts: Sequence[str]) -> PackedTokens:
        """Turn texts into word pieces with their states."""
        import torch

        parts = []
        with torch.inference_mode():
            for start in range(0, max(len(texts), 1), BATCH):
                ids, mask = self.pieces(texts[start : start + BATCH] or [""])
                states, whole = self.tower(ids, mask)
                parts.append((ids[mask], states[mask], whole, mask.sum(dim=1)))
        columns = [torch.cat(column).numpy() for column in zip(*parts, strict=True)]
        counts = columns[3][: len(texts)]
        rows = int(counts.sum())  # none when there was but a made-up text
        ids, values, pooled = columns[0][:rows], columns[1][:rows], columns[2][: len(texts)]
        return PackedTokens(ids, offsets_of(counts), values, pooled)

    def piece_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The characters of each word piece of a text; none for the start and end marks."""
        if not self.tokenizer.is_fast:
            raise FeatureError(
                f"{self.name} does not say which characters a word piece stands for; use a"
                " tower whose folder has a tokenizer.json"
            )
        found = self.tokenizer(
            list(texts),
            truncation=True,
            max_length=self._longest,
            return_offsets_mapping=True,
        )["offset_mapping"]
        return [[(int(a), int(b)) for a, b in spans] for spans in found]

    def word(self, id: int) -> str:
        """The word piece behind an id, as the tokenizer marks it."""
        piece: str = self.tokenizer.convert_ids_to_tokens(id)
        return piece

    def pieces(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """Word pieces as padded ids and the mask of those that exist."""
        found = self.tokenizer(
            list(texts),
            padding="longest",
            truncation=True,
            max_length=self._longest,
            return_attention_mask=True,
            return_tensors="pt",
        )
        return found["input_ids"], found["attention_mask"].bool()

    @cached_property
    def tower(self) -> Any:
        """The tower as a torch module from ids and mask to states and whole vectors."""
        from deixis.features.backbones.transformers_towers import TextTower  # torch comes with it

        _refuse_other(self._model, "text_model", "input_ids", f"{self.name} reads no texts")
        return TextTower(self._model).eval()

    @cached_property
    def tokenizer(self) -> Any:
        """What cuts texts into word pieces."""
        _need_transformers()
        from transformers import AutoTokenizer

        try:
            return AutoTokenizer.from_pretrained(self.path, **how_to_load(self.path))
        except Exception as error:  # the library raises many kinds for one cause
            raise FeatureError(
                f"hf:{self.path} has no tokenizer that loads{_not_fetched(self.path)} ({error})"
            ) from error

    @cached_property
    def _longest(self) -> int:
        config = self._model.config
        places = getattr(getattr(config, "text_config", config), "max_position_embeddings", LONGEST)
        return int(min(places, self.tokenizer.model_max_length, LONGEST))

    @cached_property
    def _model(self) -> Any:
        return load_model(self.path)


def how_to_load(path: str) -> dict[str, bool]:
    """Run no code that comes with a model, ask nobody whether to, fetch only what was named."""
    return {"trust_remote_code": False, "local_files_only": only_local(path)}


def load_model(path: str) -> Any:
    """Load a tower's weights, only from safetensors."""
    _need_transformers()
    if timm_settings(path):
        return timm_model(path)
    from transformers import AutoModel

    try:
        model = AutoModel.from_pretrained(path, use_safetensors=True, **how_to_load(path))
        return model.float().eval()
    except Exception as error:  # the library raises many kinds for one cause
        raise FeatureError(
            f"hf:{path} cannot be loaded: use a folder or hub id with config.json and"
            f" model.safetensors{_not_fetched(path)} ({error})"
        ) from error


def _not_fetched(path: str) -> str:
    """Why a model that is no folder of this machine was not looked for on a hub."""
    if Path(path).is_dir() or not only_local(path):
        return ""
    return "; nothing is fetched because a library or run names it, only with --model"


def _refuse_other(model: Any, side: str, takes: str, what: str) -> None:
    if not hasattr(model, side) and model.main_input_name != takes:
        raise FeatureError(f"{what}: it is a {type(model).__name__}; use one that takes {takes}")


def weights_hash(model: Any) -> str:
    """SHA-256 of a model's tensors."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def _need_transformers() -> None:
    try:
        import transformers  # noqa: F401
    except ImportError as error:
        raise FeatureError(
            "hf: towers need the transformers library; pip install 'deixis[hub]' brings it"
        ) from error
