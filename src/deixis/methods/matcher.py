"""A trained model with its features: pictures and words in, embeddings and scores out."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from deixis import __version__
from deixis.data.collate import regions_of, tokens_of
from deixis.errors import RunError
from deixis.features.backbones import (
    ImageBackbone,
    TextBackbone,
    image_backbone,
    text_source,
)
from deixis.features.files import write_json
from deixis.features.narrated import narrated_tokens
from deixis.features.narration import Narration
from deixis.features.words import Vocabulary
from deixis.methods import load_all
from deixis.methods.eight_bits import expand, shrink
from deixis.methods.model import Model, Sizes, methods
from deixis.methods.tuning import attach_towers
from deixis.registry import build_dataclass
from deixis.types import Embedding, Regions

CONFIG, WEIGHTS, WORDS = "config.json", "model.safetensors", "vocabulary.json"


@dataclass(frozen=True)
class RunConfig:
    """What must be known to build a trained model again."""

    method: Mapping[str, Any]  # its name and options, as the recipe wrote them
    sizes: Sizes
    image: str  # image features
    text: str  # text features
    recipe: str = ""
    seed: int = 0


class Matcher:
    """Encodes pictures and texts and scores them against each other."""

    def __init__(self, model: Model, config: RunConfig, vocabulary: Vocabulary | None) -> None:
        self.model = model.eval()
        self.config = config
        self.vocabulary = vocabulary

    def regions(self, files: Sequence[Path | str]) -> Regions:
        """What the model sees of picture files."""
        backbone = self._image_backbone
        packed = backbone([backbone.read(Path(file)) for file in files])
        return regions_of(packed, np.arange(len(files)))

    @torch.no_grad()
    def encode_image(self, files: Sequence[Path | str]) -> Embedding:
        """Embed picture files."""
        return self.model.image(self.regions(files))

    @torch.no_grad()
    def encode_text(self, texts: Sequence[str]) -> Embedding:
        """Embed texts."""
        return self.model.text(tokens_of(self._text_backbone(texts), np.arange(len(texts))))

    def words(self, text: str) -> tuple[str, ...]:
        """The words or word pieces a text is read as, in their order."""
        backbone = self._text_backbone
        return tuple(backbone.word(int(id)) for id in backbone([text]).ids)

    @property
    def reads_traces(self) -> bool:
        """Whether the query tower looks at what was drawn with the words."""
        return bool(getattr(self.model.text.body, "reads_traces", False))

    @torch.no_grad()
    def encode_narration(self, narrations: Sequence[Narration]) -> Embedding:
        """Embed texts with the traces drawn for them."""
        if not self.reads_traces or self.vocabulary is None:
            raise RunError(f"the method {self.config.method['name']} reads words alone, no traces")
        tokens = narrated_tokens(narrations, self.vocabulary)
        return self.model.text(tokens_of(tokens, np.arange(len(narrations))))

    @torch.no_grad()
    def similarity(self, images: Embedding, texts: Embedding) -> Float[Tensor, "image text"]:
        """Score every image with every text, higher being better."""
        return self.model.similarity(images, texts)

    @cached_property
    def identity(self) -> str:
        """A hash of the weights and of what the features are made with."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
        made = {
            "method": self.config.method,
            "image": self._image_backbone.identity(),
            "text": self._text_backbone.identity(),
        }
        digest.update(json.dumps(made, sort_keys=True).encode())
        return digest.hexdigest()

    def save(self, folder: Path, *, eight_bits: bool = False) -> None:
        """Write the weights, then the vocabulary, then the config, which makes the run complete."""
        folder.mkdir(parents=True, exist_ok=True)
        # Cloned, since a module two towers share is written under both names.
        state = {key: value.clone() for key, value in self.model.state_dict().items()}
        save_file(shrink(state) if eight_bits else state, folder / WEIGHTS)
        if self.vocabulary is not None:
            self.vocabulary.save(folder / WORDS)
        write_json(folder / CONFIG, {"deixis": __version__, **asdict(self.config)})

    @cached_property
    def _image_backbone(self) -> ImageBackbone:
        return image_backbone(self.config.image)

    @cached_property
    def _text_backbone(self) -> TextBackbone:
        return self.vocabulary or text_source(self.config.text).fit([])


def load(folder: Path | str) -> Matcher:
    """Load a run folder.

    >>> matcher = deixis.load("runs/tiny/vse-0")                                  # doctest: +SKIP
    >>> images = matcher.encode_image(["a.jpg", "b.jpg"])                         # doctest: +SKIP
    >>> matcher.similarity(images, matcher.encode_text(["a red boat"]))           # doctest: +SKIP
    """
    folder = Path(folder)
    if not (folder / CONFIG).is_file():
        raise RunError(f"{folder} is not a finished run: it has no {CONFIG}")
    record = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    record.pop("deixis")
    sizes = build_dataclass(Sizes, record.pop("sizes"), "sizes")
    config = build_dataclass(RunConfig, {**record, "sizes": sizes}, str(folder / CONFIG))
    load_all()
    options = dict(config.method)
    model = methods.build(options.pop("name"), options).model(sizes)
    model = attach_towers(model, config.image, config.text)
    try:
        model.load_state_dict(expand(load_file(folder / WEIGHTS)))
    except (OSError, RuntimeError, SafetensorError) as error:
        raise RunError(f"{folder / WEIGHTS} and {CONFIG} do not fit each other: {error}") from error
    words = folder / WORDS
    return Matcher(model, config, Vocabulary.load(words) if words.exists() else None)
