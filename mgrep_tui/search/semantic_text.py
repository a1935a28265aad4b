"""What of a chunk is shown: its lines as they are on disk now, the line that answers best, and the words lit in it.

The index keeps no text. A chunk's lines are read from its file again; when the file has changed since it was cut, they must still hash to
what was indexed, else the chunk is gone and its hit with it.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mgrep_tui.corpus.read import Reader, searchable
from mgrep_tui.embedding.text import embedding_text, text_hash
from mgrep_tui.errors import UnreadableError
from mgrep_tui.index.rows import ChunkRow
from mgrep_tui.model import Chunk, FileStat, Span

LINE_CHARS = 2_000  # of one line, as chunks are cut; base64 is longer
SHOWN_CHARS = 400  # a longer line is shown as a window
BEFORE_CHARS = 80  # of the window, before the first lit word
DEMANDED = 100.0  # what a quoted text or pattern on a line is worth, in words of the question
_LINE_END = 10
_WORD = re.compile(r"\w\w")  # a brace alone says nothing of a chunk
SHORT_STEM = 3  # stems up to this length only count at a word's beginning

Places: TypeAlias = tuple[int, list[tuple[int, int]]]
"""A line of a chunk and what is found in it, as pairs of characters."""


@dataclass(frozen=True, slots=True)
class ChunkText:
    """The lines of a chunk, without their ends and each cut at `LINE_CHARS`."""

    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class BestLine:
    """Where to look in a chunk: `line` counts from the chunk's first; `text` starts `text_offset` characters into the line."""

    line: int
    column: int
    text: str
    spans: tuple[Span, ...]
    text_offset: int


class ChunkReader:
    """Reads chunks of one search; every file once. `stats` tells how the files looked when indexed. Not for two threads at once."""

    def __init__(self, reader: Reader, stats: Mapping[bytes, FileStat], limit_bytes: int) -> None:
        self._reader = reader
        self._stats = stats
        self._limit_bytes = limit_bytes
        self._files: dict[bytes, tuple[FileStat, _Lines] | None] = {}

    def read(self, row: ChunkRow) -> ChunkText | None:
        """The chunk's lines, or None when it is gone: its file unreadable, binary, shorter or different."""
        if row.path not in self._files:
            self._files[row.path] = self._read_file(row.path)
        found = self._files[row.path]
        if found is None or row.last_line >= len(found[1]):
            return None
        stat, lines = found
        text = ChunkText(tuple(lines.between(row.first_line, row.last_line)))
        if self._stats.get(row.path) == stat:
            return text
        return text if _is_unchanged(row, text) else None

    def forget(self, path: bytes) -> None:
        """Keep no lines of a file that is done with."""
        self._files.pop(path, None)

    def _read_file(self, path: bytes) -> tuple[FileStat, _Lines] | None:
        try:
            raw = self._reader.read(path, self._limit_bytes)
        except UnreadableError:
            return None
        canonical = searchable(raw.data)
        return None if canonical is None else (raw.stat, _Lines(canonical.data))


class _Lines:
    """The lines of a file, of which few are looked at: a file of thousands is not cut into all of them."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._ends = np.flatnonzero(np.frombuffer(content, np.uint8) == _LINE_END)

    def __len__(self) -> int:
        return len(self._ends) + (1 if self._content and self._content[-1] != _LINE_END else 0)

    def between(self, first: int, last: int) -> list[str]:
        """The lines from `first` to `last`, which must be there, without their ends, each cut at `LINE_CHARS`."""
        start = int(self._ends[first - 1]) + 1 if first else 0
        end = int(self._ends[last]) if last < len(self._ends) else len(self._content)
        part = self._content[start:end]
        if b"\r" in part:
            part = b"\n".join(line.removesuffix(b"\r") for line in part.split(b"\n"))
        return [line[:LINE_CHARS] for line in part.decode("utf-8", "replace").split("\n")]


def _is_unchanged(row: ChunkRow, text: ChunkText) -> bool:
    chunk = Chunk(
        row.language, row.kind, row.symbol, row.container, row.first_line, row.last_line, text.text, row.part, row.parts
    )
    return text_hash(embedding_text(row.path, chunk)) == row.text_hash


class QuestionWords:
    """The words of a question as they are looked for in code: whole names, and words that begin with a stem (`resolv` in `resolves`).

    An ending is of the same case as a word has it (`UserName` is two words), and short stems only count as whole words.
    """

    def __init__(self, stems: Sequence[str], names: Sequence[str] = ()) -> None:
        parts = [f"(?i:{re.escape(name)})" for name in sorted(names, key=len, reverse=True) if name]
        self._roots = []
        for stem in sorted(stems, key=len, reverse=True):
            root = stem[:-1] if len(stem) > SHORT_STEM and stem[-1] in "iy" else stem
            is_short = len(root) <= SHORT_STEM and root.isascii()
            self._roots.append((root, is_short))
            if is_short:
                parts.append(rf"(?<![^\W_])(?i:{re.escape(root)})(?![^\W\d_]{{3}})")
            else:
                parts.append(rf"(?i:{re.escape(root)})(?:[a-z]{{0,4}}(?![a-z])|[A-Z]{{0,4}}(?![A-Za-z]))?")
        self._pattern = re.compile("|".join(parts)) if parts else None

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where roots begin in `text`, as (number of the root, offset). Ten times as fast as the pattern, and a little less strict."""
        folded = text.lower()
        if len(folded) != len(text):  # a letter whose small form is two characters
            folded = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
        for number, (root, is_short) in enumerate(self._roots):
            place = folded.find(root)
            while place >= 0:
                if not is_short or _is_whole(folded, place, place + len(root)):
                    yield number, place
                place = folded.find(root, place + len(root))

    def spans(self, line: str) -> list[Span]:
        """What is lit of a line, in order."""
        if self._pattern is None:
            return []
        return [Span(*match.span()) for match in self._pattern.finditer(line) if match.group()]


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (start and text[start - 1].isalnum()) and not text[end : end + 1].isalpha()


def best_line(
    text: ChunkText, words: QuestionWords | None, definition: str, demanded: Sequence[Sequence[Places]] = ()
) -> BestLine:
    """The line with the most different words of the question; the earlier wins, and one that names the chunk's symbol counts more.

    `demanded` says for each quoted text and pattern on which lines it stands: a line with one comes before any without.
    """
    best, best_value = 0, 0.0
    found: dict[int, set[int]] = {}
    lit: dict[int, list[Span]] = {}
    held: Counter[int] = Counter()
    for places in demanded:
        for line, spans in places:
            lit.setdefault(line, []).extend(Span(*span) for span in spans)
            held[line] += 1
    if words is not None:
        lengths = map(len, text.lines)
        starts = list(itertools.accumulate(lengths, lambda total, length: total + length + 1, initial=0))
        for number, place in words.places(text.text):
            found.setdefault(bisect.bisect_right(starts, place) - 1, set()).add(number)
    for line in sorted({*found, *held} & set(range(len(text.lines)))):
        value = DEMANDED * held[line] + len(found.get(line, ()))
        value += 0.5 if definition and definition in text.lines[line] else 0.0
        if value > best_value:
            best, best_value = line, value
    if best_value == 0.0:
        best = next(
            (number for number, line in enumerate(text.lines) if definition and definition in line), None
        ) or next((number for number, line in enumerate(text.lines) if _WORD.search(line)), 0)
    return _window(
        best, text.lines[best] if text.lines else "", words, sorted(lit.get(best, ()), key=lambda s: s.start)
    )


def _window(number: int, line: str, words: QuestionWords | None, lit: list[Span]) -> BestLine:
    spans = words.spans(line) if words is not None else []
    column = (lit or spans)[0].start if lit or spans else len(line) - len(line.lstrip())
    if lit:
        spans = _united([*lit, *spans])
    offset = 0
    if len(line) > SHOWN_CHARS:
        offset = max(0, min(column - BEFORE_CHARS, len(line) - SHOWN_CHARS))
        line = line[offset : offset + SHOWN_CHARS]
        spans = [
            Span(max(0, span.start - offset), min(len(line), span.end - offset))
            for span in spans
            if span.end > offset and span.start < offset + len(line)
        ]
    return BestLine(number, column if spans or not offset else offset, line, tuple(spans), offset)


def _united(spans: list[Span]) -> list[Span]:
    """The same characters in spans that do not meet, in order."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found
