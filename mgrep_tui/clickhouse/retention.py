"""What an engine may forget: commits beyond the newest few of each branch, and then what no commit refers to any more.

Nothing that a running push has written is touched: its documents are named in `batches` until its commit is announced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.heads import Published, published
from mgrep_tui.clickhouse.leftovers import remove_leftovers
from mgrep_tui.clickhouse.schema import delete_target
from mgrep_tui.errors import MgrepError


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed."""

    commits: int
    documents: int
    contents: int


def keep(connection: Connection, count: int) -> Forgotten:
    """Keep the newest `count` commits of each branch. Raises `EngineError`."""
    if count < 1:
        raise MgrepError("At least one commit of each branch is kept.", "mgrep-tui push --remove forgets a repository.")
    seen: dict[tuple[str, str], int] = {}

    def is_old(one: Published) -> bool:
        key = one.repository, one.branch
        seen[key] = seen.get(key, 0) + 1
        return seen[key] > count

    return _forget(connection, is_old)


def forget_repository(connection: Connection, repository: str) -> Forgotten:
    """Forget a repository whole. Raises `MgrepError` when there is none of that name."""
    every = published(connection)
    if all(one.repository != repository for one in every):
        raise MgrepError("The engine has no repository of that name.", "mgrep-tui status --engine ADDRESS lists them.")
    forgotten = _forget(connection, lambda one: one.repository == repository)
    connection.run(
        f"DELETE FROM {delete_target('repositories', connection)} WHERE repository = unhex({{name:String}})",
        {"name": repository.encode("utf-8", "surrogateescape").hex()},
    )
    return forgotten


def _forget(connection: Connection, is_old: Callable[[Published], bool]) -> Forgotten:
    remove_leftovers(connection)
    every = published(connection)
    old = [one for one in every if is_old(one)]
    kept = {one.state for one in every if one not in old}
    for one in old:
        connection.run(
            f"DELETE FROM {delete_target('commits', connection)} WHERE state = {{state:UInt64}} AND branch = unhex({{branch:String}})",
            {"state": one.state, "branch": one.branch.encode("utf-8", "surrogateescape").hex()},
        )
    states = sorted({one.state for one in old} - kept)
    if states:
        connection.run(
            f"DELETE FROM {delete_target('files', connection)} WHERE state IN {{states:Array(UInt64)}}",
            {"states": states},
        )
    documents, contents = sweep(connection)
    return Forgotten(len(old), documents, contents)


def sweep(connection: Connection) -> tuple[int, int]:
    """Remove documents and contents that nothing refers to; how many of each. Raises `EngineError`."""
    database = connection.database
    referred = (
        f"SELECT document FROM {database}.files UNION ALL SELECT arrayJoin(documents) FROM {database}.batches FINAL"
    )
    lost = f"document NOT IN ({referred})"
    documents = _count(connection, f"SELECT count() FROM {database}.documents FINAL WHERE {lost}")
    if documents:
        connection.run(f"DELETE FROM {delete_target('documents', connection)} WHERE {lost}")
    names = [
        bytes(name).decode()
        for (name,) in rows(connection.batches(f"SELECT name FROM {database}.models FINAL", limits=WORK))
    ]
    known = (
        f"SELECT document FROM {database}.documents UNION ALL SELECT arrayJoin(documents) FROM {database}.batches FINAL"
    )
    if documents:
        for table in ("chunks", "symbols", "postings", *names):
            connection.run(
                f"DELETE FROM {delete_target(table, connection)} WHERE bitShiftRight(chunk, 15) NOT IN ({known})"
            )
    if _count(connection, f"SELECT count() FROM {database}.batches FINAL WHERE is_done = 0"):
        return documents, 0  # somebody is writing texts whose documents are not there yet
    unread = f"content NOT IN (SELECT content FROM {database}.files UNION ALL SELECT content FROM {database}.documents)"
    contents = _count(connection, f"SELECT uniqExact(content) FROM {database}.blocks WHERE {unread}")
    if contents:
        connection.run(f"DELETE FROM {delete_target('blocks', connection)} WHERE {unread}")
    return documents, contents


def _count(connection: Connection, statement: str) -> int:
    found = rows(connection.batches(statement, limits=WORK))
    return int(found[0][0]) if found else 0
