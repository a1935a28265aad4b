"""What the list shows: hits grouped by file, turned into rows. Pure, and quick with a hundred thousand hits.

Hits are numbered in the order of their arrival; rows are in the order of display. A row is a file's heading, a hit's first line or its
second. The cursor stands on hits only.
"""

from __future__ import annotations

import enum
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

from mgrep_tui.model import Hit, Mode, files_of


class RowKind(enum.Enum):
    FILE = "file"
    HIT = "hit"
    LINE = "line"


@dataclass(slots=True)
class Group:
    """The hits of a file, by number."""

    path: bytes
    hits: list[int] = field(default_factory=list)


HitKey = tuple[bytes, int, int]


def key_of(hit: Hit) -> HitKey:
    """What tells hits apart, also between two searches."""
    return (hit.path, hit.line, hit.column)


class KeptHits(Sequence[Hit]):
    """Hits by number, of all batches. Each is made when it is first looked at, and stays."""

    def __init__(self) -> None:
        self._batches: list[Sequence[Hit]] = []
        self._starts: list[int] = []
        self._length = 0
        self._made: dict[int, Hit] = {}

    def add(self, hits: Sequence[Hit]) -> None:
        if hits:
            self._batches.append(hits)
            self._starts.append(self._length)
            self._length += len(hits)

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, index: int) -> Hit: ...

    @overload
    def __getitem__(self, index: slice) -> list[Hit]: ...

    def __getitem__(self, index: int | slice) -> Hit | list[Hit]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._length))]
        number = index + self._length if index < 0 else index
        made = self._made.get(number)
        if made is None:
            if not 0 <= number < self._length:
                raise IndexError(index)
            at = bisect_right(self._starts, number) - 1
            made = self._made[number] = self._batches[at][number - self._starts[at]]
        return made


class Results:
    """The hits of one epoch. Not thread-safe: the screen's thread only."""

    def __init__(self, mode: Mode = Mode.SEMANTIC, epoch: int = 0) -> None:
        self.mode = mode
        self.epoch = epoch
        self.hits = KeptHits()
        self.groups: list[Group] = []
        self._group_at: dict[bytes, int] = {}
        # A row is ~group for a heading, else hit * 2 + (1 for the second line).
        self._rows: list[int] = []
        self._row_of: list[int] = []  # by hit: its first row
        self._order: list[int] = []  # hits in order of display
        self._place_of: list[int] = []  # by hit: its place in the order

    @property
    def lines_per_hit(self) -> int:
        return 2 if self.mode is Mode.SEMANTIC else 1

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def __len__(self) -> int:
        return len(self.hits)

    def extend(self, hits: Sequence[Hit]) -> bool:
        """Add hits behind; a file that is there already gets them at its end. True when rows before the end have moved.

        None of the hits is made for it (see `model.Hits`).
        """
        has_moved = False
        number = len(self.hits)
        self.hits.add(hits)
        for path, count in files_of(hits):
            at = self._group_at.get(path)
            if at is None:
                at = len(self.groups)
                self._group_at[path] = at
                self.groups.append(Group(path))
                if not has_moved:
                    self._rows.append(~at)
            if at != len(self.groups) - 1:
                has_moved = True
            self.groups[at].hits.extend(range(number, number + count))
            if not has_moved:
                self._place(number, count)
            number += count
        if has_moved:
            self._lay_out()
        return has_moved

    def _place(self, number: int, count: int) -> None:
        """Lay out so many hits from this one on, at the end."""
        lines = self.lines_per_hit
        row, place = len(self._rows), len(self._order)
        self._row_of.extend(range(row, row + lines * count, lines))
        self._place_of.extend(range(place, place + count))
        self._order.extend(range(number, number + count))
        self._rows.extend(range(number * 2, (number + count) * 2, 3 - lines))

    def _lay_out(self) -> None:
        second = self.lines_per_hit == 2
        self._rows = rows = []
        order: list[int] = []
        self._order = order
        self._row_of = [0] * len(self.hits)
        self._place_of = [0] * len(self.hits)
        for at, group in enumerate(self.groups):
            rows.append(~at)
            for number in group.hits:
                self._row_of[number] = len(rows)
                self._place_of[number] = len(order)
                order.append(number)
                rows.append(number * 2)
                if second:
                    rows.append(number * 2 + 1)

    def row(self, index: int) -> tuple[RowKind, int]:
        """What is on a row: a heading with its group's number, or a line with its hit's number."""
        code = self._rows[index]
        if code < 0:
            return RowKind.FILE, ~code
        return (RowKind.LINE if code & 1 else RowKind.HIT), code >> 1

    def row_of(self, number: int) -> int:
        """The first row of a hit."""
        return self._row_of[number]

    def rows_of(self, number: int) -> range:
        first = self._row_of[number]
        return range(first, first + self.lines_per_hit)

    def heading_of(self, number: int) -> int:
        """The row of the heading above a hit."""
        group = self.group_of(number)
        return self._row_of[group.hits[0]] - 1

    def group_of(self, number: int) -> Group:
        return self.groups[self._group_at[self.hits[number].path]]

    def hits_of(self, path: bytes) -> list[Hit]:
        """All hits of a file, in order of display."""
        at = self._group_at.get(path)
        return [] if at is None else [self.hits[number] for number in self.groups[at].hits]

    def count_of(self, path: bytes) -> int:
        at = self._group_at.get(path)
        return 0 if at is None else len(self.groups[at].hits)

    def hits_around(self, path: bytes, line: int, most: int) -> list[Hit]:
        """The hits of a file, or so many of them on the lines around this one: to make all of ten thousand takes a tenth of a second."""
        at = self._group_at.get(path)
        if at is None:
            return []
        numbers = self.groups[at].hits
        if len(numbers) > most:
            # By line, but for the definitions, which come first.
            place = bisect_left(numbers, line, key=lambda number: self.hits[number].line)
            first = max(0, min(place - most // 2, len(numbers) - most))
            numbers = numbers[first : first + most]
        return [self.hits[number] for number in numbers]

    def at_row(self, index: int) -> int | None:
        """The hit on a row, or under a heading."""
        if not 0 <= index < len(self._rows):
            return None
        kind, number = self.row(index)
        return self.groups[number].hits[0] if kind is RowKind.FILE else number

    def moved(self, number: int, by: int) -> int:
        """The hit `by` places further, kept within the list."""
        place = min(max(self._place_of[number] + by, 0), len(self._order) - 1)
        return self._order[place]

    def first(self) -> int | None:
        return self._order[0] if self._order else None

    def last(self) -> int | None:
        return self._order[-1] if self._order else None

    def place_of(self, number: int) -> int:
        """The 0-based place of a hit in the order of display."""
        return self._place_of[number]

    def file_moved(self, number: int, by: int) -> int:
        """The first hit of the file `by` groups further. Moving back from inside a file goes to its first hit first."""
        at = self._group_at[self.hits[number].path]
        if by < 0 and self.groups[at].hits[0] != number:
            by += 1
        at = min(max(at + by, 0), len(self.groups) - 1)
        return self.groups[at].hits[0]

    def find(self, key: HitKey) -> int | None:
        """The number of the hit with this key, else of the one on the same line, else None."""
        at = self._group_at.get(key[0])
        if at is None:
            return None
        same_line = None
        for number in self.groups[at].hits:
            hit = self.hits[number]
            if hit.line == key[1]:
                if hit.column == key[2]:
                    return number
                same_line = number if same_line is None else same_line
        return same_line
