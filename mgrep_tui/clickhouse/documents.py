"""What an engine knows of the files that candidates are in: which searched commits have them, and what each is as a whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.heads import Narrowed
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.retrieval import paths


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a document: how near it is as a whole, and how many chunks it has."""

    centre: float | None
    chunks: int


class Documents:
    """Any thread may ask. Every call raises `EngineError` and `Cancelled`."""

    def __init__(self, connection: Connection, limits: Limits) -> None:
        self._connection = connection
        self._limits = limits

    def states(self, contents: Collection[bytes], narrowed: Narrowed, cancel: CancelToken) -> Mapping[int, set[int]]:
        """By document: the searched commits that have it. `contents` are those of the documents."""
        if not contents:
            return {}
        bound = Bound()
        statement = (
            f"SELECT document, state FROM {self._connection.database}.files"
            f" WHERE content IN {bound.hashes(sorted(contents))} AND state IN {bound.numbers(narrowed.states)} ORDER BY document"
        )
        found: dict[int, set[int]] = {}
        for document, state in rows(
            self._connection.batches(statement, bound.values, limits=self._limits, cancel=cancel)
        ):
            found.setdefault(document, set()).add(state)
        return found

    def known(
        self, documents: Collection[int], vector: npt.NDArray[np.float32] | None, cancel: CancelToken
    ) -> dict[int, Known]:
        """What each is, measured against a question's vector."""
        if not documents:
            return {}
        bound = Bound()
        numbers = bound.numbers(sorted(documents))
        near = "0"
        if vector is not None:
            asked = bound.add(vector.tolist(), "Array(Float32)")
            near = f"dotProduct(arrayResize(centre, {len(vector):d}), {asked})"
        statement = (
            f"SELECT document, chunks, length(centre), {near} FROM {self._connection.database}.documents"
            f" WHERE document IN {numbers} ORDER BY document"
        )
        found = self._connection.batches(statement, bound.values, limits=self._limits, cancel=cancel)
        size = -1 if vector is None else len(vector)
        return {
            document: Known(float(centre) if length == size else None, chunks)
            for document, chunks, length, centre in rows(found)
        }

    def with_younger_twin(self, files: Iterable[tuple[int, int, bytes]], cancel: CancelToken) -> set[int]:
        """Of files (commit, document, path) those whose path without its version folder is a file of the same commit too: the documents."""
        twins: dict[tuple[int, bytes], list[int]] = {}
        for state, document, path in files:
            twin = paths.without_version(path.decode("utf-8", "surrogateescape"))
            if twin is not None:
                twins.setdefault((state, twin.encode("utf-8", "surrogateescape")), []).append(document)
        if not twins:
            return set()
        bound = Bound()
        statement = (
            f"SELECT DISTINCT state, path FROM {self._connection.database}.files"
            f" WHERE state IN {bound.numbers(sorted({state for state, _ in twins}))}"
            f" AND hex(path) IN {bound.texts([path.hex().upper() for _, path in twins])}"
        )
        there = rows(self._connection.batches(statement, bound.values, limits=self._limits, cancel=cancel))
        return {document for state, path in there for document in twins.get((state, path), ())}
