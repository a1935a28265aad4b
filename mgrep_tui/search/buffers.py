"""Where a compiled pattern matches in a buffer of whole lines: the innermost loops of regex mode, written for few calls.

All places are byte offsets into the buffer. Every pattern here takes at least one byte and, but for multi-line, never a newline.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import re2
from re2 import _re2

from mgrep_tui.errors import QueryError

Buffer = bytes | bytearray
Span = tuple[int, int]
Finder = Callable[[int, int], int]
LineMatch = tuple[int, int, int, list[Span]]
"""A line's number, its start and end in the buffer, and the spans in it, which are offsets into the buffer. Bytes all."""

MAX_SPANS = 200
"""More spans in one line are not told apart: the last runs no further. A line of a million matches is not looked through for all."""
MAX_MISSES = 12
MISS_BYTES = 1500
"""A line that holds the text but does not match costs what RE2 needs for so many bytes. After so many such lines, and so many more than
the bytes so far are worth, the rest of the buffer is matched as a whole after all."""
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


@dataclass(slots=True)
class FoundLines:
    """The lines of a buffer with a match, in order, as columns: where each begins and ends, and its spans. Bytes of the buffer all."""

    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    spans: list[list[Span]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.begins)


class Text:
    """A text that is looked for, in its own case or in any (then of ASCII)."""

    __slots__ = ("folds", "pattern", "raw")

    def __init__(self, raw: bytes, folds: bool) -> None:
        self.raw = raw
        self.folds = folds and raw.lower() != raw.upper()
        self.pattern = compile_re2(re2.escape(raw.decode("latin-1")), self.folds, False, is_ascii=True)

    def finder(self, buffer: Buffer) -> Finder:
        """From where to where, the first place there, or -1."""
        if not self.folds:
            return functools.partial(buffer.find, self.raw)
        match = self.pattern.Match
        return lambda start, end: match(UNANCHORED, buffer, start, end)[0][0]


def find_text(text: Text, buffer: Buffer, length: int, limit: int, most_spans: int = MAX_SPANS) -> FoundLines:
    """All lines with a text, in the first `length` bytes."""
    find_next, size = text.finder(buffer), len(text.raw)
    find, rfind = buffer.find, buffer.rfind
    found = FoundLines()
    begins, ends, all_lines = found.begins, found.ends, found.spans
    position = 0
    start = find_next(0, length)
    while start >= 0:
        line_end = find(b"\n", start + size, length)
        if line_end < 0:
            line_end = length
        begins.append(rfind(b"\n", position, start) + 1 or position)
        ends.append(line_end)
        spans = [(start, start + size)]
        all_lines.append(spans)
        start = find_next(start + size if most_spans > 1 else line_end, length)
        while 0 <= start < line_end:
            if len(spans) == most_spans:
                start = find_next(line_end, length)
                break
            spans.append((start, start + size))
            start = find_next(start + size, length)
        if len(begins) >= limit:
            break
        position = line_end + 1
    return found


def find_pattern(pattern: _re2.RE2, buffer: Buffer, length: int, limit: int, most_spans: int = MAX_SPANS) -> FoundLines:
    """The same for a pattern that needs no second look."""
    return _find_from(pattern, buffer, 0, length, limit, most_spans, FoundLines())


def _find_from(
    pattern: _re2.RE2, buffer: Buffer, position: int, length: int, limit: int, most_spans: int, found: FoundLines
) -> FoundLines:
    match = pattern.Match
    find, rfind = buffer.find, buffer.rfind
    begins, ends, all_lines = found.begins, found.ends, found.spans
    while position < length and len(begins) < limit:
        span = match(UNANCHORED, buffer, position, length)[0]
        start, end = span
        if start < 0:
            break
        line_end = find(b"\n", end, length)
        if line_end < 0:
            line_end = length
        begins.append(rfind(b"\n", position, start) + 1 or position)
        ends.append(line_end)
        spans = [span]
        all_lines.append(spans)
        while end < line_end and len(spans) < most_spans:
            span = match(UNANCHORED, buffer, end, line_end)[0]
            if span[0] < 0:
                break
            spans.append(span)
            end = span[1]
        position = line_end + 1
    return found


def find_by_texts(
    pattern: _re2.RE2, texts: Sequence[Text], buffer: Buffer, length: int, limit: int, most_spans: int = MAX_SPANS
) -> FoundLines:
    """As `find_pattern`, for a pattern whose every match holds one of some texts: only their lines are matched while they mostly match."""
    match = pattern.Match
    find, rfind = buffer.find, buffer.rfind
    found = FoundLines()
    begins, ends, all_lines = found.begins, found.ends, found.spans
    position = misses = 0
    finders = [text.finder(buffer) for text in texts]
    nexts = [find_next(0, length) for find_next in finders]
    only = finders[0] if len(texts) == 1 else None  # then one look tells whether another match can follow in the line
    while True:
        place = nexts[0] if only else min([at for at in nexts if at >= 0], default=-1)
        if place < 0:
            return found
        begin = rfind(b"\n", position, place) + 1 or position
        line_end = find(b"\n", place, length)
        if line_end < 0:
            line_end = length
        end = begin
        spans: list[Span] = []
        while end < line_end and len(spans) < most_spans:
            span = match(UNANCHORED, buffer, end, line_end)[0]
            if span[0] < 0:
                break
            spans.append(span)
            end = span[1]
            if only and (most_spans == 1 or only(end, line_end) < 0):
                break
        position = line_end + 1
        if spans:
            begins.append(begin)
            ends.append(line_end)
            all_lines.append(spans)
            if len(begins) >= limit:
                return found
        else:
            misses += 1
            if misses * MISS_BYTES > position + MAX_MISSES * MISS_BYTES:
                return _find_from(pattern, buffer, position, length, limit, most_spans, found)
        for number, at in enumerate(nexts):
            if 0 <= at < position:
                nexts[number] = finders[number](position, length)


def find_any_text(
    texts: Sequence[Text], buffer: Buffer, length: int, limit: int, most_spans: int = MAX_SPANS
) -> FoundLines:
    """As `find_text`, for the first of some texts that stands there: `kfree|vfree`."""
    finders = [text.finder(buffer) for text in texts]
    sizes = [len(text.raw) for text in texts]
    find, rfind = buffer.find, buffer.rfind
    found = FoundLines()
    begins, ends, all_lines = found.begins, found.ends, found.spans
    position, line_end = 0, -1
    spans: list[Span] = []
    nexts = [find_next(0, length) for find_next in finders]
    while True:
        start = min([at for at in nexts if at >= 0], default=-1)
        if start < 0:
            return found
        end = start + sizes[nexts.index(start)]
        if start > line_end:
            if len(begins) >= limit:
                return found
            line_end = find(b"\n", end, length)
            if line_end < 0:
                line_end = length
            begins.append(rfind(b"\n", position, start) + 1 or position)
            ends.append(line_end)
            spans = [(start, end)]
            all_lines.append(spans)
            position = line_end + 1
        else:
            spans.append((start, end))
        following = end if len(spans) < most_spans else line_end
        for number, at in enumerate(nexts):
            if 0 <= at < following:
                nexts[number] = finders[number](following, length)


def numbered(buffer: Buffer, line: int, found: FoundLines) -> list[LineMatch]:
    """The lines with their numbers, of which the buffer's first has the number `line`."""
    count = buffer.count
    counted = 0
    numbered_lines: list[LineMatch] = []
    for begin, end, spans in zip(found.begins, found.ends, found.spans, strict=True):
        line += count(b"\n", counted, begin)
        counted = begin
        numbered_lines.append((line, begin, end, spans))
    return numbered_lines


def all_spans(pattern: _re2.RE2, text: bytes, limit: int = MAX_SPANS) -> list[Span]:
    match = pattern.Match
    position, length = 0, len(text)
    spans: list[Span] = []
    while position < length and len(spans) < limit:
        span = match(UNANCHORED, text, position, length)[0]
        start, end = span
        if start < 0:
            break
        spans.append(span)
        position = end if end > position else position + 1
    return spans


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
