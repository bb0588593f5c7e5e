"""The vectors of senseless queries, encoded once per model and kept in the cache."""

from zipfile import BadZipFile

import numpy as np
from numpy import ndarray

from deixis.errors import DeixisError
from deixis.files import json_hash, replacing
from deixis.paths import cache_folder
from deixis.search.encoders.search_encoder import SearchEncoder
from deixis.search.query.calibration import SENSELESS
from deixis.search.query.encode_queries import EncodedQuery, encode_queries
from deixis.search.query.query import Query
from deixis.shapes import Float32

Vectors = Float32[ndarray, "_ dim"]


def senseless_vectors(encoder: SearchEncoder) -> list[Vectors]:
    """The vectors of each senseless query; a cache that cannot be read or written costs time only.

    Encoding them takes longer than all else that a single search does.
    """
    path = cache_folder() / "senseless" / f"{json_hash([encoder.identity, SENSELESS])}.npz"
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            vectors = np.split(kept["vectors"], kept["ends"][:-1])
        if len(vectors) == len(SENSELESS) and all(_fits(one, encoder) for one in vectors):
            return vectors
    except (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile):
        pass
    encoded = encode_queries(encoder, [Query(text=text) for text in SENSELESS])
    vectors = [one.whole for one in encoded if isinstance(one, EncodedQuery)]
    try:
        with replacing(path) as temporary, temporary.open("wb") as written:
            ends = np.cumsum([len(one) for one in vectors])
            np.savez(written, vectors=np.concatenate(vectors), ends=ends)
    except (OSError, DeixisError):
        pass
    return vectors


def _fits(vectors: ndarray, encoder: SearchEncoder) -> bool:
    """Whether this may be a query of the model: one vector, unless it embeds sets."""
    return vectors.shape[1:] == (encoder.dim,) and (len(vectors) == 1 or not encoder.exact)
