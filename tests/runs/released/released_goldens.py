"""Checkpoints as authors write them: published names, golden weights, torch's own format."""

import argparse
import json
from pathlib import Path

import torch

from deixis.runs.matcher import load
from deixis.runs.released.adopt_checkpoint import AuthorsFiles, adopt_checkpoint
from deixis.types import Regions, Tokens
from slot_goldens import tensors

SPECIAL = ["<pad>", "<start>", "<end>", "<unk>"]


def weights_of(arrays, prefix="w__"):
    """The tensors of a golden file that stores published names, dots written ``__``."""
    return {
        key.removeprefix(prefix).replace("__", "."): torch.from_numpy(value)
        for key, value in arrays.items()
        if key.startswith(prefix)
    }


def paired(golden, names):
    """Published module names filled from a golden's ``…_w`` and ``…_b``."""
    state = {}
    for published, key in names.items():
        if key in golden:
            state[published] = golden[key]
            continue
        for end, short in ((".weight", "_w"), (".bias", "_b")):
            if key + short in golden:
                state[published + end] = golden[key + short]
    return state


def gru(golden, both_ways=True):
    """A GRU of a golden file under torch's names."""
    state = {}
    for direction, end in (("fwd", ""), ("bwd", "_reverse")):
        for part in ("w_ih", "w_hh", "b_ih", "b_hh"):
            long = part.replace("w_", "weight_").replace("b_", "bias_")
            if both_ways or not end:
                state[f"{long}_l0{end}"] = golden[f"gru_{direction}_{part}"]
    return state


def under(prefix, state):
    return {f"{prefix}{name}": value for name, value in state.items()}


def write_list(path: Path, *sides, legacy=False, **options) -> Path:
    """The layout of VSE++ and all that grew out of it."""
    checkpoint = {
        "epoch": 3,
        "model": [dict(side) for side in sides],
        "best_rsum": 401.5,
        "opt": argparse.Namespace(**options),
        "Eiters": 12,
    }
    torch.save(checkpoint, path, _use_new_zipfile_serialization=not legacy)
    return path


def write_flat(path: Path, state, **options) -> Path:
    """The layout of PVSE and DivE, as DataParallel saves it."""
    model = {f"module.{name}": value for name, value in state.items()}
    torch.save({"args": argparse.Namespace(**options), "epoch": 3, "model": model}, path)
    return path


def write_vocabulary(path: Path, size: int, special=SPECIAL) -> list[str]:
    """A vocabulary of so many words, as SCAN writes it."""
    words = [*special, *(f"w{number}" for number in range(len(special), size))]
    numbers = {word: number for number, word in enumerate(words)}
    content = {"word2idx": numbers, "idx2word": dict(enumerate(words)), "idx": size}
    path.write_text(json.dumps(content))
    return words


def own_ids(ids):
    """Published word ids as ours, which have one special word more."""
    return ids + (ids > 3).long()


def adopted(tmp_path, method, checkpoint, words=0, **keys):
    """Adopt, then load what was written: the folder is the proof, not the object."""
    vocabulary = None
    if words:
        vocabulary = tmp_path / "vocabulary.json"
        write_vocabulary(vocabulary, words)
    files = AuthorsFiles(checkpoint, vocabulary, **keys)
    adopt_checkpoint(method, files, tmp_path / "run")
    return load(tmp_path / "run")


def regions(values, lengths=None):
    count = torch.full((len(values),), values.shape[1]) if lengths is None else lengths
    return Regions(values, torch.arange(values.shape[1]) < count.long().unsqueeze(1))


def tokens(ids, lengths):
    return Tokens(own_ids(ids), torch.arange(ids.shape[1]) < lengths.unsqueeze(1))


def scan_gru(golden):
    parts = {"weight_ih": "Wx", "weight_hh": "Wh", "bias_ih": "bx", "bias_hh": "bh"}
    return {
        f"{name}_l0{end}": golden[f"{way}_{short}"]
        for way, end in (("fwd", ""), ("bwd", "_reverse"))
        for name, short in parts.items()
    }


def scan_sides(golden):
    image = {"fc.weight": golden["image_fc_weight"], "fc.bias": golden["image_fc_bias"]}
    text = {"embed.weight": golden["embedding"], **under("rnn.", scan_gru(golden))}
    return image, text


def same(found, golden, within=1e-5):
    torch.testing.assert_close(found.double(), golden.double(), atol=within, rtol=0)


DIVE = {
    "spm.agg_block.latents": "init_slots",
    "spm.agg_block.layers.{}.0.norm": "ln_slot",
    "spm.agg_block.layers.{}.0.norm_context": "ln_input",
    "spm.agg_block.layers.{}.0.fn.to_q": "q",
    "spm.agg_block.layers.{}.0.fn.to_k": "k",
    "spm.agg_block.layers.{}.0.fn.to_v": "v",
    "spm.agg_block.layers.{}.0.fn.to_out.0": "out",
    "spm.agg_block.layers.{}.2.norm": "ln_ff",
    "spm.agg_block.layers.{}.2.fn.net.0": "ff1",
    "spm.agg_block.layers.{}.2.fn.net.3": "ff2",
    "spm.agg_block.last_layer.0": "ln_last",
    "spm.residual_norm": "ln_global",
}


def dive_state(golden):
    image, text = (tensors(golden(f"dive/dive_{side}_encoder")) for side in ("image", "text"))
    state = {}
    for number in range(4):
        layer = {published.format(number): key for published, key in DIVE.items()}
        state |= under("img_enc.", paired(image, layer)) | under("txt_enc.", paired(text, layer))
    body = {"fc": "fc", "mlp.fc1": "mlp1", "mlp.fc2": "mlp2", "mlp.bn.bn": "bn"}
    state |= under("img_enc.", paired(image, body))
    for key in ("mean", "var"):
        state[f"img_enc.mlp.bn.bn.running_{key}"] = image[f"bn_running_{key}"]
    state["txt_enc.embed.weight"] = text["embed"]
    return state | under("txt_enc.rnn.", gru(text)), image, text
