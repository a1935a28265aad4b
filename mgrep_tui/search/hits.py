"""A line that matches becomes a hit: bytes become characters, and of a very long line a window stays."""

from __future__ import annotations

from mgrep_tui.corpus.decode import decode_line
from mgrep_tui.model import Hit, Signal, Span
from mgrep_tui.search.matcher import LineMatch

WINDOW_CHARS = 1000
"""What a hit shows of a line that is longer than `LONG_BYTES`: enough for the widest screen and for `--json`."""
LEAD_CHARS = 200
LONG_BYTES = 4 * WINDOW_CHARS


def hit_of(
    path: bytes,
    buffer: bytes,
    match: LineMatch,
    *,
    language: str = "",
    score: float = 0.0,
    signals: tuple[Signal, ...] = (),
) -> Hit:
    """The hit of one matching line of `buffer`; bytes that are not UTF-8 show as U+FFFD."""
    line, begin, end, spans = match
    last_line = line
    if spans[-1][1] > end:
        last_line = line + buffer.count(b"\n", end, spans[-1][1] - 1)
    if end > begin and buffer[end - 1] == 13:
        end -= 1
    if end - begin > LONG_BYTES:
        text, offset, column, shown = _window(buffer, begin, end, spans)
    else:
        raw = buffer[begin:end]
        text = decode_line(raw)
        offset = 0
        size = end - begin
        if len(text) == size:
            places = [(start - begin, finish - begin) for start, finish in spans]
        else:
            places = [
                (len(decode_line(raw[: start - begin])), len(decode_line(raw[: finish - begin])))
                for start, finish in spans
            ]
        column = places[0][0]
        length = len(text)
        shown = tuple(
            [Span(start, finish if finish < length else length) for start, finish in places if start < length]
        )
    return Hit(
        path, line, column, text, shown, line, last_line, score, language=language, signals=signals, text_offset=offset
    )


def _window(
    buffer: bytes, begin: int, end: int, spans: list[tuple[int, int]]
) -> tuple[str, int, int, tuple[Span, ...]]:
    """The text around the first span, its offset in the line, the first span's column, and the spans in it; all in characters."""
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
        shown.append(Span(low, high))
    return text, offset, column, tuple(shown)


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
