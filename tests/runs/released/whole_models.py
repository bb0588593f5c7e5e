"""Whole models that the published code ran: their checkpoints, and what went in and came out."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from released_goldens import own_ids
from safetensors.torch import save_file

SIDES = ("img_enc.", "txt_enc.", "sim.")
IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}


@dataclass(frozen=True)
class WholeModel:
    """A golden of ``tests/golden/released``: weights by their published names, and the rest."""

    state: dict[str, torch.Tensor]
    arrays: dict[str, torch.Tensor]

    def side(self, prefix, before=""):
        """The state dict of one side alone, as checkpoints that are lists hold it."""
        return {
            before + name.removeprefix(prefix): value
            for name, value in self.state.items()
            if name.startswith(prefix)
        }

    @property
    def words(self):
        """How many words there are."""
        return len(self.state["txt_enc.embed.weight"])

    def there(self):
        """The words that exist."""
        ids, lengths = self.arrays["ids"], self.arrays["lengths"]
        return torch.arange(ids.shape[1]) < lengths.unsqueeze(1)

    def own_ids(self):
        """The word ids as ours, padding overwritten: nothing may depend on what stands there."""
        return torch.where(self.there(), own_ids(self.arrays["ids"]), 7)

    def pixels(self):
        """The pictures as the published code was shown them, every pixel a region."""
        times = int(self.arrays["times"])
        large = self.arrays["pictures"].repeat_interleave(times, 1).repeat_interleave(times, 2)
        return large.flatten(1, 2).float()


def whole_model(golden, name):
    found = {
        k: torch.from_numpy(v) for k, v in golden(f"released/{name}").items() if v.dtype.kind != "U"
    }
    state = {key: value for key, value in found.items() if key.startswith(SIDES)}
    return WholeModel(state, {key: value for key, value in found.items() if key not in state})


def cnn_folder(folder: Path, weights, architecture, side, **seen):
    """timm's layout with the shapes of a network and none of its numbers."""
    folder.mkdir()
    save_file(
        {n: torch.randn(v.shape).abs() for n, v in weights.items()}, folder / "model.safetensors"
    )
    shown = {"input_size": [3, side, side], **(seen or IMAGENET)}
    config = {"architecture": architecture, "pretrained_cfg": shown}
    (folder / "config.json").write_text(json.dumps(config))
    return folder
