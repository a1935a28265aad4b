"""The lines of chunks from the engine: the blocks that hold them, fetched for some chunks at once, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.corpus.decode import split_lines
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.semantic_text import LINE_CHARS, ChunkText

FIRST = 24
AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Where:
    """Where the text of a chunk is: its content, and the blocks of it that hold the chunk's lines."""

    content: bytes
    first_block: int
    last_block: int


class ChunkTexts:
    """The texts of one search's chunks. `order` is that in which they will be asked for. Not for two threads at once."""

    def __init__(
        self,
        connection: Connection,
        limits: Limits,
        order: Sequence[ChunkRow],
        places: Mapping[int, Where],
        cancel: CancelToken,
        known: Mapping[int, ChunkText] | None = None,
    ) -> None:
        """`places` has every chunk by its id, but for those whose text is `known`."""
        self._connection = connection
        self._limits = limits
        self._order = list(order)
        self._places = places
        self._cancel = cancel
        self._next = 0
        self._found: dict[int, ChunkText | None] = dict(known or {})

    def read(self, row: ChunkRow) -> ChunkText | None:
        """The chunk's lines; None when the engine has not all of them."""
        if row.chunk_id not in self._found:
            size = AT_ONCE if self._next else FIRST
            some = self._order[self._next : self._next + size]
            self._next += len(some)
            if all(other.chunk_id != row.chunk_id for other in some):
                some.append(row)
            self._fetch([other for other in some if other.chunk_id not in self._found])
        return self._found.get(row.chunk_id)

    def _fetch(self, some: Sequence[ChunkRow]) -> None:
        places = [self._places[row.chunk_id] for row in some]
        blocks = fetch_blocks(
            self._connection,
            {(place.content, number) for place in places for number in range(place.first_block, place.last_block + 1)},
            self._limits,
            self._cancel,
        )
        for row, place in zip(some, places, strict=True):
            own = [
                block
                for number in range(place.first_block, place.last_block + 1)
                if (block := blocks.get((place.content, number))) is not None
            ]
            first, lines = lines_of(own)
            part = lines[row.first_line - first : row.last_line - first + 1] if row.first_line >= first else []
            is_whole = len(part) == row.last_line - row.first_line + 1
            self._found[row.chunk_id] = (
                ChunkText(tuple(line.decode("utf-8", "replace")[:LINE_CHARS] for line in part)) if is_whole else None
            )


def fetch_blocks(
    connection: Connection, wanted: Collection[tuple[bytes, int]], limits: Limits, cancel: CancelToken | None
) -> dict[tuple[bytes, int], tuple[int, bytes]]:
    """First line and text of blocks, by content and number. Raises `EngineError`."""
    if not wanted:
        return {}
    bound = Bound()
    contents = bound.texts([content.hex() for content, _ in wanted])
    numbers = bound.add([number for _, number in wanted], "Array(UInt32)")
    pairs = f"(SELECT toFixedString(unhex(pair.1), 16), pair.2 FROM (SELECT arrayJoin(arrayZip({contents}, {numbers})) AS pair))"
    statement = (
        f"SELECT content, number, first_line, text FROM {connection.database}.blocks WHERE (content, number) IN {pairs}"
    )
    found: dict[tuple[bytes, int], tuple[int, bytes]] = {}
    for batch in connection.batches(statement, bound.values, limits=limits, cancel=cancel):
        columns = [column.to_pylist() for column in batch.columns]
        for content, number, first_line, text in zip(*columns, strict=True):
            found[content, number] = first_line, text
    return found


def blocks_of_lines(
    connection: Connection, content: bytes, first: int, last: int, limits: Limits
) -> list[tuple[int, bytes]]:
    """The blocks of a content that hold these lines (0-based, inclusive), as (first line, text), in order. Raises `EngineError`."""
    bound = Bound()
    hashed = bound.hashes([content])
    statement = (
        f"SELECT number, first_line FROM {connection.database}.blocks WHERE content IN {hashed}"
        f" AND first_line <= {last:d} ORDER BY number DESC LIMIT 1 BY number"
    )
    numbers = []
    for number, first_line in rows(connection.batches(statement, bound.values, limits=limits)):
        numbers.append(number)
        if first_line <= first:
            break
    blocks = fetch_blocks(connection, {(content, number) for number in numbers}, limits, None)
    return [blocks[content, number] for number in sorted(numbers) if (content, number) in blocks]


def lines_of(blocks: Sequence[tuple[int, bytes]]) -> tuple[int, list[bytes]]:
    """The number of the first line, and the lines of blocks that follow each other, without their ends."""
    if not blocks:
        return 0, []
    return blocks[0][0], split_lines(b"".join(text for _, text in blocks))
