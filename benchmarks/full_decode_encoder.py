"""The packaged model as it was before eight bits: the yardstick for indexing and searching.

32-bit backbones, every picture decoded whole by Pillow, once for each network, in one thread.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from deixis.features.backbones.backbone import image_backbone, text_source
from deixis.features.store.image_files import PictureSource, SharedPicture
from deixis.files import write_json
from deixis.runs.run import Run
from deixis.runs.text_bank import Bank
from deixis.search.encoders.embedded_parts import EmbeddedParts
from deixis.search.encoders.hubness_encoder import HubnessEncoder
from deixis.search.encoders.load_encoder import PACKAGED
from deixis.search.encoders.onnx_encoder import MANIFEST, OnnxEncoder, run_graph


def in_32_bits(folder: Path) -> Path:
    """A copy of the packaged run whose pictures and texts are read by 32-bit backbones."""
    shutil.copytree(PACKAGED, folder)
    run = Run(folder)
    config = run.read("config")
    names = {key: config[key].replace("-int8", "") for key in ("image", "text")}
    write_json(run.path("config"), config | names)
    manifest = run.path("onnx") / MANIFEST
    record = json.loads(manifest.read_text(encoding="utf-8"))
    record["image"] = image_backbone(names["image"]).identity()
    record["text"] = text_source(names["text"]).fit([]).identity()
    write_json(manifest, record | {"identity": "32 bits"})
    return folder


def full_decode_encoder(run: Path) -> HubnessEncoder:
    """The encoder of a run in 32 bits."""
    return HubnessEncoder(_FullDecode(run), Bank.read(Run(run).path("bank")))


class _FullDecode(OnnxEncoder):
    concurrent, places = False, None

    def _parts_of(self, files: Sequence[PictureSource]) -> EmbeddedParts:
        sides = [part.backbone.side for part in self._images.backbones]  # type: ignore[attr-defined]
        pixels = [tuple(_opened(file, side) for side in sides) for file in files]
        return run_graph(self._image_graph, self._images(pixels))


def _opened(file: PictureSource, side: int) -> np.ndarray:
    source = file.source if isinstance(file, SharedPicture) else file
    assert isinstance(source, Path)
    with Image.open(source) as picture:
        square = picture.convert("RGB").resize((side, side), Image.Resampling.BICUBIC)
    return np.asarray(square)
