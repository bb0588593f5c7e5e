"""The place head of a packed run as search uses it: numpy alone, from one file of weights."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import RunError
from deixis.features.store.content_hashes import content_hash
from deixis.files import replacing
from deixis.shapes import Float, Float32, Int8
from deixis.similarity.places.place_score import PlaceScore

EPSILON = 1e-5  # of layer normalisation
SCALE = ".scale"  # after the name of a matrix in eight bits
_MATRICES = ("cell", "hidden", "out")
BIG = {f"{name}.weight" for name in _MATRICES}  # kept in eight bits
NUMBERS = 64  # of a cell in a library
PHRASE_BASIS, CELL_BASIS = "phrase_basis", "cell_basis"  # of several members packed into one
BEFORE = {"spread": "0"}  # settings that heads packed by earlier versions do not name

Weights = Mapping[str, Any]  # float32 arrays by name


@dataclass(frozen=True, slots=True)
class StoredCells:
    """What a library keeps per picture for pointing: eight bits per number, a scale per picture."""

    values: Int8[ndarray, "picture cell dim"]
    scale: Float32[ndarray, " picture"]

    @classmethod
    def joined(cls, several: "Sequence[StoredCells]") -> "StoredCells":
        """The pictures of several, one after the other."""
        values = np.concatenate([one.values for one in several])
        return cls(values, np.concatenate([one.scale for one in several]))

    def vectors(self) -> Float32[ndarray, "picture cell dim"]:
        """The cells as unit vectors again, up to the rounding."""
        return self.values.astype(np.float32) * self.scale[:, None, None]


@dataclass(frozen=True)
class PlaceHead:
    """Maps cells and phrases to vectors whose inner products say where a phrase is."""

    weights: Weights
    score: PlaceScore
    image: str  # the backbones whose features it reads
    text: str
    own_parts: bool = False  # cells are vectors of the run it goes with, not of ``image`` itself
    identity: str = ""

    @classmethod
    def read(cls, path: Path) -> "PlaceHead":
        """Read the place head of a run folder."""
        from safetensors import SafetensorError, safe_open  # only where there is one

        try:
            with safe_open(path, "numpy") as file:
                state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                settings = dict(file.metadata())
            image, text = settings.pop("image"), settings.pop("text")
            own_parts = bool(settings.pop("own_parts", ""))
            settings = BEFORE | settings
            score = PlaceScore(**{key: float(value) for key, value in settings.items()})
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise RunError(f"{path} is not a place head: {error}; pack the run again") from error
        if missing := sorted(_NAMES - set(state)):
            raise RunError(
                f"{path} is not a place head: it has no {missing[0]}; pack the run again"
            )
        try:
            head = cls(_expanded(state), score, image, text, own_parts, content_hash(path))
            head.cells(np.zeros((1, 1, head.weights["cell.weight"].shape[1]), np.float32))
            head.phrases(np.zeros((1, head.weights["norm.weight"].shape[0]), np.float32))
        except (ValueError, IndexError) as error:
            raise RunError(f"{path} is not a place head: {error}; pack the run again") from error
        return head

    def write(self, path: Path) -> None:
        """Write the head with its matrices in eight bits."""
        from safetensors.numpy import save_file

        small: dict[str, ndarray] = {}
        for name, array in self.weights.items():
            small[name] = array.astype(np.float32)
            if name in BIG:
                scale = np.abs(array).max(axis=1).clip(1e-12) / 127
                small[name] = np.round(array / scale[:, None]).astype(np.int8)
                small[name + SCALE] = scale.astype(np.float32)
        # safetensors writes memory as it lies, also that of a transposed matrix.
        small = {name: np.ascontiguousarray(array) for name, array in small.items()}
        settings = {key: repr(value) for key, value in asdict(self.score).items()}
        settings |= {"image": self.image, "text": self.text}
        settings |= {"own_parts": "yes"} if self.own_parts else {}
        with replacing(path) as temporary:
            save_file(small, temporary, settings)

    def cells(self, values: Float[ndarray, "picture cell feature"]) -> StoredCells:
        """The cells of pictures as a library keeps them, from features of ``image = "cells"``."""
        vectors = _linear(values.astype(np.float32, copy=False), self.weights, "cell")
        vectors = self._members(vectors, 1.0) @ self.weights.get(CELL_BASIS, self._whole)
        scale = np.abs(vectors).max(axis=(1, 2)).clip(1e-12) / 127
        rounded = np.round(vectors / scale[:, None, None]).astype(np.int8)
        return StoredCells(rounded, scale.astype(np.float32))

    def phrases(self, inputs: Float[ndarray, "phrase feature"]) -> Float32[ndarray, "phrase dim"]:
        """Vectors of phrases, from ``phrase_inputs``; their length is the sharpness of the maps."""
        values = inputs.astype(np.float32)
        centred = values - values.mean(axis=1, keepdims=True)
        normal = centred / np.sqrt(centred.var(axis=1, keepdims=True) + EPSILON)
        normal = normal * self.weights["norm.weight"] + self.weights["norm.bias"]
        hidden = _gelu(_linear(normal, self.weights, "hidden"))
        weight, bias = self.weights["out.weight"], self.weights["out.bias"]
        scale = self.weights["log_scale"]
        parts = zip(
            *(np.split(x, len(scale), axis=-1) for x in (hidden, weight.T, bias)), strict=True
        )
        out = np.concatenate([h @ w + b for h, w, b in parts], axis=1)
        out = self._members(out, np.exp(scale)) @ self.weights.get(PHRASE_BASIS, self._whole)
        return out.astype(np.float32)

    def packed(
        self,
        cells: Float[ndarray, "cell seen"],
        phrases: Float[ndarray, "phrase read"],
        kept: int = NUMBERS,
    ) -> "PlaceHead":
        """The same head in at most ``kept`` numbers per cell, whatever the number of its members.

        Maps are inner products, so the best maps of a lower rank follow from the covariances of
        cells and phrases, which are taken from some of the training data.
        """
        if len(self.weights["cell.bias"]) <= kept:
            return self
        wide = self._members(_linear(cells, self.weights, "cell"), 1.0)
        roots = [_root(side) for side in (self.phrases(phrases), wide)]
        left, values, right = np.linalg.svd(roots[0].T @ roots[1])
        share = np.sqrt(values[:kept])
        bases = {
            name: (np.linalg.solve(root.T, side[:, :kept]) * share).astype(np.float32)
            for name, root, side in zip(
                (PHRASE_BASIS, CELL_BASIS), roots, (left, right.T), strict=True
            )
        }
        return replace(self, weights={**self.weights, **bases})

    def _members(
        self, vectors: Float[ndarray, "*item wide"], length: Float[ndarray, " member"] | float
    ) -> Float[ndarray, "*item wide"]:
        """Bring every member's own numbers to a length."""
        members = len(self.weights["log_scale"])
        each = _unit(vectors.reshape(*vectors.shape[:-1], members, -1))
        sized = each * (np.broadcast_to(length, (members,)) / np.sqrt(members))[:, None]
        return sized.reshape(vectors.shape)

    @cached_property
    def _whole(self) -> Float32[ndarray, "wide wide"]:
        return np.eye(len(self.weights["cell.bias"]), dtype=np.float32)

    @property
    def anything(self) -> Float32[ndarray, " dim"]:
        """The mean phrase of the training texts: for a place without words, "something is here"."""
        mean: Float32[ndarray, " dim"] = self.weights["anything"]
        return mean


def _root(rows: Float[ndarray, "row dim"]) -> Float[ndarray, "dim dim"]:
    """A matrix whose product with its transpose is the covariance of some rows about zero."""
    exact = rows.astype(np.float64)
    moment = exact.T @ exact / len(exact)
    return np.linalg.cholesky(moment + 1e-9 * np.trace(moment) * np.eye(len(moment)))


_NAMES = {f"{name}.{part}" for name in (*_MATRICES, "norm") for part in ("weight", "bias")}
_NAMES |= {"log_scale", "anything"}


def _expanded(state: Weights) -> Weights:
    return {
        name: value.astype(np.float32) * state[name + SCALE][:, None]
        if name + SCALE in state
        else value
        for name, value in state.items()
        if not name.endswith(SCALE)
    }


def _linear(values: Float[ndarray, "*item feature"], weights: Weights, name: str) -> ndarray:
    out: ndarray = values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return out


def _gelu(values: Float[ndarray, "*item feature"]) -> ndarray:
    """GELU by its tanh formula, as the head is trained with."""
    inner = np.float32(np.sqrt(2.0 / np.pi)) * (values + 0.044715 * values**3)
    return 0.5 * values * (1.0 + np.tanh(inner))


def _unit(vectors: Float[ndarray, "*item dim"]) -> ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True).clip(1e-12)
