"""A checkpoint the authors of a paper released, as a run folder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from deixis.errors import RunError
from deixis.extras import need
from deixis.features.backbones.hub_access import allow_hub
from deixis.features.backbones.trainable_inputs import PREFIX
from deixis.features.words.vocabulary import Vocabulary
from deixis.methods import load_all
from deixis.methods.model import Method, Model, methods
from deixis.methods.released import BERT, CNN, Checkpoint, Released
from deixis.runs.attach_towers import attach_towers
from deixis.runs.matcher import Matcher
from deixis.runs.released.checkpoint_file import read_checkpoint
from deixis.runs.released.cnn_folder import lay_cnn
from deixis.runs.released.vocabulary_file import own_vocabulary, read_words
from deixis.runs.run_config import RunConfig

WORD_TABLE = "txt_enc.embed.weight"
# Ours alone, or counters that older versions of torch did not keep: they stay as they start.
SPARE = ("num_batches_tracked", "start.noise", "position_ids")


@dataclass(frozen=True)
class AuthorsFiles:
    """What the authors released: a checkpoint and, where the method needs them, two more files."""

    checkpoint: Path
    vocabulary: Path | None = None
    settings: Path | None = None  # options in YAML or JSON, over those inside the checkpoint
    image: str = "regions"  # the features the model reads
    text: str = "words"


def adopt_checkpoint(method: str, files: AuthorsFiles, folder: Path) -> Matcher:
    """Make a run folder of a released checkpoint; what does not fit is refused by name."""
    load_all()
    kind = methods.find(method)
    found = read_checkpoint(files.checkpoint)
    found = replace(found, settings={**found.settings, **read_settings(files.settings)})
    found, vocabulary = _with_own_words(found, files)
    read = kind.released(found)
    options = {"name": method, **read.options}
    state = _behind_towers(read.renamed(found.weights), files)
    if read.shown:
        lay_cnn(files.image, read.shown, state)
    for name in (files.image, files.text):
        allow_hub(name)
    model = attach_towers(_build(kind, read), files.image, files.text)
    load_weights(model, state, files.checkpoint)
    config = RunConfig(options, read.sizes, files.image, files.text)
    matcher = Matcher(model, config, vocabulary)
    matcher.save(folder)
    return matcher


def read_settings(path: Path | None) -> dict[str, Any]:
    """The authors' options from a file; CAMP keeps its own under ``common``."""
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text) if path.suffix == ".json" else _yaml(text, path)
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read as JSON or YAML: {error}") from error
    content = content.get("common", content) if isinstance(content, dict) else content
    if not isinstance(content, dict):
        raise RunError(f"{path} holds no options: wanted a table of names and values")
    return content


def _yaml(text: str, path: Path) -> Any:
    need("yaml", "adopt")
    import yaml  # an extra

    class Plain(yaml.SafeLoader):
        """Options repeat nothing; a few aliases of aliases would be gigabytes."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("it refers to its own parts by *name, which is not read")
            return super().compose_node(parent, index)

    try:
        return yaml.load(text, Plain)
    except yaml.YAMLError as error:
        raise RunError(f"{path} is not YAML: {error}") from error


def load_weights(model: Model, state: Mapping[str, Tensor], path: Path) -> None:
    """Fill a model with renamed weights; only what no published code saves may be missing."""
    own = model.state_dict()
    fitted = {
        name: value.reshape(own[name].shape)  # a 1×1 convolution is a linear map
        if name in own and value.squeeze().shape == own[name].squeeze().shape
        else value
        for name, value in state.items()
    }
    try:
        missing, extra = model.load_state_dict(fitted, strict=False)
    except RuntimeError as error:
        raise RunError(f"{path} does not fit: {error}") from error
    missing = [name for name in missing if not name.endswith(SPARE)]
    extra = [name for name in extra if not name.endswith(SPARE)]
    if missing or extra:
        what = f"lacks {missing[0]}" if missing else f"has {extra[0]} besides"
        raise RunError(f"{path} does not fit: it {what}; is it of this method?")


def _build(kind: type[Method], read: Released) -> Model:
    return methods.build(kind.name, read.options).model(read.sizes)


def _with_own_words(found: Checkpoint, files: AuthorsFiles) -> tuple[Checkpoint, Vocabulary | None]:
    """The word vectors in the order of our vocabulary."""
    if WORD_TABLE not in found.weights:
        if files.text == "words":
            raise RunError(
                f"{files.checkpoint} reads no words of a vocabulary: name its text features "
                "(--text), for BERT tuned: and the folder of a bert-base-uncased"
            )
        return found, None
    if files.vocabulary is None:
        raise RunError(f"{files.checkpoint} reads words: name its vocabulary (--vocabulary)")
    words = read_words(files.vocabulary)
    vocabulary, table = own_vocabulary(words, found.weights[WORD_TABLE])
    return replace(found, weights={**found.weights, WORD_TABLE: table}), vocabulary


def _behind_towers(state: Mapping[str, Tensor], files: AuthorsFiles) -> dict[str, Tensor]:
    """Names of encoders behind towers in training.

    A BERT nobody gave a folder for is refused; a CNN is left where its features are named instead.
    """
    tuned = {side for side in ("image", "text") if getattr(files, side).startswith(PREFIX)}
    if any(name.startswith(BERT) for name in state) and "text" not in tuned:
        raise RunError(
            f"{files.checkpoint} holds a BERT of its own: name a folder with its architecture and "
            "word pieces, as in --text tuned:bert-base-uncased"
        )
    kept = {n: v for n, v in state.items() if "image" in tuned or not n.startswith(CNN)}
    return {_inner(name) if name.split(".")[0] in tuned else name: v for name, v in kept.items()}


def _inner(name: str) -> str:
    """The name of a weight behind a tower; the tower's own keep theirs."""
    side, _, rest = name.partition(".")
    return name if name.startswith((BERT, CNN)) else f"{side}.inner.{rest}"
