"""The lines of chunks from the engine: the blocks that hold them, fetched for some chunks at once, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.corpus.decode import split_lines
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.semantic_text import LINE_CHARS, ChunkText

FIRST = 24
AT_ONCE = 100
Blocks = dict[tuple[bytes, int], tuple[int, bytes]]
"""First line and text of blocks, by content and number."""
Submit = Callable[[Callable[[], Blocks]], "Future[Blocks]"]


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
        ahead: Submit | None = None,
    ) -> None:
        """`places` has every chunk by its id, but for those whose text is `known`. With `ahead` more than the first few will be asked for:
        the next are fetched by it while the first are looked at."""
        self._connection = connection
        self._limits = limits
        self._found: dict[int, ChunkText | None] = dict(known or {})
        self._order = [row for row in order if row.chunk_id not in self._found]
        self._places = places
        self._cancel = cancel
        self._ahead = ahead
        self._coming: tuple[list[ChunkRow], Future[Blocks]] | None = None
        self._next = 0

    def read(self, row: ChunkRow) -> ChunkText | None:
        """The chunk's lines; None when the engine has not all of them."""
        while row.chunk_id not in self._found and self._next < len(self._order):
            self._take_more()
        if row.chunk_id not in self._found:
            self._cut([row], self._blocks([row]))
        return self._found[row.chunk_id]

    def _take_more(self) -> None:
        if self._coming is not None:
            (some, coming), self._coming = self._coming, None
            self._next += len(some)
            self._cut(some, coming.result())
            return
        some = self._order[self._next : self._next + (AT_ONCE if self._next else FIRST)]
        self._next += len(some)
        if self._ahead is not None and (others := self._order[self._next : self._next + AT_ONCE]):
            self._coming = others, self._ahead(lambda: self._blocks(others))
            self._ahead = None
        self._cut(some, self._blocks(some))

    def _blocks(self, some: Sequence[ChunkRow]) -> Blocks:
        places = [self._places[row.chunk_id] for row in some]
        wanted = {
            (place.content, number) for place in places for number in range(place.first_block, place.last_block + 1)
        }
        return fetch_blocks(self._connection, wanted, self._limits, self._cancel)

    def _cut(self, some: Sequence[ChunkRow], blocks: Blocks) -> None:
        for row in some:
            place = self._places[row.chunk_id]
            own = [
                block
                for number in range(place.first_block, place.last_block + 1)
                if (block := blocks.get((place.content, number))) is not None
            ]
            lines = lines_between(own, row.first_line, row.last_line)
            is_whole = len(lines) == row.last_line - row.first_line + 1
            self._found[row.chunk_id] = (
                ChunkText(tuple(line.decode("utf-8", "replace")[:LINE_CHARS] for line in lines)) if is_whole else None
            )


def lines_between(blocks: Sequence[tuple[int, bytes]], first: int, last: int) -> list[bytes]:
    """These lines, 0-based and inclusive, as far as the blocks have them."""
    if not blocks or first < blocks[0][0]:
        return []
    text = b"".join(text for _, text in blocks)
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 10) + 1
    before, after = first - blocks[0][0], last - blocks[0][0]
    if before > len(ends):
        return []
    start = int(ends[before - 1]) if before else 0
    end = int(ends[after]) if after < len(ends) else len(text)
    return split_lines(text[start:end]) if start < end else []


def fetch_blocks(
    connection: Connection, wanted: Collection[tuple[bytes, int]], limits: Limits, cancel: CancelToken | None
) -> Blocks:
    """The texts of these blocks. Raises `EngineError`."""
    if not wanted:
        return {}
    bound = Bound()
    contents = bound.texts([content.hex() for content, _ in wanted])
    numbers = bound.add([number for _, number in wanted], "Array(UInt32)")
    pairs = f"(SELECT toFixedString(unhex(pair.1), 16), pair.2 FROM (SELECT arrayJoin(arrayZip({contents}, {numbers})) AS pair))"
    statement = (
        f"SELECT content, number, first_line, text FROM {connection.database}.blocks WHERE (content, number) IN {pairs}"
    )
    found: Blocks = {}
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
