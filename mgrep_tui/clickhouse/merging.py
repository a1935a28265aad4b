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
POLL_S = 0.05
MOST_PARTS = 6
"""Of a table. When there are more, the engine joins those of like size: a row is written again as often as the table has grown fivefold."""


@contextmanager
def merged_once(connection: Connection, cancel: CancelToken) -> Iterator[None]:
    """What is written inside is merged at the end, where that is ours to decide. Raises `EngineError` and `Cancelled`."""
    if not is_alone(connection):
        yield
        return
    hold_merges(connection)
    try:
        yield
    finally:
        allow_merges(connection)
    merge(connection, cancel)


def hold_merges(connection: Connection) -> None:
    """Nothing is merged from now on. Nor can anything be deleted from the tables that are held: the small ones are not."""
    for table in LARGE:
        connection.run(f"SYSTEM STOP MERGES {connection.database}.{table}")


def allow_merges(connection: Connection) -> None:
    for table in LARGE:
        connection.run(f"SYSTEM START MERGES {connection.database}.{table}")


def merge(connection: Connection, cancel: CancelToken) -> None:
    """Leave few parts of every table, and wait for it. Graphs of vectors stay as they were made (see `rows`)."""
    before: dict[str, int] = {}
    while True:
        while _count(connection, "merges"):
            cancel.wait(POLL_S)
            cancel.check()
        counts = _count(connection, "parts")
        many = [table for table, count in counts.items() if count > MOST_PARTS and count != before.get(table)]
        if not many:
            return
        for table in many:
            cancel.check()
            connection.run(f"OPTIMIZE TABLE {connection.database}.{table}")
        before = counts


def _count(connection: Connection, what: str) -> dict[str, int]:
    """How many parts, or merges, each of our large tables has; without those that have none."""
    active = " AND active" if what == "parts" else ""
    found = connection.batches(
        f"SELECT table, count() FROM system.{what} WHERE database = {{database:String}} AND table IN {{tables:Array(String)}}{active}"
        " GROUP BY table",
        {"database": connection.database, "tables": list(LARGE)},
        limits=WORK,
    )
    return {bytes(table).decode(): count for table, count in rows(found)}
