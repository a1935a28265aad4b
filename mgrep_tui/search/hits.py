"""A line that matches becomes a hit: bytes become characters, and of a very long line a window stays."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.corpus.decode import decode_line
from mgrep_tui.model import Hit, Span
from mgrep_tui.search.buffers import LineMatch
from mgrep_tui.search.filters import FileFacts
from mgrep_tui.search.rank import FileRank, rank_line

WINDOW_CHARS = 1000
"""What a hit shows of a line that is longer than `LONG_BYTES`: enough for the widest screen and for `--json`."""
LEAD_CHARS = 200
LONG_BYTES = 4 * WINDOW_CHARS


def hits_of(facts: FileFacts, found: Sequence[tuple[bytes, list[LineMatch]]], file_rank: FileRank | None) -> list[Hit]:
    """The hits of one file, by line. `found` are its parts with the lines that match in them; without `file_rank` nothing is ranked.

    Bytes that are not UTF-8 show as U+FFFD.
    """
    return [_hit(facts, buffer, match, file_rank) for buffer, lines in found for match in lines]


def _hit(facts: FileFacts, buffer: bytes, match: LineMatch, file_rank: FileRank | None) -> Hit:
    line, begin, end, spans = match
    last_line = line
    if spans[-1][1] > end:
        last_line = line + buffer.count(b"\n", end, spans[-1][1] - 1)
    if end > begin and buffer[end - 1] == 13:
        end -= 1
    offset = 0
    is_squeezed = end - begin > LONG_BYTES
    if is_squeezed:
        text, offset, column, places = _window(buffer, begin, end, spans)
    else:
        raw = buffer[begin:end]
        text = decode_line(raw)
        length = len(text)
        if length == end - begin:
            places = [(start - begin, min(finish, end) - begin) for start, finish in spans]
        else:
            places = [
                (_chars(raw, 0, start - begin), min(_chars(raw, 0, finish - begin), length)) for start, finish in spans
            ]
        column = places[0][0]
    shown = tuple([Span(start, finish) for start, finish in places if start < finish])
    if file_rank is None:
        return Hit(facts.path, line, column, text, shown, line, last_line, 0.0, "", "", "", facts.language, (), offset)
    rank = rank_line(text, places, is_squeezed=is_squeezed)
    score = rank.score + file_rank.score
    signals = rank.signals + file_rank.signals
    return Hit(
        facts.path, line, column, text, shown, line, last_line, score, "", "", "", facts.language, signals, offset
    )


def _window(
    buffer: bytes, begin: int, end: int, spans: list[tuple[int, int]]
) -> tuple[str, int, int, list[tuple[int, int]]]:
    """The text around the first span, its offset in the line, the first span's column, and the spans in the window; all in characters."""
    first = spans[0][0]
    column = _chars(buffer, begin, first)
    start = _char_start(buffer, max(begin, first - LEAD_CHARS), begin)
    stop = min(end, start + 4 * WINDOW_CHARS)
    text = decode_line(buffer[start:stop])[:WINDOW_CHARS]
    offset = column - _chars(buffer, start, first)
    shown = []
    for span_start, span_end in spans:
        low = _chars(buffer, start, span_start)
        if low >= len(text):
            break
        high = min(low + _chars(buffer, span_start, min(span_end, stop)), len(text))
        shown.append((low, high))
    return text, offset, column, shown


def _chars(buffer: bytes, start: int, end: int) -> int:
    part = buffer[start:end]
    return len(part) if part.isascii() else len(decode_line(part))


def _char_start(buffer: bytes, place: int, least: int) -> int:
    """The start of the character that holds this byte."""
    steps = 0
    while place > least and steps < 3 and 0x80 <= buffer[place] < 0xC0:
        place -= 1
        steps += 1
    return place
