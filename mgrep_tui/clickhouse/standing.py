"""How an engine stands: what is published, how large it is, how far it lags behind. For `mgrep-tui status --engine`."""

from __future__ import annotations

from dataclasses import dataclass

from mgrep_tui.clickhouse import schema
from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.heads import Published, published
from mgrep_tui.clickhouse.schema import now_us


@dataclass(frozen=True, slots=True)
class TableSize:
    """One table on disk: rows, bytes with its indexes, those of the indexes, and in how many parts it lies."""

    name: str
    rows: int
    size_bytes: int
    index_bytes: int
    parts: int


@dataclass(frozen=True, slots=True)
class Standing:
    """The whole engine. `unfinished` are batches that a push has begun and not ended."""

    version: int
    commits: tuple[Published, ...]
    tables: tuple[TableSize, ...]
    models: tuple[str, ...]
    merges: int
    unfinished: int
    now_us: int

    @property
    def size_bytes(self) -> int:
        return sum(table.size_bytes for table in self.tables)


def standing(connection: Connection) -> Standing:
    """Look. Raises `EngineError`."""
    schema.check(connection)
    database = connection.database
    name = {"database": database}
    tables = rows(
        connection.batches(
            "SELECT table, sum(rows), sum(bytes_on_disk), sum(secondary_indices_compressed_bytes), count() FROM system.parts"
            " WHERE active AND database = {database:String} GROUP BY table ORDER BY 3 DESC",
            name,
            limits=WORK,
        )
    )
    merges = rows(
        connection.batches("SELECT count() FROM system.merges WHERE database = {database:String}", name, limits=WORK)
    )
    unfinished = rows(connection.batches(f"SELECT count() FROM {database}.batches FINAL WHERE is_done = 0"))
    models = rows(connection.batches(f"SELECT model FROM {database}.models FINAL ORDER BY model"))
    return Standing(
        schema.version_of(connection),
        tuple(published(connection)),
        tuple(TableSize(bytes(table).decode(), *numbers) for table, *numbers in tables),
        tuple(bytes(model).decode() for (model,) in models),
        int(merges[0][0]),
        int(unfinished[0][0]),
        now_us(),
    )
