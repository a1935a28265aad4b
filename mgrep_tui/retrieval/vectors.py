"""Where the vectors live: a usearch file under guard.

usearch reads what it is given without doubt: a damaged file can hang or kill the process, a short write reports nothing, NaN poisons
the ranking. So a file is read once, checked against its manifest (size, checksum, count, dimension, number type, model), and only then
handed to the library, from memory; it is written beside its place, flushed, checked and renamed. Vectors of different models never mix.

Small stores are searched exactly, which is as fast as the graph up to `EXACT_LIMIT` and never misses; larger ones through the graph.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mgrep_tui.errors import IndexDamagedError

FORMAT = 1
DTYPE = "i8"  # 256 dimensions: recall@50 .956 of float32, and the fused ranking does not move; a quarter of the memory of f16 + graph
CONNECTIVITY = 16
EXPANSION_ADD = 32  # 25,000 vectors/s a core against 5,700 at 128, for .01 of recall
EXPANSION_SEARCH = 128
EXACT_LIMIT = 200_000  # 3.3 ms per 100,000 vectors of 256 dimensions
ADD_SLICE = 256  # vectors added at a time: the lock is held for 10 ms at most, so a search never waits longer
OVERFETCH = 2_000  # results fetched before a filter is applied by looking every allowed vector up

Ids = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorManifest:
    """What a vector file must hold before it is opened. `checksum` is blake2b-128 of the file in hex; sizes are in bytes."""

    size_bytes: int
    checksum: str
    count: int
    dimension: int
    dtype: str
    model_id: str
    format: int = FORMAT

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Raise `IndexDamagedError` when a value is missing or of the wrong type."""
        wanted = {field.name: {"int": int, "str": str}[str(field.type)] for field in fields(cls)}
        if set(values) != set(wanted) or any(type(values[name]) is not kind for name, kind in wanted.items()):
            raise IndexDamagedError("The manifest of the vector file is damaged.")
        return cls(**values)


class VectorStore:
    """Chunk id → vector, searched by cosine. Any thread may call anything; one call runs at a time.

    Ids are unsigned and below 2^63. Vectors are float32 of shape (n, dimension); they need not be normalised.
    """

    def __init__(self, dimension: int, model_id: str, *, index: Any = None) -> None:
        self.dimension = dimension
        self.model_id = model_id
        self._lock = threading.Lock()
        self._index: Any = _empty(dimension) if index is None else index

    @classmethod
    def open(cls, path: Path, manifest: VectorManifest, *, model_id: str) -> Self:
        """Read and check the file, then load it. Raise `IndexDamagedError` when anything is not as promised."""
        if manifest.format != FORMAT or manifest.dtype != DTYPE or manifest.model_id != model_id:
            raise IndexDamagedError("The vector file was made by another version or another model.")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise IndexDamagedError(f"The vector file cannot be read: {error.strerror}.") from error
        if len(content) != manifest.size_bytes or _checksum(content) != manifest.checksum:
            raise IndexDamagedError("The vector file does not match its checksum.")
        index = _empty(manifest.dimension)
        index.load(content)
        if index.ndim != manifest.dimension or len(index) != manifest.count or str(index.dtype) != str(_empty(1).dtype):
            raise IndexDamagedError("The vector file does not hold what its manifest says.")
        return cls(manifest.dimension, model_id, index=index)

    def save(self, path: Path) -> VectorManifest:
        """Write beside `path`, flush, check and rename. Raise `OSError` when the disk does not take it; the old file then stays."""
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            with self._lock:
                content = bytes(self._index.save())
                count = len(self._index)
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if temporary.stat().st_size != len(content):
                raise OSError(f"{path.name} was cut short while it was written")
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
        return VectorManifest(len(content), _checksum(content), count, self.dimension, DTYPE, self.model_id)

    def __len__(self) -> int:
        with self._lock:
            return len(self._index)

    def ids(self) -> Ids:
        """All ids, ascending."""
        with self._lock:
            keys = self._index.keys.__array__().astype(np.int64) if len(self._index) else np.empty(0, np.int64)
        keys.sort()
        return keys

    def add(self, ids: Ids, vectors: Vectors) -> None:
        """Add, or replace what is there. Raise `ValueError` for NaN, infinity, a zero vector or a wrong shape: the caller has a fault."""
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if vectors.shape != (len(ids), self.dimension):
            raise ValueError(f"expected {len(ids)} vectors of {self.dimension} dimensions, got {vectors.shape}")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise ValueError("a vector is zero or not finite")
        keys = np.asarray(ids, dtype=np.uint64)
        vectors = vectors / lengths
        for start in range(0, len(keys), ADD_SLICE):
            some = keys[start : start + ADD_SLICE]
            with self._lock:
                present = some[np.atleast_1d(self._index.contains(some))]
                if len(present):
                    self._index.remove(present)
                self._index.add(some, vectors[start : start + ADD_SLICE], threads=1)

    def remove(self, ids: Ids) -> None:
        """Forget these; unknown ids are fine."""
        keys = np.asarray(ids, dtype=np.uint64)
        if not len(keys):
            return
        with self._lock:
            present = keys[np.atleast_1d(self._index.contains(keys))]
            if len(present):
                self._index.remove(present)

    def get(self, ids: Ids) -> tuple[Ids, Vectors]:
        """The vectors that are there, L2-normalised, with their ids."""
        keys = np.unique(np.asarray(ids, dtype=np.uint64))
        if not len(keys):
            return np.empty(0, np.int64), np.empty((0, self.dimension), np.float32)
        with self._lock:
            keys = keys[np.atleast_1d(self._index.contains(keys))]
            if not len(keys):
                return np.empty(0, np.int64), np.empty((0, self.dimension), np.float32)
            vectors = np.vstack(self._index.get(keys)).astype(np.float32)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return keys.astype(np.int64), vectors

    def search(
        self, vector: npt.NDArray[np.float32], k: int, allowed: Ids | None = None
    ) -> tuple[Ids, npt.NDArray[np.float32]]:
        """The `k` nearest, best first, as ids and cosines; with `allowed` (sorted ids) exactly the nearest among those.

        Raise `ValueError` for a query vector that is not finite; a zero vector finds nothing.
        """
        vector = np.asarray(vector, dtype=np.float32).reshape(-1)
        if vector.shape != (self.dimension,) or not np.isfinite(vector).all():
            raise ValueError("the query vector has the wrong shape or is not finite")
        length = float(np.linalg.norm(vector))
        if length == 0.0 or k <= 0 or len(self) == 0:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        vector = vector / length
        if allowed is None:
            return self._nearest(vector, k)
        if len(allowed) > OVERFETCH:
            ids, scores = self._nearest(vector, max(k, OVERFETCH))
            keep = _is_member(ids, allowed)
            if int(keep.sum()) >= k:
                return ids[keep][:k], scores[keep][:k]
        ids, vectors = self.get(allowed)
        scores = vectors @ vector
        best = np.argsort(-scores, kind="stable")[:k]
        return ids[best], scores[best]

    def _nearest(self, vector: npt.NDArray[np.float32], k: int) -> tuple[Ids, npt.NDArray[np.float32]]:
        with self._lock:
            count = len(self._index)
            found = self._index.search(vector, min(k, count), exact=count <= EXACT_LIMIT, threads=1)
        return np.asarray(found.keys).astype(np.int64), (1.0 - np.asarray(found.distances)).astype(np.float32)


def _empty(dimension: int) -> Any:
    from usearch.index import Index  # late: regex mode does without

    return Index(
        ndim=dimension,
        metric="cos",
        dtype=DTYPE,
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _is_member(ids: Ids, allowed: Ids) -> npt.NDArray[np.bool_]:
    places = np.searchsorted(allowed, ids)
    places[places == len(allowed)] = 0
    result: npt.NDArray[np.bool_] = allowed[places] == ids
    return result
