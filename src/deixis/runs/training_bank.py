"""The bank of a model's own training texts: what search corrects its pictures by."""

import numpy as np

from deixis.data.dataset import Dataset
from deixis.errors import RunError
from deixis.methods.model import Model
from deixis.runs.embed_dataset import encode
from deixis.runs.text_bank import Bank

# Texts kept in the bank, how many of them measure how popular a picture is, and how much that
# counts: chosen on the validation split of the packaged model's recipe.
TEXTS, NEAREST, WEIGHT = 4096, 40, 0.75


def training_bank(model: Model, train: Dataset) -> Bank:
    """As many training texts as the bank holds, drawn with a fixed seed."""
    if not model.similarity.exact:
        raise RunError("only scores that are one inner product can be corrected by a bank of texts")
    texts = encode(model, train)[1].vectors[:, 0].cpu().numpy()
    if len(texts) > TEXTS:
        texts = texts[np.sort(np.random.default_rng(0).choice(len(texts), TEXTS, replace=False))]
    return Bank(texts, min(NEAREST, len(texts)), WEIGHT)
