"""A line that matches becomes a row, a row that somebody looks at becomes a hit.

A search finds more lines than anybody looks at. So it keeps a line as a `Row`, a plain tuple that costs a tenth of a `Hit` and can go from
one process to another, and whoever asks for a hit has it made then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mgrep_tui.model import Hit, Signal, Span, Symbol
from mgrep_tui.search.buffers import Buffer, LineMatch
from mgrep_tui.search.rank import RANKS, FileRank, rank_line
from mgrep_tui.text.languages import language_of

Row = tuple[Any, ...]
"""A line: its number, its text, its spans as pairs of characters, the number of its rank (-1 for none); and for a long one, or a match over
several lines, also the last line, the column and the offset of the text in the line."""

WINDOW_CHARS = 1000
"""What a hit shows of a line that is longer than `LONG_BYTES`: enough for the widest screen and for `--json`."""
LEAD_CHARS = 200
LONG_BYTES = 4 * WINDOW_CHARS
UNRANKED = -1


def row_of(buffer: Buffer, match: LineMatch, is_ranked: bool) -> Row:
    """The row of a line of a buffer. Bytes that are not UTF-8 show as U+FFFD."""
    line, begin, end, spans = match
    last_line = line
    if spans[-1][1] > end:
        last_line = line + buffer.count(b"\n", end, spans[-1][1] - 1)
    if end > begin and buffer[end - 1] == 13:
        end -= 1
    if end - begin > LONG_BYTES:
        text, offset, column, places = _window(buffer, begin, end, spans)
        number = rank_line(text, places, is_squeezed=True).number if is_ranked else UNRANKED
        return line, text, places, number, last_line, column, offset
    raw = buffer[begin:end]
    text = _decoded(raw)
    length = len(text)
    if length == end - begin:
        places = [(start - begin, min(finish, end) - begin) for start, finish in spans]
    else:
        places = _places(raw, length, begin, spans)
    number = rank_line(text, places).number if is_ranked else UNRANKED
    if last_line == line:
        return line, text, places, number
    return line, text, places, number, last_line, places[0][0], 0


Enclosing = tuple[str, str, str]
"""The symbol around a line: its name, its container and its kind."""


class FileGroup(NamedTuple):
    """A file's rows in the order in which they are shown, and its score. Without `rank` nothing is ranked."""

    path: bytes
    score: float
    rows: Sequence[Row]
    rank: FileRank | None = None
    symbols: Sequence[Enclosing | None] = ()  # by row, or nothing at all

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def part(self, start: int, stop: int) -> FileGroup:
        """Some of the rows."""
        return self._replace(rows=self.rows[start:stop], symbols=self.symbols[start:stop])

    def hit(self, number: int) -> Hit:
        """The hit of a row."""
        line, text, places, rank_number, *rest = self.rows[number]
        last_line, column, offset = rest or (line, places[0][0], 0)
        score = 0.0
        signals: tuple[Signal, ...] = ()
        if self.rank is not None:
            rank = RANKS[rank_number]
            score, signals = rank.score + self.rank.score, rank.signals + self.rank.signals
        name, container, kind = (self.symbols[number] if self.symbols else None) or ("", "", "")
        return Hit(
            self.path,
            line,
            column,
            text,
            tuple([Span(start, finish) for start, finish in places if start < finish]),
            line,
            last_line,
            score,
            name,
            container,
            kind,
            language=language_of(self.path[self.path.rfind(b"/") + 1 :]),
            signals=signals,
            text_offset=offset,
        )


def enclosing(symbols: Sequence[Symbol], line: int) -> Enclosing | None:
    """The innermost of a file's symbols, which come by their first lines, that holds a line."""
    for symbol in reversed(symbols):
        if symbol.first_line <= line <= symbol.last_line:
            return symbol.name, symbol.container, symbol.kind
    return None


def _window(
    buffer: Buffer, begin: int, end: int, spans: list[tuple[int, int]]
) -> tuple[str, int, int, list[tuple[int, int]]]:
    """The text around the first span, its offset in the line, the first span's column, and the spans in the window; all in characters."""
    first = spans[0][0]
    column = _chars(buffer, begin, first)
    start = _char_start(buffer, max(begin, first - LEAD_CHARS), begin)
    stop = min(end, start + 4 * WINDOW_CHARS)
    text = _decoded(buffer[start:stop])[:WINDOW_CHARS]
    offset = column - _chars(buffer, start, first)
    shown = []
    for span_start, span_end in spans:
        low = _chars(buffer, start, span_start)
        if low >= len(text):
            break
        high = min(low + _chars(buffer, span_start, min(span_end, stop)), len(text))
        shown.append((low, high))
    return text, offset, column, shown


def _places(raw: Buffer, length: int, begin: int, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in characters of a line of `length` characters that begins at `begin`. Bytes are decoded once."""
    places = []
    at = chars = 0
    for start, finish in spans:
        chars += _chars(raw, at, start - begin)
        low, at = chars, finish - begin
        chars += _chars(raw, start - begin, at)
        places.append((low, min(chars, length)))
    return places


def _chars(buffer: Buffer, start: int, end: int) -> int:
    part = buffer[start:end]
    return len(part) if part.isascii() else len(_decoded(part))


def _char_start(buffer: Buffer, place: int, least: int) -> int:
    """The start of the character that holds this byte."""
    steps = 0
    while place > least and steps < 3 and 0x80 <= buffer[place] < 0xC0:
        place -= 1
        steps += 1
    return place


def _decoded(raw: Buffer) -> str:
    return raw.decode("utf-8", "replace")
