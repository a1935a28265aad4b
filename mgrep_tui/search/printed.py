"""Matching lines as grep prints them, `path:line:column:text`, straight from bytes to bytes.

Lines and columns (in characters) count from 1. The bytes of a line stay as they are, but for a `\\r` at its end.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import TracebackType

import numpy as np

from mgrep_tui.corpus.root import Root
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.buffers import Buffer, FoundLines
from mgrep_tui.search.matcher import Matcher
from mgrep_tui.search.pattern_tree import RETURN
from mgrep_tui.search.reading import CandidateReader
from mgrep_tui.search.window import Window

MANY_NUMBERS = 4000
_NUMBERS = [
    b"%d:" % number for number in range(MANY_NUMBERS + 1)
]  # half a millisecond, and a third of the time for each line

Printed = tuple[bytes, int, int]
"""Lines as text, each with its newline; their number, and the number of the files that they are from."""
Piece = tuple[int, int, bytes]
"""The number of a candidate, of a line, and the line as printed."""


class LinePrinter:
    """Prints the lines of candidates of one root, some at a time. For one thread; close it after use."""

    def __init__(self, root: Root, matcher: Matcher, prefix: bytes, max_file_bytes: int) -> None:
        self._matcher = matcher
        self._prefix = prefix
        self._reader = CandidateReader(root, max_file_bytes)
        self._window = Window()

    def __enter__(self) -> LinePrinter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.close()

    def print(self, candidates: Sequence[Candidate]) -> Printed:
        """The lines of these candidates, in their order."""
        heads = [b"%b%b:" % (self._prefix, candidate.path) for candidate in candidates]
        if not self._matcher.can_join:
            return _joined([piece for number in range(len(heads)) for piece in self._one(candidates, number, heads)])
        window = self._window
        window.clear()
        big = self._reader.fill(window, candidates)
        is_ascii = window.is_ascii
        found = self._matcher.lines_in(window.buffer, window.length, is_ascii=is_ascii, most_spans=1)
        if found is not None and not big:
            return self._together(window, found, heads, is_ascii)
        rest = set(big)
        pieces: list[Piece] = []
        if found is None:
            rest.update(odd.owner for odd in window.take_out_odd())
            found = self._matcher.lines_in(window.buffer, window.length, is_ascii=True, most_spans=1)
        if found is None:
            rest.update(window.owners)
        else:
            owners, numbers = window.places_of(found.begins) if found.begins else ([], [])
            for owner, line, begin, end, spans in zip(
                owners, numbers, found.begins, found.ends, found.spans, strict=True
            ):
                if owner not in rest:
                    printed = _printed(heads[owner], window.buffer, line, begin, end, spans[0][0])
                    pieces.append((owner, line, printed))
        pieces += [piece for number in rest for piece in self._one(candidates, number, heads)]
        pieces.sort(key=operator.itemgetter(0, 1))
        return _joined(pieces)

    def _together(self, window: Window, found: FoundLines, heads: Sequence[bytes], is_ascii: bool) -> Printed:
        """The lines of a window. A dense answer is a million of them: whole columns are handled by one call each."""
        count = len(found.begins)
        if not count:
            return b"", 0, 0
        buffer = window.buffer
        owners, lines = window.places_of(found.begins)
        starts = [spans[0][0] for spans in found.spans]
        is_clean = is_ascii and buffer.find(b"\r", 0, window.length) < 0
        if is_clean:
            columns = (np.array(starts) - np.array(found.begins)).tolist()
            texts: list[Buffer] = list(
                map(buffer.__getitem__, map(slice, found.begins, [end + 1 for end in found.ends]))
            )
        else:
            columns = [_column(buffer, begin, start) for begin, start in zip(found.begins, starts, strict=True)]
            texts = [_text(buffer, begin, end) for begin, end in zip(found.begins, found.ends, strict=True)]
        columns_text = _numbered(columns)
        lines_text = _numbered(lines)
        if any(map(operator.gt, owners, owners[1:])):  # some were read whole, after the others
            order = sorted(range(count), key=owners.__getitem__)
            owners = [owners[place] for place in order]
            lines_text = [lines_text[place] for place in order]
            columns_text = [columns_text[place] for place in order]
            texts = [texts[place] for place in order]
        flat: list[Buffer] = [b""] * (4 * count)
        flat[0::4] = map(heads.__getitem__, owners)
        flat[1::4] = lines_text
        flat[2::4] = columns_text
        flat[3::4] = texts
        return b"".join(flat), count, len(set(owners))

    def _one(self, candidates: Sequence[Candidate], number: int, heads: Sequence[bytes]) -> list[Piece]:
        """The lines of one candidate, by the careful way."""
        matcher = self._matcher
        head = heads[number]
        if matcher.is_multiline:
            content = self._reader.whole(candidates[number].path)
            if content is None:
                return []
            text = matcher.text_of(content)
            return [
                (number, line, _printed(head, text, line, begin, end, spans[0][0]))
                for line, begin, end, spans in matcher.lines(text)
            ]
        return [
            (number, line, _printed(head, part.data, line, begin, end, spans[0][0]))
            for part in self._reader.parts(candidates[number])
            for line, begin, end, spans in matcher.lines(
                part.data, first_line=part.first_line, starts_file=part.starts_file, ends_file=part.ends_file
            )
        ]


def _joined(pieces: Sequence[Piece]) -> Printed:
    return b"".join([piece for _, _, piece in pieces]), len(pieces), len({number for number, _, _ in pieces})


def _printed(head: bytes, buffer: Buffer, line: int, begin: int, end: int, start: int) -> bytes:
    return b"%b%d:%d:%b" % (head, line + 1, _column(buffer, begin, start) + 1, _text(buffer, begin, end))


def _column(buffer: Buffer, begin: int, start: int) -> int:
    before = buffer[begin:start]
    return len(before) if before.isascii() else len(before.decode("utf-8", "replace"))


def _text(buffer: Buffer, begin: int, end: int) -> bytes:
    if end > begin and buffer[end - 1] == RETURN:
        end -= 1
    return bytes(buffer[begin:end]) + b"\n"


def _numbered(numbers: Sequence[int]) -> list[bytes]:
    """Numbers from 0 on as they are printed, from 1 on."""
    if max(numbers) < MANY_NUMBERS:
        return list(map(_NUMBERS.__getitem__, [number + 1 for number in numbers]))
    return [b"%d:" % (number + 1) for number in numbers]
