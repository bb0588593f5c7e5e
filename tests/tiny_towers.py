"""Tiny pretrained-looking towers, made on the spot with random weights."""

import json
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *["a", "red", "blue", "dog", "boat", "runs", "on", "the", "sea"],
]
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
SEEN = {"image_size": 24, "patch_size": 8}


def save(
    model: torch.nn.Module, folder: Path, side: int = 24, words: bool = False, longest: int = 12
) -> str:
    model.save_pretrained(folder)
    settings = {
        "size": {"height": side, "width": side},
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    if words:
        save_tokenizer(folder, longest)
    return str(folder)


def save_tokenizer(folder: Path, longest: int = 12, **more: str) -> None:
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=longest, **names, **more
    )
    fast.save_pretrained(folder)


def tiny_clip(folder: Path, longest: int = 12) -> str:
    text = {**SMALL, "vocab_size": len(WORDS), "eos_token_id": 3}
    text["max_position_embeddings"] = longest
    config = transformers.CLIPConfig(
        text_config=text, vision_config={**SMALL, **SEEN}, projection_dim=10
    )
    return save(transformers.CLIPModel(config), folder, words=True, longest=longest)


def tiny_siglip(folder: Path) -> str:
    text = {**SMALL, "vocab_size": len(WORDS), "max_position_embeddings": 12, "pad_token_id": 0}
    config = transformers.SiglipConfig(text_config=text, vision_config={**SMALL, **SEEN})
    return save(transformers.SiglipModel(config), folder, words=True)


def tiny_vit(folder: Path) -> str:
    return save(transformers.ViTModel(transformers.ViTConfig(**SMALL, **SEEN)), folder)


def tiny_dinov2(folder: Path) -> str:
    config = transformers.Dinov2Config(**SMALL, **SEEN)
    return save(transformers.Dinov2Model(config), folder)


def tiny_resnet(folder: Path) -> str:
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"
    )
    return save(transformers.ResNetModel(config), folder, side=48)


def tiny_bert(folder: Path, **sizes: int) -> str:
    sizes = {**SMALL, "vocab_size": len(WORDS), "max_position_embeddings": 12, **sizes}
    config = transformers.BertConfig(**sizes)
    path = save(transformers.BertModel(config), folder)
    save_tokenizer(folder, mask_token="[MASK]")
    return path


def tiny_resnext(folder: Path) -> str:
    """timm's layout: an architecture in config.json, weights by its names, classifier included."""
    arrays = np.load(Path(__file__).parent / "golden/dive/timm_resnext.npz")
    names = [name for name in arrays.files if name.startswith("weight.")]
    weights = {name.removeprefix("weight."): torch.from_numpy(arrays[name]) for name in names}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "model.safetensors")
    seen = {"input_size": [3, 48, 48], "mean": [0.5] * 3, "std": [0.25] * 3}
    config = {"architecture": "resnext101_32x8d", "num_classes": 3, "pretrained_cfg": seen}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)
