"""Where a compiled pattern matches in a buffer of whole lines: the innermost loops of regex mode, written for few calls.

All places are byte offsets into the buffer. Every pattern here takes at least one byte and, but for multi-line, never a newline.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator

import re2
from re2 import _re2

from mgrep_tui.errors import QueryError
from mgrep_tui.search.pattern_printer import char_text

Span = tuple[int, int]
LineMatch = tuple[int, int, int, list[Span]]
"""A line's number, its start and end in the buffer, and the spans in it, which are offsets into the buffer. Bytes all."""

Finder = Callable[[bytes, int], int]

MAX_SPANS = 200
"""More spans in one line are not told apart: the last runs no further. A line of a million matches is not looked through for all."""
MAX_MISSES = 12
"""Lines of one buffer that hold the literal but do not match before it is matched as a whole after all: about what that costs."""
MAX_MEMORY_BYTES = 64 << 20

UNANCHORED = _re2.RE2.Anchor.UNANCHORED


@functools.lru_cache(maxsize=64)
def compile_re2(source: str, folds: bool, takes_newline: bool, *, is_ascii: bool = False) -> _re2.RE2:
    options = re2.Options()
    options.log_errors = False  # it would write on the terminal
    options.never_capture = True
    options.never_nl = not takes_newline
    options.case_sensitive = not folds
    options.max_mem = MAX_MEMORY_BYTES
    if is_ascii:
        options.encoding = re2.Options.Encoding.LATIN1
    compiled = _re2.RE2(source.encode(), options)
    if not compiled.ok():
        message = compiled.error().decode("utf-8", "replace")
        if "too large" in message:
            raise QueryError("This pattern is too large.")
        if "character class" in message:
            name = message.rpartition(": ")[2]
            raise QueryError(f"There is no class {name}.", hint="")
        raise QueryError(f"This pattern is not understood: {message}.")
    return compiled


def scan(pattern: _re2.RE2, buffer: bytes, line: int, limit: int) -> list[LineMatch]:
    """All lines with a match, by a pattern that needs no second look. The innermost loop of the program: calls are its cost."""
    match = pattern.Match
    find, rfind, count = buffer.find, buffer.rfind, buffer.count
    length = len(buffer)
    found: list[LineMatch] = []
    position = counted = 0
    while position < length:
        span = match(UNANCHORED, buffer, position, length)[0]
        start, end = span
        if start < 0:
            break
        begin = rfind(b"\n", counted, start) + 1 or counted
        line_end = find(b"\n", end)
        if line_end < 0:
            line_end = length
        line += count(b"\n", counted, begin)
        spans = [span]
        while end < line_end and len(spans) < MAX_SPANS:
            span = match(UNANCHORED, buffer, end, line_end)[0]
            if span[0] < 0:
                break
            spans.append(span)
            end = span[1]
        found.append((line, begin, line_end, spans))
        if len(found) >= limit:
            break
        line += 1
        position = counted = line_end + 1
    return found


def scan_literal(literal: bytes, haystack: bytes, buffer: bytes, line: int, limit: int) -> list[LineMatch]:
    """As `scan`, for a pattern that is a text. `haystack` is the buffer, or its copy in lower case when case does not count: calls of
    `bytes.find` cost a fifth of calls of RE2."""
    find = haystack.find
    find_end, rfind, count = buffer.find, buffer.rfind, buffer.count
    size, length = len(literal), len(buffer)
    found: list[LineMatch] = []
    counted = 0
    start = find(literal)
    while start >= 0:
        begin = rfind(b"\n", counted, start) + 1 or counted
        line_end = find_end(b"\n", start + size)
        if line_end < 0:
            line_end = length
        line += count(b"\n", counted, begin)
        spans = [(start, start + size)]
        start = find(literal, start + size)
        while 0 <= start < line_end:
            if len(spans) == MAX_SPANS:
                start = find(literal, line_end)
                break
            spans.append((start, start + size))
            start = find(literal, start + size)
        found.append((line, begin, line_end, spans))
        if len(found) >= limit:
            break
        line += 1
        counted = line_end + 1
    return found


def scan_by_literal(pattern: _re2.RE2, find_literal: Finder, buffer: bytes, line: int, limit: int) -> list[LineMatch]:
    """As `_scan`, for a pattern whose every match holds a literal: only its lines are matched, while they mostly match."""
    match = pattern.Match
    find, rfind, count = buffer.find, buffer.rfind, buffer.count
    length = len(buffer)
    found: list[LineMatch] = []
    position = counted = misses = 0
    while position < length:
        place = find_literal(buffer, position)
        if place < 0:
            break
        begin = rfind(b"\n", position, place) + 1 or position
        line_end = find(b"\n", place)
        if line_end < 0:
            line_end = length
        end = begin
        spans: list[Span] = []
        while end < line_end and len(spans) < MAX_SPANS:
            span = match(UNANCHORED, buffer, end, line_end)[0]
            if span[0] < 0:
                break
            spans.append(span)
            end = span[1]
        if spans:
            line += count(b"\n", counted, begin)
            counted = begin
            found.append((line, begin, line_end, spans))
            if len(found) >= limit:
                break
        else:
            misses += 1
            if misses == MAX_MISSES:
                position = min(line_end + 1, length)
                line += count(b"\n", counted, position)
                rest = scan(pattern, buffer[position:], line, limit - len(found))
                moved = [
                    (number, b + position, e + position, [(x + position, y + position) for x, y in spans])
                    for number, b, e, spans in rest
                ]
                return found + moved
        position = line_end + 1
    return found


def literal_finder(text: str, folds: bool) -> Finder:
    """The next place of an ASCII text in an ASCII buffer."""
    raw = text.encode()
    if not folds or raw.lower() == raw.upper():
        return lambda buffer, start: buffer.find(raw, start)
    pattern = compile_re2("".join(char_text(code) for code in raw), True, False, is_ascii=True)
    return lambda buffer, start: pattern.Match(UNANCHORED, buffer, start, len(buffer))[0][0]


def all_spans(pattern: _re2.RE2, text: bytes, limit: int = MAX_SPANS) -> list[Span]:
    return list(itertools.islice(each_span(pattern, text), limit))


def each_span(pattern: _re2.RE2, text: bytes) -> Iterator[Span]:
    position, length = 0, len(text)
    while position < length:
        span = pattern.Match(UNANCHORED, text, position, length)[0]
        if span[0] < 0:
            return
        yield span
        position = max(span[1], position + 1)


def by_first_line(text: bytes, spans: Iterable[Span], limit: int) -> list[LineMatch]:
    found: list[LineMatch] = []
    line = counted = 0
    for start, end in spans:
        begin = text.rfind(b"\n", 0, start) + 1
        line += text.count(b"\n", counted, begin)
        counted = begin
        if found and found[-1][1] == begin:
            found[-1][3].append((start, end))
            continue
        if len(found) >= limit:
            break
        line_end = text.find(b"\n", start)
        found.append((line, begin, line_end if line_end >= 0 else len(text), [(start, end)]))
    return found
