"""Which chunks are near a question: the engine's HNSW graphs find them, exact cosines of their vectors order them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from mgrep_tui.clickhouse.allowed import AllowedChunks
from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.values import Value
from mgrep_tui.jobs.cancel import CancelToken

SLACK = 1.5
"""Times the wanted number: the graph is of 8-bit numbers, and some chunks belong to no searched commit any more."""
OVERFETCH = 1_000
"""Neighbours that are asked for before a filter is applied to every vector that it lets through. For more than these the engine does not
ask its graph (`max_limit_for_vector_search_queries`)."""


class NearSearch:
    """Any thread may ask."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits
        self._near_limits = replace(limits, rescores=True)
        self._lock = threading.Lock()
        self._tables: dict[str, str] = {}

    def table_of(self, model: str, cancel: CancelToken) -> str:
        """The table of a model's vectors; empty when none were published."""
        with self._lock:
            known = self._tables.get(model)
        if known is None:
            found = rows(
                self._connection.batches(
                    f"SELECT name FROM {self._connection.database}.models FINAL WHERE model = {{model:String}}",
                    {"model": model},
                    limits=self._limits,
                    cancel=cancel,
                )
            )
            known = bytes(found[0][0]).decode() if found else ""
            with self._lock:
                if known:
                    self._tables[model] = known
        return known

    def search(
        self, table: str, vector: npt.NDArray[np.float32], arm: int, allowed: AllowedChunks, cancel: CancelToken
    ) -> dict[int, float]:
        """About `SLACK` times `arm` of the nearest chunks with their cosines, the nearest first. Raises `EngineError` and `Cancelled`."""
        most = int(SLACK * arm)
        if allowed.is_everything:
            return self._nearest(table, vector, min(most, max(OVERFETCH, arm)), cancel)
        near = self._nearest(table, vector, max(OVERFETCH, arm), cancel)
        bound = Bound()
        statement = (
            f"SELECT chunk FROM {self._connection.database}.chunks"
            f" WHERE chunk IN {bound.numbers(list(near))} AND {allowed.sql(bound)}"
        )
        kept = {
            chunk
            for (chunk,) in rows(self._connection.batches(statement, bound.values, limits=self._limits, cancel=cancel))
        }
        if len(kept) >= arm or len(near) < OVERFETCH:
            return dict([(chunk, cosine) for chunk, cosine in near.items() if chunk in kept][:most])
        return self._exactly(table, vector, most, allowed, cancel)

    def _nearest(
        self, table: str, vector: npt.NDArray[np.float32], count: int, cancel: CancelToken
    ) -> dict[int, float]:
        statement = (
            f"SELECT chunk, cosineDistance(vector, {{asked:Array(Float32)}}) AS distance"
            f" FROM {self._connection.database}.{table} ORDER BY distance LIMIT {{count:UInt32}}"
        )
        values: dict[str, Value] = {"asked": vector.tolist(), "count": count}
        found = self._connection.batches(statement, values, limits=self._near_limits, cancel=cancel)
        return {chunk: 1.0 - distance for chunk, distance in rows(found)}

    def _exactly(
        self, table: str, vector: npt.NDArray[np.float32], count: int, allowed: AllowedChunks, cancel: CancelToken
    ) -> dict[int, float]:
        """The nearest among what the filters let through, by looking at all of it."""
        bound = Bound()
        asked = bound.add(vector.tolist(), "Array(Float32)")
        # An order by more than the distance is none that the graph could give.
        statement = (
            f"SELECT chunk, cosineDistance(vector, {asked}) + 0 AS distance FROM {self._connection.database}.{table}"
            f" WHERE {allowed.sql(bound)} ORDER BY distance LIMIT {count:d}"
        )
        found = self._connection.batches(statement, bound.values, limits=self._limits, cancel=cancel)
        return {chunk: 1.0 - distance for chunk, distance in rows(found)}

    def cosines(
        self, table: str, vector: npt.NDArray[np.float32], chunks: Sequence[int], cancel: CancelToken
    ) -> dict[int, float]:
        """How near these chunks are exactly; those without a vector are missing."""
        if not chunks:
            return {}
        bound = Bound()
        asked = bound.add(vector.tolist(), "Array(Float32)")
        statement = (
            f"SELECT chunk, cosineDistance(vector, {asked}) FROM {self._connection.database}.{table}"
            f" WHERE chunk IN {bound.numbers(sorted(chunks))} ORDER BY chunk"
        )
        found = self._connection.batches(
            statement, bound.values, limits=replace(self._limits, threads=1), cancel=cancel
        )
        return {chunk: 1.0 - distance for chunk, distance in rows(found)}

    def vectors(
        self, table: str, chunks: Sequence[int], cancel: CancelToken
    ) -> tuple[list[int], npt.NDArray[np.float32]]:
        """The vectors of these chunks, normalised, with their ids."""
        bound = Bound()
        statement = (
            "SELECT chunk, CAST(vector AS Array(Float32)) AS vector"
            f" FROM {self._connection.database}.{table} WHERE chunk IN {bound.numbers(sorted(chunks))} LIMIT 1 BY chunk"
        )
        ids: list[int] = []
        found: list[npt.NDArray[np.float32]] = []
        for batch in self._connection.batches(statement, bound.values, limits=self._limits, cancel=cancel):
            ids += batch.column(0).to_pylist()
            found.append(matrix_of(batch.column(1)))
        if not found:
            return [], np.empty((0, 0), np.float32)
        vectors = np.concatenate(found)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return ids, vectors


def matrix_of(column: pa.Array) -> npt.NDArray[np.float32]:
    """A column of arrays of one length as a matrix."""
    flat = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32)
    result: npt.NDArray[np.float32] = flat.reshape(len(column), -1)
    return result
