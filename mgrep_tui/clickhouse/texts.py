"""The lines of chunks from the engine: the blocks that hold them, fetched for some chunks at once, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits
from mgrep_tui.corpus.decode import split_lines
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.semantic_text import LINE_CHARS, ChunkText

FIRST = 24
AT_ONCE = 64


class ChunkTexts:
    """The texts of one search's chunks. `order` is that in which they will be asked for. Not for two threads at once."""

    def __init__(
        self,
        connection: Connection,
        limits: Limits,
        order: Sequence[ChunkRow],
        contents: Mapping[int, bytes],
        cancel: CancelToken,
    ) -> None:
        """`contents` names the content of each chunk by its id."""
        self._connection = connection
        self._limits = limits
        self._order = list(order)
        self._contents = contents
        self._cancel = cancel
        self._place = 0
        self._found: dict[int, ChunkText | None] = {}

    def read(self, row: ChunkRow) -> ChunkText | None:
        """The chunk's lines; None when the engine has not all of them."""
        if row.chunk_id not in self._found:
            size = AT_ONCE if self._place else FIRST
            some = self._order[self._place : self._place + size]
            self._place += len(some)
            if all(other.chunk_id != row.chunk_id for other in some):
                some.append(row)
            self._fetch([other for other in some if other.chunk_id not in self._found])
        return self._found.get(row.chunk_id)

    def _fetch(self, some: Sequence[ChunkRow]) -> None:
        wanted: dict[bytes, list[ChunkRow]] = {}
        for row in some:
            wanted.setdefault(self._contents[row.chunk_id], []).append(row)
        blocks = blocks_of_lines(
            self._connection,
            {
                content: (min(row.first_line for row in own), max(row.last_line for row in own))
                for content, own in wanted.items()
            },
            self._limits,
            self._cancel,
        )
        for content, own in wanted.items():
            first, lines = lines_of(blocks.get(content, ()))
            for row in own:
                part = lines[row.first_line - first : row.last_line - first + 1] if row.first_line >= first else []
                is_whole = len(part) == row.last_line - row.first_line + 1
                self._found[row.chunk_id] = (
                    ChunkText(tuple(line.decode("utf-8", "replace")[:LINE_CHARS] for line in part))
                    if is_whole
                    else None
                )


def blocks_of_lines(
    connection: Connection, wanted: Mapping[bytes, tuple[int, int]], limits: Limits, cancel: CancelToken | None
) -> dict[bytes, list[tuple[int, bytes]]]:
    """The blocks of contents that hold these lines (0-based, inclusive), as (first line, text), in order. Raises `EngineError`."""
    if not wanted:
        return {}
    bound = Bound()
    contents = list(wanted)
    hexed = bound.texts([content.hex() for content in contents])
    firsts = bound.add([wanted[content][0] for content in contents], "Array(UInt32)")
    lasts = bound.add([wanted[content][1] for content in contents], "Array(UInt32)")
    place = f"indexOf({hexed}, lower(hex(content)))"
    statement = (
        f"SELECT content, number, first_line, text FROM {connection.database}.blocks"
        f" WHERE content IN {bound.hashes(contents)} AND first_line <= arrayElement({lasts}, {place})"
        f" AND first_line + countSubstrings(text, '\\n') >= arrayElement({firsts}, {place})"
        " ORDER BY content, number LIMIT 1 BY content, number"
    )
    found: dict[bytes, list[tuple[int, bytes]]] = {}
    for batch in connection.batches(statement, bound.values, limits=limits, cancel=cancel):
        columns = [column.to_pylist() for column in batch.columns]
        for content, _, first_line, text in zip(*columns, strict=True):
            found.setdefault(content, []).append((first_line, text))
    return found


def lines_of(blocks: Sequence[tuple[int, bytes]]) -> tuple[int, list[bytes]]:
    """The number of the first line, and the lines of blocks that follow each other, without their ends."""
    if not blocks:
        return 0, []
    return blocks[0][0], split_lines(b"".join(text for _, text in blocks))
