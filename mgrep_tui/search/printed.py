"""Matching lines as grep prints them, `path:line:column:text`, straight from bytes to bytes.

Lines and columns (in characters) count from 1. The bytes of a line stay as they are, but for a `\\r` at its end.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import TracebackType

import numpy as np
import numpy.typing as npt

from mgrep_tui.corpus.root import Root
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.buffers import Buffer
from mgrep_tui.search.matcher import Matcher
from mgrep_tui.search.pattern_tree import RETURN
from mgrep_tui.search.reading import CandidateReader
from mgrep_tui.search.window import Lines, Window

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
        places = self._matcher.places_in(window)
        if places is not None and not big:
            return self._together(window, places, heads)
        rest = set(big)
        pieces: list[Piece] = []
        if places is None:
            rest.update(odd.owner for odd in window.take_out_odd())
            places = self._matcher.places_in(window)
        if places is None:
            rest.update(window.owners)
        else:
            lines = window.lines_at(places)
            for owner, line, begin, end, place in zip(*(column.tolist() for column in lines), strict=True):
                if owner not in rest:
                    pieces.append((owner, line, _printed(heads[owner], window.buffer, line, begin, end, place)))
        pieces += [piece for number in rest for piece in self._one(candidates, number, heads)]
        pieces.sort(key=operator.itemgetter(0, 1))
        return _joined(pieces)

    def _together(self, window: Window, places: npt.NDArray[np.int64], heads: Sequence[bytes]) -> Printed:
        """The lines of a window. A dense answer is a million of them: whole columns are handled by one call each."""
        if not len(places):
            return b"", 0, 0
        lines = window.lines_at(places)
        count = len(lines.owners)
        if (lines.owners[1:] < lines.owners[:-1]).any():  # some were read whole, after the others
            order = np.argsort(lines.owners, kind="stable")
            lines = Lines(*(column[order] for column in lines))
        buffer = window.buffer
        begins, ends = lines.begins.tolist(), lines.ends.tolist()
        texts: list[Buffer]
        if window.is_ascii and buffer.find(b"\r", 0, window.length) < 0:
            columns = (lines.places - lines.begins + 1).tolist()
            texts = list(map(buffer.__getitem__, map(slice, begins, (lines.ends + 1).tolist())))
        else:
            starts = lines.places.tolist()
            columns = [_column(buffer, begin, start) + 1 for begin, start in zip(begins, starts, strict=True)]
            texts = [_text(buffer, begin, end) for begin, end in zip(begins, ends, strict=True)]
        flat: list[Buffer] = [b""] * (4 * count)
        owners = lines.owners.tolist()
        flat[0::4] = map(heads.__getitem__, owners)
        flat[1::4] = _numbered((lines.numbers + 1).tolist())
        flat[2::4] = _numbered(columns)
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
    """Numbers as they are printed."""
    if max(numbers) <= MANY_NUMBERS:
        return list(map(_NUMBERS.__getitem__, numbers))
    return [b"%d:" % number for number in numbers]
