"""When the parts of an embedded engine are merged: once, at the end of a push.

A question pays for every part of a table, and a push pays for every merge. A server merges on its own, all day long. An embedded engine
merges only while somebody has it open, which is mostly while a push writes; what is merged then is soon merged again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.leftovers import is_alone
from mgrep_tui.clickhouse.schema import SMALL, TABLES
from mgrep_tui.jobs.cancel import CancelToken

LARGE = tuple(table.name for table in TABLES if table.name not in SMALL)
SHARE = 0.5
"""Of the largest part. With so much beside it all become one: a row is written again each time that its table grows by half."""
MOST_PARTS = 6
"""Of a table. With more, of which all but one are small, the engine joins those of like size."""


@contextmanager
def merged_once(connection: Connection, cancel: CancelToken) -> Iterator[None]:
    """What is written inside is merged at the end, where that is ours to decide. Raises `EngineError` and `Cancelled`."""
    if not is_alone(connection):
        yield
        return
    hold_merges(connection)
    try:
        yield
        join_parts(connection, cancel)
    finally:
        for table in LARGE:
            _allow(connection, table)


def hold_merges(connection: Connection) -> None:
    """Nothing is merged from now on. Nor can anything be deleted from the tables that are held: the small ones are not."""
    for table in LARGE:
        connection.run(f"SYSTEM STOP MERGES {connection.database}.{table}")


def _allow(connection: Connection, table: str) -> None:
    connection.run(f"SYSTEM START MERGES {connection.database}.{table}")


def join_parts(connection: Connection, cancel: CancelToken) -> None:
    """Leave few parts of every table, and let it be merged again. Graphs of vectors stay as they were made (see `rows`)."""
    for table in LARGE:
        cancel.check()
        found = rows(
            connection.batches(
                "SELECT rows FROM system.parts WHERE active AND database = {database:String} AND table = {table:String}"
                " ORDER BY rows DESC",
                {"database": connection.database, "table": table},
                limits=WORK,
            )
        )
        sizes = [size for (size,) in found]
        # Allowed one by one: what begins by itself would be done again.
        _allow(connection, table)
        if len(sizes) > 1 and sum(sizes[1:]) >= SHARE * sizes[0]:
            connection.run(f"OPTIMIZE TABLE {connection.database}.{table} FINAL")
        elif len(sizes) > MOST_PARTS:
            connection.run(f"OPTIMIZE TABLE {connection.database}.{table}")
