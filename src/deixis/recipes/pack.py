"""A finished run made small enough to ship: eight-bit weights, a bank of training texts, a card."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.data.dataset import Dataset
from deixis.errors import RunError
from deixis.evaluation.encode import encode
from deixis.evaluation.evaluate import judge
from deixis.evaluation.hubness import corrected
from deixis.features.files import write_atomic, write_json
from deixis.methods.matcher import Matcher, load
from deixis.recipes.packed_card import packed_card
from deixis.recipes.prepare import Advance, prepare_for
from deixis.search.bank import FILE, Bank
from deixis.similarity.blocks import score_matrix

# Texts kept in the bank, how many of them tell how popular a picture is, and how much that counts:
# chosen on the validation split of the packaged model's recipe.
TEXTS, NEAREST, WEIGHT = 4096, 40, 0.75
LARGEST = 15.0  # megabytes of weights that may be shipped

Measures = Mapping[str, float]


@dataclass(frozen=True)
class Packed:
    """Where a packed run lies, how large it is, and what packing did to what it scores."""

    folder: Path
    megabytes: float
    trained: Measures
    shipped: Measures


def pack_run(run: Path, folder: Path, advance: Advance) -> Packed:
    """Write a run of single vectors small, and judge what was written."""
    matcher = load(run)
    if not matcher.model.similarity.exact:
        raise RunError(f"{run}: only runs whose score is one inner product can be packed")
    record = json.loads((run / "recipe.json").read_text(encoding="utf-8"))
    train = prepare_for(run, matcher, "", record["data"]["train"], advance)
    matcher.save(folder, eight_bits=True)
    small = load(folder)
    texts = _some(encode(small.model, train)[1].vectors[:, 0].numpy())
    Bank.write(folder / FILE, texts, NEAREST, WEIGHT)
    trained = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    shipped = _judged(small, Bank.read(folder / FILE), prepare_for(run, matcher, "", "", advance))
    bytes_ = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    packed = Packed(folder, bytes_ / 1e6, trained["measures"], shipped)
    if packed.megabytes > LARGEST:
        raise RunError(f"{folder} holds {packed.megabytes:.1f} MB of weights; {LARGEST:g} may be")
    corpus = Path(record["data"]["corpus"]).name  # whose machine it lay on is nobody's business
    write_json(folder / "recipe.json", record | {"data": record["data"] | {"corpus": corpus}})
    write_json(folder / "metrics.json", trained | {"measures": dict(shipped)})
    kept = {
        "megabytes": packed.megabytes,
        "texts": len(texts),
        "nearest": NEAREST,
        "weight": WEIGHT,
    }
    rows = {"as trained": packed.trained, "as shipped": shipped}
    card = packed_card(matcher.config, record["data"], trained, kept, rows)
    write_atomic(folder / "README.md", card.encode())
    return packed


def _some(texts: Float32[ndarray, "text dim"]) -> Float32[ndarray, "chosen dim"]:
    """As many training texts as the bank holds, by a fixed lot."""
    if len(texts) <= TEXTS:
        return texts
    return texts[np.sort(np.random.default_rng(0).choice(len(texts), TEXTS, replace=False))]


def _judged(matcher: Matcher, bank: Bank, dataset: Dataset) -> Measures:
    """What the packed run scores as search uses it: pictures corrected, queries as they are."""
    images, texts = encode(matcher.model, dataset)
    scores = score_matrix(matcher.model.similarity, images, texts).numpy()
    popular = bank.popularity(images.vectors[:, 0].numpy())
    return judge(corrected(scores, popular, np.zeros(len(texts))), dataset.corpus).measures
