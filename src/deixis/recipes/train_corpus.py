"""Train a method on a corpus, without a recipe."""

from dataclasses import fields
from typing import Any

import torch

from deixis.data.corpus import Corpus
from deixis.encoders.text.gru import init_word_vectors
from deixis.evaluation.judge import evaluate_split
from deixis.methods import load_all
from deixis.methods.model import Method, Model, methods
from deixis.recipes.batching import batches_of, masking_of
from deixis.runs.attach_towers import attach_towers
from deixis.runs.matcher import Matcher
from deixis.runs.prepare import prepare_corpus
from deixis.runs.run_config import RunConfig
from deixis.training.fit import fit
from deixis.training.loop import OnRecord
from deixis.training.spec import TrainSpec


def train(
    corpus: Corpus,
    method: Method | str,
    spec: TrainSpec | None = None,
    *,
    image: str = "lite0",
    text: str = "words",
    seed: int = 0,
    on_step: OnRecord = lambda record: None,
) -> Matcher:
    """Train a method on the split "train" of a corpus, and choose by "val" where there is one.

    The matcher that comes back encodes and scores; ``matcher.save(folder)`` makes a run folder of
    it, which ``Library``, ``evaluate`` and every command take.

    ```python
    corpus = deixis.Corpus.from_pairs(pictures, captions)
    matcher = deixis.train(corpus, "vsepp", deixis.TrainSpec(length="10 epochs", batch=32))
    matcher.save("runs/mine")
    ```
    """
    load_all()
    method = methods.build(method, {}) if isinstance(method, str) else method
    spec = spec or TrainSpec()
    data = prepare_corpus(corpus, image=image, text=text)
    torch.manual_seed(seed)
    model = attach_towers(method.model(data.sizes), image, text)
    if data.vectors is not None:
        init_word_vectors(model.text, data.vectors)
    val = data.splits.get("val")
    masking = masking_of(text, data.sizes.vocabulary)

    def validate(trained: Model) -> float:
        assert val is not None
        return evaluate_split(trained, val).measures["rsum"]

    fit(
        model,
        method.objective(data.sizes),
        batches_of(spec, data.splits["train"], seed, masking),
        spec,
        seed=seed,
        validate=None if val is None else validate,
        on_step=on_step,
    )
    config = RunConfig(options_of(method), data.sizes, image, text, seed=seed)
    return Matcher(model, config, data.vocabulary)


def options_of(method: Method) -> dict[str, Any]:
    """A method's name and options, as a recipe would write them."""
    return {"name": method.name} | {one.name: getattr(method, one.name) for one in fields(method)}
