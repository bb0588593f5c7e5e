"""Checkpoints of torch, old and new, read without unpickling."""

import math
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.stride_tricks import as_strided
from torch import Tensor

from deixis.errors import DataError
from deixis.methods.released import Checkpoint
from deixis.runs.released.plain_pickle import Allowed, Build, File, Name, read_plain

STORAGES = {
    "FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "LongStorage": "<i8",
    "IntStorage": "<i4", "ShortStorage": "<i2", "CharStorage": "<i1", "ByteStorage": "<u1",
    "BoolStorage": "?",
}  # fmt: skip
RECORDS = ("argparse.Namespace", "easydict.EasyDict")  # what authors keep their options in
LEGACY = 0x1950A86A20F9469CFC6C  # what files of torch before 1.6 begin with
PICKLE = b"\x80"
ZIP = b"PK\x03\x04"  # and those since
# What Python's reader of zips raises for damaged ones, beside its own error.
UNREADABLE = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError)
SIDES = ("img_enc", "txt_enc", "sim")  # of a checkpoint that is a list of state dicts


@dataclass(frozen=True)
class Storage:
    """A block of numbers a tensor is a view of; its bytes may come later."""

    key: str
    dtype: str
    numel: int


@dataclass(frozen=True)
class View:
    """A tensor as a checkpoint describes it, before its numbers are there."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def tensor(self, content: bytes) -> Tensor:
        """The numbers, copied; a view beyond its storage is refused."""
        numbers = np.frombuffer(content, self.storage.dtype)
        reach = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        if min(self.strides, default=0) < 0 or min(self.shape, default=1) < 0 or self.offset < 0:
            raise DataError("a tensor has a negative size or stride")
        if math.prod(self.shape) and self.offset + reach >= len(numbers):
            raise DataError(f"a tensor of shape {self.shape} reaches beyond its numbers")
        # A stride of zero repeats numbers: a few bytes could ask for more memory than there is.
        if math.prod(self.shape) > len(numbers):
            raise DataError(f"a tensor of shape {self.shape} repeats its {len(numbers)} numbers")
        width = numbers.itemsize
        strides = tuple(width * s for s in self.strides)
        return torch.from_numpy(as_strided(numbers[self.offset :], self.shape, strides).copy())


def read_checkpoint(path: Path) -> Checkpoint:
    """The weights by their published names, and the options kept beside them."""
    if not path.is_file():
        raise DataError(f"there is no checkpoint at {path}")
    with path.open("rb") as file:
        start = file.read(len(ZIP))
    zipped = start == ZIP
    if not zipped and not start.startswith(PICKLE):
        raise DataError(f"{path} is no checkpoint of torch: it begins {start!r}")
    content, stored = _zipped(path) if zipped else _legacy(path)
    weights = {}
    for name, found in _flat(content).items():
        if isinstance(found, View):
            weights[name] = _made(found, stored, path)
    if not weights:
        raise DataError(f"{path} holds no weights: neither a state dict nor a list of them")
    options = content.get("opt", content.get("args", {})) if isinstance(content, dict) else {}
    return Checkpoint(weights, options if isinstance(options, dict) else {})


def _made(view: View, stored: Mapping[str, bytes], path: Path) -> Tensor:
    if view.storage.key not in stored:
        raise DataError(f"{path} lacks the numbers of storage {view.storage.key}; copy it again")
    try:
        return view.tensor(stored[view.storage.key])
    except (DataError, ValueError) as error:  # numpy refuses what no array can be
        raise DataError(f"{path}: {error}") from None


def _flat(content: Any) -> dict[str, Any]:
    """Names as in one state dict: those of a list of them begin with the side they are of."""
    model = content
    if isinstance(content, dict):
        model = next((content[key] for key in ("model", "state_dict") if key in content), content)
    if isinstance(model, list | tuple):
        sides = dict(zip(SIDES, model, strict=False))
        model = {f"{side}.{k}": v for side, part in sides.items() for k, v in dict(part).items()}
    if not isinstance(model, dict):
        return {}
    # DataParallel puts a name of its own before the names of what it wraps.
    return {str(key).replace("module.", ""): value for key, value in model.items()}


def _zipped(path: Path) -> tuple[Any, Mapping[str, bytes]]:
    """Torch since 1.6: a zip of one pickle and a file per storage."""
    try:
        with zipfile.ZipFile(path) as archive:
            # Torch never compresses: what unpacks to more than the file is a trap.
            parts = archive.infolist()
            compressed = any(part.compress_type != zipfile.ZIP_STORED for part in parts)
            if compressed or sum(part.file_size for part in parts) > path.stat().st_size:
                raise DataError(f"{path} is compressed, which no checkpoint of torch is")
            names = archive.namelist()
            root = next((n.removesuffix("data.pkl") for n in names if n.endswith("/data.pkl")), "")
            if not root:
                raise DataError(f"{path} is a zip, but not a checkpoint: it has no data.pkl")
            pickled = BytesIO(archive.read(f"{root}data.pkl"))
            content = read_plain(pickled, _allowed(), str(path))
            inside = f"{root}data/"
            stored = {n.removeprefix(inside): n for n in names if n.startswith(inside)}
            return content, {key: archive.read(name) for key, name in stored.items()}
    except UNREADABLE as error:
        raise DataError(f"{path} is damaged: {error}; copy it again") from error


def _legacy(path: Path) -> tuple[Any, Mapping[str, bytes]]:
    """Torch before 1.6: pickles one after the other, then the numbers of each storage."""
    with path.open("rb") as file:
        if read_plain(file, Allowed(), str(path)) != LEGACY:
            raise DataError(f"{path} is not a checkpoint of torch: it does not begin as one does")
        for _ in ("version", "system"):
            read_plain(file, Allowed(), str(path))
        widths: dict[str, int] = {}
        content = read_plain(file, _allowed(widths), str(path))
        keys = read_plain(file, Allowed(), str(path))
        return content, {str(key): _block(file, widths.get(str(key), 4)) for key in keys}


def _block(file: File, width: int) -> bytes:
    count = int.from_bytes(file.read(8), "little", signed=True)
    here = file.tell()
    left = file.seek(0, os.SEEK_END) - here  # a count may ask for more memory than there is
    if not 0 <= count * width <= left:
        raise DataError("the checkpoint is cut short; copy it again")
    file.seek(here)
    return file.read(count * width)


def _allowed(widths: dict[str, int] | None = None) -> Allowed:
    """All that a checkpoint may hold: tensors, tables, options, numbers."""

    def stored(kind: str, name: Name, key: str, _place: str, numel: int, *_: Any) -> Storage:
        dtype = STORAGES.get(name.path.rpartition(".")[2])
        if kind != "storage" or dtype is None:
            raise DataError(f"it stores {name.path}, which is not known")
        if widths is not None:
            widths[str(key)] = np.dtype(dtype).itemsize
        return Storage(str(key), dtype, numel)

    builders: dict[str, Build] = {
        "collections.OrderedDict": lambda pairs=(): dict(pairs),
        "torch._utils._rebuild_tensor": _view,
        "torch._utils._rebuild_tensor_v2": _view,
        "torch._utils._rebuild_parameter": lambda view, *_: view,
        "torch.device": lambda *_: "",
        "torch.Size": tuple,
        "numpy.dtype": lambda code, *_: code,
        "numpy.core.multiarray.scalar": _number,
        "numpy._core.multiarray.scalar": _number,
        "_codecs.encode": lambda text, *_: text.encode("latin-1"),
    }
    return Allowed(builders, RECORDS, tuple(STORAGES), stored)


def _view(storage: Storage, offset: int, shape: Any, strides: Any, *_: Any) -> View:
    if not isinstance(storage, Storage):
        raise DataError("a tensor without a storage")
    return View(storage, int(offset), tuple(map(int, shape)), tuple(map(int, strides)))


def _number(dtype: str, content: bytes) -> float | int | bool:
    if str(dtype).lstrip("<|=") not in {"f2", "f4", "f8", "i4", "i8", "u1", "b1"}:
        raise DataError(f"it holds a number of the unknown kind {dtype!r}")
    number: float | int | bool = np.frombuffer(content, str(dtype), count=1)[0].item()
    return number
