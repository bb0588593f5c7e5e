"""A finished run made small enough to ship: everything in eight bits, a bank of texts, a card."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from deixis.data.dataset import Dataset
from deixis.errors import RunError
from deixis.evaluation.judge import judge
from deixis.evaluation.reranking.hubness import corrected
from deixis.features.backbones.backbone import in_eight_bits
from deixis.files import write_atomic, write_json
from deixis.recipes.packing.packaged_card import packed_card
from deixis.runs.advance import Advance, silent
from deixis.runs.data_spec import DataSpec
from deixis.runs.embed_dataset import encode
from deixis.runs.export.onnx_export import export_run
from deixis.runs.matcher import Matcher
from deixis.runs.prepare import prepare_split
from deixis.runs.run import Run
from deixis.runs.text_bank import Bank
from deixis.runs.training_bank import training_bank
from deixis.similarity.blocked.blocked_scoring import score_matrix

LARGEST = 15.0  # megabytes of weights that may be shipped

Measures = Mapping[str, float]


@dataclass(frozen=True)
class Packed:
    """The folder and size of a packed run, and how packing changed its scores."""

    folder: Path
    megabytes: float
    trained: Measures
    shipped: Measures


def require_packable(run: Run) -> None:
    """Refuse a run that cannot be packed, before anything that was packed earlier is touched."""
    run.read("metrics")
    if not run.matcher.model.similarity.exact:
        raise RunError(f"{run}: only runs whose score is one inner product can be packed")


def pack_run(run: Run, folder: Path, advance: Advance = silent) -> Packed:
    """Write a run of single vectors small, as graphs too, and judge what was written.

    Pictures and texts are read by the eight-bit backbones that come with deixis, whatever
    precision the run was trained with.
    """
    require_packable(run)
    matcher, data = run.matcher, run.data
    data = replace(data, image=in_eight_bits(data.image), text=in_eight_bits(data.text))
    config, small = replace(matcher.config, image=data.image, text=data.text), Run(folder)
    Matcher(matcher.model, config, matcher.vocabulary).save(folder, eight_bits=True)
    train, test = (
        prepare_split(data, name, matcher.vocabulary, advance) for name in (data.train, data.test)
    )
    bank = training_bank(small.matcher.model, train)
    bank.write(small.path("bank"))
    shipped = _judged(small.matcher, Bank.read(small.path("bank")), test)
    export_run(small)
    packed = Packed(folder, _megabytes(small), run.metrics["measures"], shipped)
    if packed.megabytes > LARGEST:
        raise RunError(
            f"{run} packed is {packed.megabytes:.1f} MB of weights; the limit is {LARGEST:g}"
        )
    _describe(packed, run, data, bank, len(train.images))
    return packed


def _megabytes(run: Run) -> float:
    files = (*run.folder.glob("*.safetensors"), *run.path("onnx").iterdir())
    return sum(file.stat().st_size for file in files) / 1e6


def _describe(packed: Packed, run: Run, data: DataSpec, bank: Bank, photographs: int) -> None:
    """Write the recipe's row, the measures and the card of a packed run."""
    small, record, judged = Run(packed.folder), run.recipe_row, run.metrics
    # A path would reveal the machine it was made on.
    names = {"corpus": Path(data.corpus).name, "also": [Path(path).name for path in data.also]}
    shown = record["data"] | names | {"image": data.image, "text": data.text}
    write_json(small.path("recipe"), record | {"data": shown})
    write_json(small.path("metrics"), judged | {"measures": dict(packed.shipped)})
    kept = {"texts": len(bank.texts), "nearest": bank.nearest, "weight": bank.weight}
    kept |= {"megabytes": packed.megabytes, "photographs": photographs}
    rows = {"as trained": packed.trained, "as shipped": packed.shipped}
    card = packed_card(small.config, shown, judged, kept, rows)
    write_atomic(small.path("card"), card.encode())


def _judged(matcher: Matcher, bank: Bank, dataset: Dataset) -> Measures:
    """What the packed run scores as search uses it: pictures corrected, queries as they are."""
    images, texts = encode(matcher.model, dataset)
    scores = score_matrix(matcher.model.similarity, images, texts).numpy()
    popular = bank.popularity(images.vectors[:, 0].numpy())
    return judge(corrected(scores, popular, np.zeros(len(texts))), dataset.corpus).measures
