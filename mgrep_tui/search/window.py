"""Many parts of files in one buffer, so that a pattern runs over all of them by one call, and their lines are counted by one.

Each part consists of whole lines and ends with a newline (one is added where a file lacks its last), so no match reaches from one part into
the next: the patterns that are run here never take a newline. What a pattern says about the ends of the file is not asked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

NEWLINE = 10
FIRST_BEYOND_ASCII = 0x80
WORD_BITS = 64
WORD_BYTES = 8
PAD_BYTES = 2 * WORD_BITS  # for a newline and the rest of a word
FIRST_BYTES = 1 << 20
MOST_KEPT = 2
MOST_KEPT_BYTES = 1 << 22


_kept: list[Window] = []  # to be used again: memory that is new costs more than what is read into it


def take_window() -> Window:
    """An empty window. Any thread."""
    try:
        return _kept.pop()
    except IndexError:
        return Window()


def give_back(window: Window) -> None:
    """Have it used by others."""
    window.clear()
    if len(_kept) < MOST_KEPT and len(window.buffer) <= MOST_KEPT_BYTES:
        _kept.append(window)


class Lines(NamedTuple):
    """Lines of a window, as columns: the numbers of the candidate and of the line in its file, where it begins and ends, and a place."""

    owners: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]


class OddPart(NamedTuple):
    """A part that has to be looked at by itself."""

    owner: int
    first_line: int
    data: bytes
    ends_file: bool


class Window:
    """The buffer and its parts, as columns: where each begins, the number of its first line, the number of its candidate, whether it is the
    end of its file. For one thread.

    Use it again for the next candidates after `clear`: the memory stays.
    """

    __slots__ = ("_is_end", "_scratch", "begins", "buffer", "ends_file", "first_lines", "length", "owners", "view")

    def __init__(self) -> None:
        self.buffer = bytearray(FIRST_BYTES)
        self.view = memoryview(self.buffer)
        self._is_end = np.empty(FIRST_BYTES, np.bool_)
        self._scratch = np.empty(FIRST_BYTES, np.bool_)
        self.clear()

    def clear(self) -> None:
        self.length = 0
        self.begins: list[int] = []
        self.first_lines: list[int] = []
        self.owners: list[int] = []
        self.ends_file: list[bool] = []

    def make_room(self, size_bytes: int) -> None:
        """See that `size_bytes` more fit in, with a newline and a rest of a word behind them."""
        needed = self.length + size_bytes + PAD_BYTES
        if needed <= len(self.buffer):
            return
        grown = bytearray(max(needed, 2 * len(self.buffer)))
        grown[: self.length] = self.view[: self.length]
        self.buffer, self.view = grown, memoryview(grown)
        self._is_end = np.empty(len(grown), np.bool_)
        self._scratch = np.empty(len(grown), np.bool_)

    def add(self, owner: int, first_line: int, data: bytes) -> None:
        """Add a whole file, or the last part of one, by its bytes."""
        if not data:
            return
        self.make_room(len(data))
        end = self.length + len(data)
        self.buffer[self.length : end] = data
        self.end_part(owner, first_line, end, True)

    def end_part(self, owner: int, first_line: int, end: int, ends_file: bool) -> None:
        """What was written into the buffer from `length` to `end` is a part."""
        self.begins.append(self.length)
        self.first_lines.append(first_line)
        self.owners.append(owner)
        self.ends_file.append(ends_file)
        if self.buffer[end - 1] != NEWLINE:
            self.buffer[end] = NEWLINE
            end += 1
        self.length = end

    @property
    def columns(self) -> tuple[list[int], list[int], list[int], list[bool]]:
        """Begins, first lines, owners and ends of the parts, for who adds to them."""
        return self.begins, self.first_lines, self.owners, self.ends_file

    @property
    def room(self) -> int:
        """Up to here the buffer may be filled, a newline not counted."""
        return len(self.buffer) - PAD_BYTES

    @property
    def is_ascii(self) -> bool:
        return self.length == 0 or int(self._codes.max()) < FIRST_BEYOND_ASCII

    @property
    def _codes(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self.buffer, np.uint8, self.length)

    def take_out_odd(self) -> list[OddPart]:
        """Take out the parts with a `\\r` or with bytes beyond ASCII."""
        ends = [*self.begins[1:], self.length]
        is_odd: npt.NDArray[np.bool_] = np.maximum.reduceat(self._codes, self.begins) >= FIRST_BEYOND_ASCII
        for number, (begin, end) in enumerate(zip(self.begins, ends, strict=True)):
            if self.buffer.find(b"\r", begin, end) >= 0:
                is_odd[number] = True
        contents = [bytes(self.view[begin:end]) for begin, end in zip(self.begins, ends, strict=True)]
        columns = list(zip(self.owners, self.first_lines, contents, self.ends_file, is_odd.tolist(), strict=True))
        self.clear()
        odd = []
        for owner, first_line, content, ends_file, is_odd_part in columns:
            if is_odd_part:
                odd.append(OddPart(owner, first_line, content, ends_file))
            else:
                end = self.length + len(content)
                self.buffer[self.length : end] = content
                self.end_part(owner, first_line, end, ends_file)
        return odd

    def lines_at(self, places: npt.NDArray[np.int64]) -> Lines:
        """The lines in which these ascending places are, each with the first place in it."""
        find, rfind = self.buffer.find, self.buffer.rfind
        begins = np.array([rfind(b"\n", 0, place) for place in places.tolist()], np.int64) + 1
        is_first = np.diff(begins, prepend=-1) != 0
        begins, places = begins[is_first], places[is_first]
        ends = np.array([find(b"\n", place) for place in places.tolist()], np.int64)
        owners, numbers = self._numbered(begins)
        return Lines(owners, numbers, begins, ends, places)

    def places_of_short(self, text: bytes) -> npt.NDArray[np.int64]:
        """Where a short text stands, which has no newline; its places may overlap. The first two bytes cost a pass over the buffer each, so
        that in a dense answer nothing is done place by place."""
        size = -(-self.length // WORD_BYTES) * WORD_BYTES
        codes = np.frombuffer(self.buffer, np.uint8, size + len(text))
        is_place, is_next = self._is_end[:size], self._scratch[:size]
        np.equal(codes[:size], text[0], out=is_place)
        if len(text) > 1:
            np.equal(codes[1 : 1 + size], text[1], out=is_next)
            np.bitwise_and(is_place, is_next, out=is_place)
        # Eight bytes at a time, as most of them hold no place.
        words = np.flatnonzero(is_place.view(np.uint64))
        rows, columns = np.nonzero(is_place.reshape(-1, WORD_BYTES)[words])
        places: npt.NDArray[np.int64] = words[rows] * WORD_BYTES + columns
        for number in range(2, len(text)):
            places = places[codes[places + number] == text[number]]
        return places[places < self.length]

    def places_of(self, begins: Sequence[int]) -> tuple[list[int], list[int]]:
        """For lines of the buffer that begin there, ascending: the candidate and the number of the line in its file."""
        owners, numbers = self._numbered(np.array(begins, np.int64))
        return owners.tolist(), numbers.tolist()

    def _numbered(self, lines: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        size = -(-self.length // WORD_BITS) * WORD_BITS
        is_end = np.equal(np.frombuffer(self.buffer, np.uint8, size), NEWLINE, out=self._is_end[:size])
        words = np.packbits(is_end, bitorder="little").view("<u8")
        before = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.bitwise_count(words), out=before[1:])

        def newlines_before(places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            at = places // WORD_BITS
            rest = np.left_shift(np.uint64(1), (places % WORD_BITS).astype(np.uint64)) - np.uint64(1)
            counted: npt.NDArray[np.int64] = before[at] + np.bitwise_count(words[at] & rest)
            return counted

        starts = np.array(self.begins, np.int64)
        parts = np.searchsorted(starts, lines, side="right") - 1
        numbers = newlines_before(lines) - newlines_before(starts[parts]) + np.array(self.first_lines, np.int64)[parts]
        return np.array(self.owners, np.int64)[parts], numbers
