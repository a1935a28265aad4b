"""What a push left behind that was killed while it wrote a batch: found by its mark, and removed before anything is written again."""

from __future__ import annotations

from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.schema import delete_target, now_us

STALE_US = 3_600_000_000
"""On a server an hour: until then somebody may still be writing. A folder has one writer, so what is unfinished there is dead."""
PORTION = 5_000


def remove_leftovers(connection: Connection, *, stale_us: int | None = None) -> int:
    """Remove half-written batches; the number of their documents. Raises `EngineError`."""
    database = connection.database
    limit = stale_us if stale_us is not None else 0 if is_alone(connection) else STALE_US
    found = rows(
        connection.batches(
            f"SELECT batch, is_done, documents FROM {database}.batches FINAL WHERE at <= {{before:UInt64}}",
            {"before": now_us() - limit},
            limits=WORK,
        )
    )
    documents = sorted({int(document) for _, is_done, some in found if not is_done for document in some})
    if documents:
        known = {
            document
            for (document,) in rows(
                connection.batches(
                    f"SELECT document FROM {database}.documents WHERE document IN {{numbers:Array(UInt64)}}",
                    {"numbers": documents},
                    limits=WORK,
                )
            )
        }
        # Documents are written as one part, last: when they are there, so is all the rest, but for the mark.
        remove_documents(connection, [document for document in documents if document not in known])
    if found:
        connection.run(
            f"DELETE FROM {delete_target('batches', connection)} WHERE batch IN {{batches:Array(UInt64)}}",
            {"batches": [int(batch) for batch, *_ in found]},
        )
    return len(documents)


def remove_documents(connection: Connection, documents: list[int]) -> None:
    """Remove all that belongs to these documents, their text excepted: it goes when no file has it any more."""
    names = [
        bytes(name).decode()
        for (name,) in rows(connection.batches(f"SELECT name FROM {connection.database}.models FINAL", limits=WORK))
    ]
    for start in range(0, len(documents), PORTION):
        numbers = documents[start : start + PORTION]
        for table in ("chunks", "symbols", "postings", *names):
            connection.run(
                f"DELETE FROM {delete_target(table, connection)}"
                " WHERE bitShiftRight(chunk, 15) IN {numbers:Array(UInt64)}",
                {"numbers": numbers},
            )
        connection.run(
            f"DELETE FROM {delete_target('documents', connection)} WHERE document IN {{numbers:Array(UInt64)}}",
            {"numbers": numbers},
        )


def is_alone(connection: Connection) -> bool:
    """Whether nobody else can be writing: the engine is in a folder that we have locked."""
    from mgrep_tui.clickhouse.embedded import EmbeddedConnection

    return isinstance(connection, EmbeddedConnection)
