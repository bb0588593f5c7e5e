"""The searcher: a query goes in, ranked pictures come out."""

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from deixis.errors import SearchError
from deixis.search.encoder import Encoder
from deixis.search.exact import Exact
from deixis.search.library import Library
from deixis.search.parts import Parts
from deixis.search.query import Hit, Query, Results


class Searcher:
    """Ranks the pictures a library held when the searcher was made."""

    def __init__(self, encoder: Encoder, library: Library) -> None:
        library.require(encoder)
        self._encoder, self._manifest = encoder, library.generation.manifest
        live = self._manifest.live()
        if any(content.parts > 1 for content in live):
            raise SearchError(f"'{library.folder}' holds sets; exact search takes single vectors")
        vectors = library.generation.vectors()
        self._index = Exact(vectors)
        self._live = np.zeros(len(vectors), dtype=bool)
        self._live[np.array([content.row for content in live], dtype=np.int64)] = True

    def search(self, query: Query) -> Results:
        """The best pictures for a query, equal ones in the order they were added."""
        found = self._index.search(self._vector(query), query.k, self._live)
        hits = []
        for row, score in zip(found.rows[0], found.scores[0], strict=True):
            name, paths = self._manifest.item_at(int(row))
            if paths:  # else removed since the searcher was made
                hits.append(Hit(name, float(score), paths))
        return Results(query, tuple(hits), int(self._live.sum()))

    def _vector(self, query: Query) -> Float32[ndarray, "1 dim"]:
        parts = self._encode(query)
        vector = parts.of(0)
        if len(vector) != 1 or not np.isfinite(vector).all():
            raise SearchError(
                f"the model gave {len(vector)} vectors for the query, not a sound one"
            )
        return vector

    def _encode(self, query: Query) -> Parts:
        if query.text is not None:
            return self._encoder.encode_text([query.text])
        assert query.image is not None
        encoded = self._encoder.encode_image([query.image])
        if encoded.broken:
            raise SearchError(f"'{query.image}' cannot be searched by: {encoded.broken[0]}")
        return encoded.parts
