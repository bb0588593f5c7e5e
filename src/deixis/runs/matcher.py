"""A trained model with its features: pictures and words in, embeddings and scores out."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from deixis import __version__
from deixis.data.batches.collate import regions_of, tokens_of
from deixis.errors import RunError
from deixis.features.backbones.backbone import (
    ImageBackbone,
    TextBackbone,
    VocabularySource,
    image_backbone,
    text_source,
)
from deixis.features.places.phrase_inputs import SpannedText
from deixis.features.store.image_files import PictureSource
from deixis.features.store.packed import PackedTokens
from deixis.features.trace.narrated_tokens import narrated_pieces, narrated_tokens
from deixis.features.trace.narration import Narration
from deixis.features.words.vocabulary import Vocabulary
from deixis.files import replacing, write_json
from deixis.methods import load_all
from deixis.methods.model import Model, methods
from deixis.runs.attach_towers import attach_towers
from deixis.runs.export.int8_weights import expand, shrink
from deixis.runs.run import Run
from deixis.runs.run_config import RunConfig
from deixis.types import Embedding, Regions


class Matcher:
    """Encodes pictures and texts and scores them against each other.

    ```python
    matcher = deixis.load("runs/tiny/vse++-0")
    images = matcher.encode_image(["boat.jpg", "kite.jpg"])
    scores = matcher.similarity(images, matcher.encode_text(["a red boat"]))  # images × texts
    ```
    """

    def __init__(self, model: Model, config: RunConfig, vocabulary: Vocabulary | None) -> None:
        self.model = model.eval()
        self.config = config
        self.vocabulary = vocabulary

    def regions(self, files: Sequence[PictureSource | str]) -> Regions:
        """The features of picture files, as the model reads them."""
        backbone = self._image_backbone
        packed = backbone(
            [backbone.read(Path(file) if isinstance(file, str) else file) for file in files]
        )
        return regions_of(packed, np.arange(len(files)))

    @torch.no_grad()
    def encode_image(self, files: Sequence[PictureSource | str]) -> Embedding:
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
        """Whether the query encoder uses strokes drawn with the words."""
        return bool(getattr(self.model.text.body, "reads_traces", False))

    @torch.no_grad()
    def encode_narration(self, narrations: Sequence[Narration]) -> Embedding:
        """Embed texts with the traces drawn for them."""
        if not self.reads_traces:
            raise RunError(f"the method {self.config.method['name']} reads words alone, no traces")
        tokens = self._narrated(narrations)
        return self.model.text(tokens_of(tokens, np.arange(len(narrations))))

    def _narrated(self, narrations: Sequence[Narration]) -> PackedTokens:
        backbone, window = self._text_backbone, self.config.window
        if isinstance(backbone, Vocabulary):
            return narrated_tokens(narrations, backbone, window)
        if not isinstance(backbone, SpannedText):
            raise RunError(f"'{self.config.text}' does not say where its word pieces stand")
        texts = [narration.text for narration in narrations]
        return narrated_pieces(narrations, backbone(texts), backbone.piece_spans(texts), window)

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

    def save(self, folder: Path | str, *, eight_bits: bool = False) -> None:
        """Write the weights, then the vocabulary, then the config, which makes the run complete."""
        run = Run(folder)
        # Cloned, since a module two towers share is written under both names.
        state = {key: value.clone() for key, value in self.model.state_dict().items()}
        with replacing(run.path("weights")) as temporary:
            save_file(shrink(state) if eight_bits else state, temporary)
        if self.vocabulary is not None:
            self.vocabulary.save(run.path("vocabulary"))
        write_json(run.path("config"), {"deixis": __version__, **asdict(self.config)})

    @cached_property
    def _image_backbone(self) -> ImageBackbone:
        return image_backbone(self.config.image)

    @cached_property
    def _text_backbone(self) -> TextBackbone:
        return self.vocabulary or text_source(self.config.text).fit([])


def load(folder: Path | str) -> Matcher:
    """Load a run folder.

    ```python
    matcher = deixis.load("runs/tiny/vse++-0")
    images = matcher.encode_image(["boat.jpg", "kite.jpg"])
    scores = matcher.similarity(images, matcher.encode_text(["a red boat"]))  # images × texts
    ```
    """
    run = Run(folder)
    config = run.config
    vocabulary = _vocabulary(run)
    load_all()
    options = dict(config.method)
    try:
        model = methods.build(options.pop("name"), options).model(config.sizes)
    except (TypeError, ValueError, RuntimeError, MemoryError) as error:
        raise RunError(f"{run.path('config')} describes no model: {error}") from error
    model = attach_towers(model, config.image, config.text)
    weights = run.path("weights")
    try:
        model.load_state_dict(expand(load_file(weights)))
    except (OSError, RuntimeError, SafetensorError) as error:
        raise RunError(f"{weights} and config.json do not fit each other: {error}") from error
    return Matcher(model, config, vocabulary)


def _vocabulary(run: Run) -> Vocabulary | None:
    """The words of a run that reads words; without them every text would be read wrongly."""
    if not isinstance(text_source(run.config.text), VocabularySource):
        return None
    words = run.path("vocabulary")
    if not words.is_file():
        raise RunError(f"{run} reads texts as words but has no {words.name}; copy it with the run")
    vocabulary = Vocabulary.load(words)
    if vocabulary.size != run.config.sizes.vocabulary:
        raise RunError(
            f"{words} holds {vocabulary.size} words, special ones included; the model of {run} "
            f"was trained with {run.config.sizes.vocabulary}"
        )
    return vocabulary
