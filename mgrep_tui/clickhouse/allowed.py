"""Which chunks a query lets through, as a condition of a statement: those of the searched commits, narrowed by the filters."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.conditions import FileColumns, of_files, of_names
from mgrep_tui.clickhouse.heads import Narrowed
from mgrep_tui.clickhouse.keys import CHUNK_BITS


class AllowedChunks:
    """The condition of one query. `is_everything` says that it only keeps out what no searched commit holds."""

    def __init__(self, database: str, narrowed: Narrowed, hidden: Sequence[int] = ()) -> None:
        """`hidden` are documents that the disk speaks for."""
        self._database = database
        self._narrowed = narrowed
        self._hidden = list(hidden)
        filters = narrowed.filters
        self.is_everything = (
            narrowed.is_everything
            and not hidden
            and not (filters and (self._files(Bound()) or self._names("symbol", Bound())))
        )

    def _files(self, bound: Bound) -> str:
        columns = FileColumns("path", "language", "flags", label_of(self._narrowed, bound))
        return of_files(self._narrowed.filters.condition, columns, bound)

    def _names(self, column: str, bound: Bound) -> str:
        return of_names(self._narrowed.filters.condition, column, bound)

    def sql(self, bound: Bound) -> str:
        """What holds for `chunk`, a column of the statement."""
        database = self._database
        files, names = self._files(bound), self._names("symbol", bound)
        states = f"state IN {bound.numbers(self._narrowed.states)}"
        inner = f"SELECT document FROM {database}.files WHERE {states}{' AND ' + files if files else ''}"
        found = f"bitShiftRight(chunk, {CHUNK_BITS:d}) IN ({inner})"
        if self._hidden:
            found += f" AND bitShiftRight(chunk, {CHUNK_BITS:d}) NOT IN {bound.numbers(self._hidden)}"
        if names:
            own = f"chunk IN (SELECT chunk FROM {database}.chunks WHERE {names})"
            # A chunk is also meant by the name of what is defined in it, unless names are denied: then its own name decides.
            if not self._narrowed.filters.denies_names:
                own = f"({own} OR chunk IN (SELECT chunk FROM {database}.symbols WHERE {self._names('name', bound)}))"
            found += f" AND {own}"
        return found


def label_of(narrowed: Narrowed, bound: Bound) -> str:
    """The name of a row's repository, where paths may be asked for with it; empty where they may not."""
    heads = narrowed.heads
    if heads.is_single or not narrowed.filters:
        return ""
    states = bound.numbers(list(heads.by_state))
    names = bound.texts([heads.label_of(state) for state in heads.by_state])
    return f"transform(state, {states}, {names}, '')"
