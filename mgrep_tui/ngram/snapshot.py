"""Base and overlay as one: which files can hold a match, over all segments and the files that no segment knows.

For each path the newest segment that has it counts; files that are gone count nowhere; the paths of `extra` are always candidates, whole,
and no segment speaks for them.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mgrep_tui.model import FileStat
from mgrep_tui.ngram.layout import FileKind
from mgrep_tui.ngram.plan import Plan
from mgrep_tui.ngram.postings import Blocks
from mgrep_tui.ngram.segment import Segment

Dead = npt.NDArray[np.bool_]

_MARK_BYTES = 3
_FIRST_AT_ONCE = 32  # so that the first answer does not wait; as many as are put in order before the first is read
_AT_ONCE = 512
_TOGETHER = 32
"""So many blocks that stand in a row become one at most, so that a search in a huge file can be stopped."""


class Block(NamedTuple):
    """A part of a file that starts and ends at lines. `start_byte` counts in the file itself, its byte order mark included."""

    start_byte: int
    length_bytes: int
    first_line: int


class Candidate(NamedTuple):
    """A file to look into: these blocks if its stat is still `stat`, else the whole file. Without `blocks`: the whole file.

    A tuple, as is `Block`: they are made by the ten thousand, and a frozen class costs twice the time.
    """

    path: bytes
    stat: FileStat | None
    blocks: tuple[Block, ...] | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the index knows at one moment. `segments` from the oldest to the newest, `dead` one array a segment (True: not to be used).

    `extra` is sorted, each path once: it may be the whole tree, and every search asks for it. `covers` says that every file of the corpus
    is in a segment or in `extra`. `version` is the index's own count.
    """

    segments: tuple[Segment, ...] = ()
    dead: tuple[Dead, ...] = ()
    extra: tuple[bytes, ...] = ()
    covers: bool = False
    version: int = 0

    def candidates(self, plan: Plan) -> Candidates:
        """The files that can hold a match, by path. The grams are looked up now, the files are described while iterating."""
        parts = tuple(
            _Part(segment, *_alive_blocks(segment, dead, plan))
            for segment, dead in zip(self.segments, self.dead, strict=True)
        )
        return Candidates(parts, self.extra)


@dataclass(frozen=True, slots=True)
class _Part:
    """The candidates of one segment: file numbers, ascending; their blocks in `blocks[bounds[i]:bounds[i + 1]]`, or None for all."""

    segment: Segment
    files: npt.NDArray[np.int64]
    blocks: Blocks | None
    bounds: npt.NDArray[np.int64] | None

    def __iter__(self) -> Iterator[Candidate]:
        start, size = 0, _FIRST_AT_ONCE
        while start < len(self.files):
            yield from self._described(start, min(len(self.files), start + size))
            start, size = start + size, _AT_ONCE

    def _described(self, start: int, stop: int) -> Iterable[Candidate]:
        """The candidates start … stop - 1. Columns become Python's numbers at once: one by one costs five times as much."""
        segment = self.segment
        files = self.files[start:stop]
        paths, stats = segment.paths_of(files), segment.stats_of(files)
        if self.blocks is None or self.bounds is None:
            return map(Candidate._make, zip(paths, stats, itertools.repeat(None)))
        bounds = self.bounds[start : stop + 1] - self.bounds[start]
        chosen = self.blocks[self.bounds[start] : self.bounds[stop]]
        # Neighbours are read as one.
        is_first = np.diff(chosen, prepend=0) != 1
        is_first |= chosen % _TOGETHER == 0
        is_first[bounds[:-1]] = True
        firsts = np.flatnonzero(is_first)
        lengths = np.add.reduceat(segment.block_lengths[chosen], firsts)
        chosen, bounds = chosen[firsts], np.append(np.searchsorted(firsts, bounds[:-1]), len(firsts))
        kinds = segment.kinds[files]
        starts = segment.block_starts[chosen].astype(np.int64)
        if (kinds == FileKind.TEXT_BOM).any():
            starts += np.repeat(np.where(kinds == FileKind.TEXT_BOM, _MARK_BYTES, 0), np.diff(bounds))
        numbers = zip(
            starts.tolist(),
            lengths.tolist(),
            segment.block_lines[chosen].tolist(),
            strict=True,
        )
        blocks = tuple(map(Block._make, numbers))
        ends = bounds.tolist()
        own: list[tuple[Block, ...] | None] = [blocks[first:last] for first, last in itertools.pairwise(ends)]
        for number in np.flatnonzero(kinds == FileKind.TRANSCODED).tolist():
            own[number] = None
        return map(Candidate._make, zip(paths, stats, own, strict=True))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Files to look into, by path, each once. Iterate as often as you like."""

    parts: tuple[_Part, ...]
    extra: tuple[bytes, ...]

    def __len__(self) -> int:
        return sum(len(part.files) for part in self.parts) + len(self.extra)

    @property
    def indexed_count(self) -> int:
        """How many of them a segment chose; the others are scanned because no segment knows them."""
        return len(self) - len(self.extra)

    def __iter__(self) -> Iterator[Candidate]:
        streams: list[Iterable[Candidate]] = [part for part in self.parts if len(part.files)]
        if self.extra:
            streams.append(Candidate(path, None, None) for path in self.extra)
        if len(streams) == 1:
            return iter(streams[0])
        return heapq.merge(*streams, key=lambda candidate: candidate.path)


def make_snapshot(
    segments: Sequence[Segment],
    *,
    gone: Iterable[bytes] = (),
    extra: Iterable[bytes] = (),
    covers: bool = False,
    version: int = 0,
) -> Snapshot:
    """A snapshot whose `dead` arrays follow from the rules above: `gone` and `extra` paths, and paths that a newer segment has."""
    dead = [np.zeros(segment.file_count, np.bool_) for segment in segments]
    extra = tuple(sorted(set(extra)))
    hidden = {*gone, *extra}
    for place in range(len(segments) - 1, -1, -1):
        for path in hidden:
            number = segments[place].find(path)
            if number is not None:
                dead[place][number] = True
        if place:
            hidden.update(segments[place].paths())
    for array in dead:
        array.flags.writeable = False
    return Snapshot(tuple(segments), tuple(dead), extra, covers, version)


def _alive_blocks(
    segment: Segment, dead: Dead, plan: Plan
) -> tuple[npt.NDArray[np.int64], Blocks | None, npt.NDArray[np.int64] | None]:
    found = segment.candidates(plan)
    if found is None or plan.multiline:
        wanted = (segment.kinds < FileKind.BINARY) & ~dead
        if found is not None:
            has_block = np.zeros(segment.file_count, np.bool_)
            has_block[segment.files_of(found)] = True
            wanted &= has_block
        return np.flatnonzero(wanted), None, None
    owners = segment.files_of(found)
    segment.check_blocks(found, owners)
    alive = ~dead[owners]
    if not alive.all():
        found, owners = found[alive], owners[alive]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    return owners[starts], found, np.append(starts, len(owners))
