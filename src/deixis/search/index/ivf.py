"""Approximate recall for large libraries: rows in cells, few cells searched, the best re-scored.

Rows lie in the cell of their nearest centre, in eight bits per number (faiss: IVF, SQ8). A query
searches the cells nearest to it; what it finds there is scored again with the true vectors, so
scores are exact and only recall is approximate.
"""

from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from deixis.errors import SearchError
from deixis.files import file_hash, parse_json, replacing, write_json
from deixis.neighbours.exact import among
from deixis.neighbours.inner_products import InnerProducts
from deixis.neighbours.neighbours import Neighbours
from deixis.shapes import Bool, Float32, Int64

FILE = "cells.faiss"
SHARE = 0.25  # of the cells a query searches
MORE = 2  # times as many rows are re-scored as are asked for
FEW = 20_000  # allowed rows that are compared one by one about as fast
LEARN, ROUNDS = 64, 6  # rows a cell is learnt from, and how often its centre moves
CHECKED = 256  # rows by which a kept index is known to be of these vectors


class Ivf:
    """Searches some cells instead of all; small or filtered libraries stay exact."""

    def __init__(
        self, vectors: Float32[ndarray, "row dim"], path: Path | None = None, share: float = SHARE
    ) -> None:
        if find_spec("faiss") is None:
            raise SearchError("this engine needs faiss; install it with: pip install 'deixis[ann]'")
        self._vectors, self._share = vectors, share
        self._cells = _opened(vectors, path) if len(vectors) > FEW else None

    def search(
        self, queries: Float32[ndarray, "query dim"], k: int, allowed: Bool[ndarray, " row"]
    ) -> Neighbours:
        """Nearly the k best allowed rows of each query, or all allowed ones when they are fewer."""
        rows = np.flatnonzero(allowed)
        if self._cells is None or len(rows) <= max(FEW, MORE * k):
            return among(self._vectors, rows, queries, k)
        candidates = self._candidates(queries, MORE * k, allowed)
        pairs = zip(queries, candidates, strict=True)
        best = [self._scored(query, found, k) for query, found in pairs]
        return Neighbours(np.stack([r for r, _ in best]), np.stack([s for _, s in best]))

    def _candidates(
        self, queries: Float32[ndarray, "query dim"], count: int, allowed: Bool[ndarray, " row"]
    ) -> Int64[ndarray, "query candidate"]:
        faiss = _faiss()

        assert self._cells is not None
        cells = self._cells.nlist
        probes = max(1, round(self._share * cells))
        bits = np.packbits(allowed, bitorder="little")
        chosen = faiss.IDSelectorBitmap(len(allowed), faiss.swig_ptr(bits))
        while True:
            options = faiss.SearchParametersIVF(
                nprobe=probes, sel=None if allowed.all() else chosen
            )
            _, rows = self._cells.search(np.ascontiguousarray(queries), count, params=options)
            if rows.min() >= 0 or probes >= cells:
                return np.asarray(rows)
            probes = min(4 * probes, cells)  # a filter has emptied the nearest cells

    def _scored(
        self, query: Float32[ndarray, " dim"], rows: Int64[ndarray, " candidate"], k: int
    ) -> tuple[Int64[ndarray, " k"], Float32[ndarray, " k"]]:
        scores = InnerProducts(self._vectors)(rows, query)
        order = np.lexsort((rows, -scores))[:k]
        return rows[order], scores[order]


def _faiss() -> Any:
    return import_module("faiss")  # only where it is used; its types do not know its keywords


def _opened(vectors: Float32[ndarray, "row dim"], path: Path | None) -> Any:
    """The kept cells with what was added since, or new ones."""
    cells = _kept(vectors, path)
    if cells is None:
        cells = _learnt(vectors)
    if cells.ntotal < len(vectors):
        cells.add(np.ascontiguousarray(vectors[cells.ntotal :]))
        if path is not None:
            _keep(cells, vectors, path)
    return cells


def _learnt(vectors: Float32[ndarray, "row dim"]) -> Any:
    faiss = _faiss()

    count, dim = vectors.shape
    cells = 2 ** round(np.log2(1.6 * np.sqrt(count)))
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dim),
        dim,
        cells,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
    )
    index.cp.niter = ROUNDS
    some = np.random.default_rng(0).choice(count, min(count, LEARN * cells), replace=False)
    index.train(np.ascontiguousarray(vectors[np.sort(some)]))
    return index


def _kept(vectors: Float32[ndarray, "row dim"], path: Path | None) -> Any:
    faiss = _faiss()

    try:
        note = parse_json(_note(path).read_text(encoding="utf-8")) if path else {"rows": 0}
        rows = int(note["rows"])
        if not 0 < rows <= len(vectors) or note["print"] != _print(vectors[:rows]):
            return None
        if path is not None and damaged_cells(path):
            return None
        cells = faiss.read_index(str(path))
    except (OSError, ValueError, KeyError, RuntimeError):
        return None
    return cells if cells.ntotal == rows else None


def _keep(cells: Any, vectors: Float32[ndarray, "row dim"], path: Path) -> None:
    """Write the cells, then a checksum file."""
    faiss = _faiss()

    with replacing(path) as temporary:
        faiss.write_index(cells, str(temporary))
    note = {"rows": len(vectors), "print": _print(vectors), "sum": file_hash(path)}
    write_json(_note(path), note)


def damaged_cells(path: Path) -> bool:
    """Whether kept cells differ from their checksum."""
    if not path.exists() or not _note(path).exists():
        return False  # the note is written last: without it the cells are made again
    try:
        note = parse_json(_note(path).read_text(encoding="utf-8"))
        return bool(note["sum"] != file_hash(path))
    except (OSError, ValueError, KeyError, TypeError):
        return True


def _note(path: Path) -> Path:
    return path.with_suffix(".json")


def _print(vectors: Float32[ndarray, "row dim"]) -> str:
    """A hash of rows spread over all of them: enough to recognise other vectors."""
    chosen = np.linspace(0, len(vectors) - 1, CHECKED).astype(np.int64)
    return sha256(np.ascontiguousarray(vectors[chosen]).tobytes()).hexdigest()
