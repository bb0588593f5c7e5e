"""A model folder with one thing wrong is refused by a sentence, and no picture is blamed for it."""

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from deixis.errors import DeixisError
from deixis.files import file_hash
from deixis.search.encoders.load_encoder import PACKAGED, load_encoder

Change = Callable[[Path], Any]


def used(run: Path, picture: Path) -> None:
    encoder = load_encoder(run)
    assert encoder.identity
    encoder.encode_text(["a red ball"])
    encoder.encode_image([picture])
    assert encoder.places is not None
    encoder.places.phrases("a red ball", [(0, 10)])


def arrays(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    """Change every array of a file."""

    def changed(run: Path) -> None:
        with safe_open(run / name, "numpy") as file:
            notes = dict(file.metadata() or {})
        state = {key: change(value) for key, value in load_file(run / name).items()}
        save_file({key: np.ascontiguousarray(one) for key, one in state.items()}, run / name, notes)

    return changed


def content(name: str, change: Callable[[bytes], bytes]) -> Change:
    return lambda run: (run / name).write_bytes(change((run / name).read_bytes()))


def value(name: str, key: str, new: Any) -> Change:
    """Change one value of a file of JSON."""

    def changed(run: Path) -> None:
        record = json.loads((run / name).read_text())
        (run / name).write_text(json.dumps(record | {key: new}))

    return changed


def forged(change: Change) -> Change:
    """A change by somebody who renews the hashes."""

    def changed(run: Path) -> None:
        change(run)
        record = json.loads((run / "onnx/export.json").read_text())
        record["weights"] = file_hash(run / "model.safetensors")
        record["graphs"] = {name: file_hash(run / "onnx" / name) for name in record["graphs"]}
        (run / "onnx/export.json").write_text(json.dumps(record))

    return changed


CHANGES: dict[str, Change] = {
    "a head that lies": content("places.safetensors", lambda c: struct.pack("<Q", 1 << 62) + c[8:]),
    "a place head of one row": arrays("places.safetensors", lambda a: a[:1] if a.ndim else a),
    "a place head of nothing": arrays("places.safetensors", lambda a: a[:0] if a.ndim else a),
    "a place head in three dimensions": arrays("places.safetensors", lambda a: a[None]),
    "a bank of numbers": arrays("bank.safetensors", lambda a: a.ravel()[0]),
    "a bank of one text": arrays("bank.safetensors", lambda a: a[:1]),
    "a bank of short texts": arrays("bank.safetensors", lambda a: a[:, :8]),
    "a graph of nothing": forged(content("onnx/image.onnx", lambda c: b"")),
    "half a graph": forged(content("onnx/text.onnx", lambda c: c[: len(c) // 2])),
    "weights of one row": forged(arrays("model.safetensors", lambda a: a[:1] if a.ndim else a)),
    "weights by other names": forged(
        lambda run: save_file({"x": np.ones(1)}, run / "model.safetensors")
    ),
    "graphs elsewhere": value("onnx/export.json", "graphs", {"../../../etc/passwd": "x"}),
    "graphs in a list": value("onnx/export.json", "graphs", []),
    "matrices by number": value("onnx/export.json", "shared", {"text.onnx": 5}),
    "features by number": value("config.json", "image", 5),
    "measures by number": value("metrics.json", "pointing", 5),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_one_thing_wrong_is_a_sentence_about_the_model(tmp_path, name):
    run, picture = tmp_path / "run", tmp_path / "a.png"
    Image.new("RGB", (64, 48), "red").save(picture)
    shutil.copytree(PACKAGED, run)
    CHANGES[name](run)
    with pytest.raises(DeixisError, match=str(run)):
        used(run, picture)


def test_the_model_is_used_where_nothing_is_wrong(tmp_path):
    Image.new("RGB", (64, 48), "red").save(tmp_path / "a.png")
    used(PACKAGED, tmp_path / "a.png")
