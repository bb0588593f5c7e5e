"""A folder or hub id in timm's layout: config.json with an architecture, and model.safetensors."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deixis.errors import FeatureError
from deixis.features.backbones.hub_access import only_local
from deixis.files import parse_json, replacing_folder, write_json

WEIGHTS = "model.safetensors"
CAFFE = "caffe_"  # begins an architecture, ours alone, whose strides are where Caffe has them


def timm_settings(path: str) -> dict[str, Any]:
    """What a folder in timm's layout says about its pictures; empty in another layout."""
    found = tower_file(path, "config.json")
    try:
        config = parse_json(found.read_text(encoding="utf-8")) if found else {}
    except ValueError as error:
        raise FeatureError(f"{found} is damaged: {error}") from error
    if not isinstance(config, dict) or "architecture" not in config:
        return {}
    own = config.get("pretrained_cfg", {})
    side = own.get("input_size", (3, 224, 224))[-1]
    settings = {"architecture": config["architecture"], "size": side}
    return settings | {f"image_{key}": own[key] for key in ("mean", "std") if key in own}


def timm_model(path: str) -> Any:
    """The network of a folder in timm's layout."""
    from deixis.features.backbones.timm.timm_resnet import load_timm_resnet  # torch comes with it

    weights = tower_file(path, WEIGHTS)
    if weights is None:
        raise FeatureError(f"hf:{path} has no {WEIGHTS} beside its config.json")
    return load_timm_resnet(weights, timm_settings(path)["architecture"]).float().eval()


def write_timm_folder(folder: Path, weights: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    """Write a network and the settings that ``timm_settings`` reads."""
    from safetensors.torch import save_file  # torch comes with it

    side = shown["size"]
    own = {key: shown[f"image_{key}"] for key in ("mean", "std")}
    config = {
        "architecture": shown["architecture"],
        "pretrained_cfg": {"input_size": [3, side, side], **own},
    }
    with replacing_folder(folder) as made:
        save_file({name: tensor.contiguous() for name, tensor in weights.items()}, made / WEIGHTS)
        write_json(made / "config.json", config)


def tower_file(path: str, name: str) -> Path | None:
    """A file of a tower, where it has one; fetched only where a person named the tower."""
    from transformers.utils.hub import cached_file  # an optional dependency

    options: dict[str, Any] = {
        "_raise_exceptions_for_missing_entries": False,
        "local_files_only": only_local(path),
    }
    try:
        found = cached_file(path, name, **options)
    except OSError:  # no such folder, or not fetched: who needs the weights says which
        return None
    return Path(found) if found else None
