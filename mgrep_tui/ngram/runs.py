"""Files → keys: read the files in batches, cut them into blocks, spill the keys of each batch, divided into buckets, to a temporary file.

Two threads take batches in turn; only reading and bookkeeping hold the interpreter's lock. What is spilled costs 2.1 bytes a posting.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from mgrep_tui.corpus.decode import searchable
from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, FileStat, Skip, SkipReason
from mgrep_tui.ngram import kernels
from mgrep_tui.ngram.layout import FileKind
from mgrep_tui.ngram.positioned import write_at
from mgrep_tui.ngram.tables import CHECKSUM_BYTES, tables

BLOCK_BYTES = 6 << 10
"""Measured on Linux with grams of at most 6 bytes: 8 KB take 26.9 % of the text and leave a median of 5.0 MB to read, 6 KB 29.3 %
and 3.6."""

PIECE_BYTES = 2 << 20
"""What one thread holds at a time: a batch of files, or a piece of a longer file."""

OVERLAP_BYTES = 64
"""Pieces of one long line overlap by this much: more than the longest gram before folding (8 characters of 4 bytes)."""

_BIG_FILE_BYTES = 4 << 20
"""Files from here on are read by one thread at a time."""

Array = npt.NDArray[Any]


@dataclass(slots=True)
class Documents:
    """What was seen of each entry, by its number; `kinds` is -1 where the file could not be read."""

    stats: Array
    hashes: Array
    kinds: Array
    block_counts: Array

    @classmethod
    def of(cls, count: int) -> Documents:
        return cls(
            np.zeros((count, 4), np.int64),
            np.zeros((count, CHECKSUM_BYTES), np.uint8),
            np.full(count, -1, np.int16),
            np.zeros(count, np.uint32),
        )


@dataclass(slots=True)
class Run:
    """A spilled set of keys: bucket b is at `offset_bytes` + offsets[b] of the spill file, with sizes[b] keys.

    `pieces` holds the block of each piece, counted from the first block of its batch.
    """

    offset_bytes: int
    offsets: Array
    sizes: Array
    pieces: Array


@dataclass(slots=True)
class Batch:
    """The blocks and runs of a consecutive range of entries."""

    starts: Array
    lengths: Array
    lines: Array
    runs: list[Run] = field(default_factory=list)
    text_bytes: int = 0


@dataclass(slots=True)
class _Workspace:
    """The arrays of one thread, kept: buffers that come and go leave holes in the heap."""

    text: Array
    keys: Array
    scratch: Array
    out: Array
    seen: Array

    @classmethod
    def fresh(cls) -> _Workspace:
        # 2 keys a byte is the worst case; only touched pages take memory.
        room = PIECE_BYTES + BLOCK_BYTES
        return cls(
            np.empty(room, np.uint8),
            np.empty(2 * room, np.uint32),
            np.empty(room, np.uint8),
            np.empty(0, np.uint8),
            np.zeros(kernels.SEEN_SLOTS, np.uint32),
        )


class Extraction:
    """One pass over all entries. `run()` returns the batches in the order of the entries; `documents` and `skips` are filled meanwhile."""

    def __init__(
        self,
        root: Root,
        entries: Sequence[Entry],
        spill: IO[bytes],
        *,
        limit_bytes: int,
        threads: int,
        report: Callable[[int, int], None],
        cancel: CancelToken,
    ) -> None:
        self.documents = Documents.of(len(entries))
        self.skips: list[Skip] = []
        self._root = root
        self._entries = entries
        self._limit_bytes = limit_bytes
        self._threads = threads
        self._spill_fd = spill.fileno()
        self._spill_ends = 0
        self._report = report
        self._cancel = cancel
        self._done = 0
        self._lock = threading.Lock()
        self._big_file = threading.Lock()
        found = tables()
        self._weights = np.frombuffer(found.weights, np.uint16)
        self._folds = np.arange(max(found.folds) + 1, dtype=np.uint32)
        self._folds[list(found.folds)] = list(found.folds.values())
        self._failed = threading.Event()

    def run(self) -> list[Batch]:
        ranges = list(_batches(self._entries))
        results: list[Batch | None] = [None] * len(ranges)
        turn = itertools.count()

        def work() -> None:
            workspace = _Workspace.fresh()
            while (number := next(turn)) < len(ranges) and not self._failed.is_set():
                self._cancel.check()
                results[number] = self._batch(*ranges[number], workspace)

        with ThreadPoolExecutor(min(self._threads, max(1, len(ranges)))) as pool:
            futures = [pool.submit(self._guarded, work) for _ in range(min(self._threads, max(1, len(ranges))))]
        for future in futures:
            future.result()
        self.skips.sort(key=lambda skip: skip.path)
        return [batch for batch in results if batch is not None]

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException:
            self._failed.set()
            raise

    def _batch(self, first: int, last: int, workspace: _Workspace) -> Batch:
        texts: list[bytes] = []
        numbers: list[int] = []
        if last - first == 1 and self._entries[first].stat.size_bytes > _BIG_FILE_BYTES:
            with self._big_file, Reader(self._root) as reader:
                self._read(reader, first, texts, numbers)
                batch = self._spill_batch(texts, numbers, workspace)
        else:
            with Reader(self._root) as reader:
                for number in range(first, last):
                    self._read(reader, number, texts, numbers)
            batch = self._spill_batch(texts, numbers, workspace)
        with self._lock:
            self._done += last - first
            self._report(self._done, len(self._entries))
        return batch

    def _read(self, reader: Reader, number: int, texts: list[bytes], numbers: list[int]) -> None:
        entry = self._entries[number]
        if entry.stat.size_bytes > self._limit_bytes:
            detail = f"{entry.stat.size_bytes / 1e6:,.0f} MB, limit {self._limit_bytes / 1e6:,.0f} MB"
            self.skips.append(Skip(entry.path, SkipReason.TOO_BIG, detail))
            self._note(number, entry.stat, FileKind.TOO_BIG)
            return
        try:
            raw = reader.read(entry.path, self._limit_bytes)
        except UnreadableError as error:
            self.skips.append(Skip(entry.path, SkipReason.UNREADABLE, error.message))
            return
        digest = hashlib.blake2b(raw.data, digest_size=CHECKSUM_BYTES).digest()
        self.documents.hashes[number] = np.frombuffer(digest, np.uint8)
        text = searchable(raw.data)
        if text is None:
            self._note(number, raw.stat, FileKind.BINARY)
            self.skips.append(Skip(entry.path, SkipReason.BINARY))
            return
        if not text.is_raw:
            self._note(number, raw.stat, FileKind.TRANSCODED)
        else:
            self._note(number, raw.stat, FileKind.TEXT_BOM if text.shift_bytes else FileKind.TEXT)
        texts.append(text.data)
        numbers.append(number)

    def _note(self, number: int, stat: FileStat, kind: FileKind) -> None:
        self.documents.stats[number] = stat.size_bytes, stat.mtime_ns, stat.ctime_ns, as_signed(stat.inode)
        self.documents.kinds[number] = kind

    def _spill_batch(self, texts: list[bytes], numbers: list[int], workspace: _Workspace) -> Batch:
        joined = _joined(texts, workspace)
        room = len(texts) + 2 * (len(joined) // BLOCK_BYTES) + 1
        batch = Batch(
            np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(room, np.uint32), text_bytes=len(joined)
        )
        positions = np.empty(room, np.int64)
        count = 0
        begin = 0
        for text, number in zip(texts, numbers, strict=True):
            end = begin + len(text)
            made = kernels.split_blocks(
                joined, begin, end, BLOCK_BYTES, batch.starts[count:], batch.lengths[count:], batch.lines[count:]
            )
            positions[count : count + made] = batch.starts[count : count + made] + np.int64(begin)
            self.documents.block_counts[number] = made
            count += made
            begin = end
        batch.starts, batch.lengths, batch.lines = batch.starts[:count], batch.lengths[:count], batch.lines[:count]
        for pieces in _pieces(joined, positions[:count], batch.lengths):
            batch.runs.append(self._spill_run(joined, *pieces, workspace))
        return batch

    def _spill_run(self, joined: Array, starts: Array, ends: Array, blocks: Array, workspace: _Workspace) -> Run:
        counts = np.empty(len(starts), np.int64)
        keys = int(
            kernels.extract(
                joined,
                starts,
                ends,
                self._weights,
                self._folds,
                workspace.scratch,
                workspace.seen,
                workspace.keys,
                counts,
            )
        )
        room = 2 * keys + kernels.BUCKETS * len(starts) + keys // 255
        if len(workspace.out) < room:
            workspace.out = np.empty(room, np.uint8)
        offsets = np.empty(kernels.BUCKETS + 1, np.int64)
        sizes = np.empty(kernels.BUCKETS, np.int64)
        size = int(kernels.divide(workspace.keys, counts, offsets, sizes, workspace.out))
        with self._lock:
            at = self._spill_ends
            self._spill_ends += size
        write_at(self._spill_fd, workspace.out.data[:size], at)
        return Run(at, offsets.astype(np.uint32), sizes.astype(np.uint32), blocks)


def _joined(texts: list[bytes], workspace: _Workspace) -> Array:
    """The texts one after another."""
    if len(texts) == 1:
        return np.frombuffer(texts[0], np.uint8)
    size = sum(map(len, texts))
    whole = workspace.text[:size] if size <= len(workspace.text) else np.empty(size, np.uint8)
    at = 0
    for text in texts:
        whole[at : at + len(text)] = np.frombuffer(text, np.uint8)
        at += len(text)
    return whole


def as_signed(inode: int) -> int:
    """An inode number as 64 signed bits."""
    return inode - (1 << 64) if inode >> 63 else inode


def _batches(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """Consecutive ranges of entries of at most `PIECE_BYTES`, a longer file alone."""
    ranges: list[tuple[int, int]] = []
    first = 0
    size = 0
    for number, entry in enumerate(entries):
        if number > first and (size + entry.stat.size_bytes > PIECE_BYTES or number - first == 1024):
            ranges.append((first, number))
            first, size = number, 0
        size += entry.stat.size_bytes
    if first < len(entries):
        ranges.append((first, len(entries)))
    return ranges


def _pieces(joined: Array, positions: Array, lengths: Array) -> list[tuple[Array, Array, Array]]:
    """Groups of pieces (starts, ends, block numbers), each group at most `PIECE_BYTES`, a longer line in overlapping pieces."""
    starts: list[int] = []
    ends: list[int] = []
    blocks: list[int] = []
    groups: list[tuple[Array, Array, Array]] = []
    size = 0

    def close() -> None:
        nonlocal size
        if starts:
            groups.append((np.array(starts, np.int64), np.array(ends, np.int64), np.array(blocks, np.uint32)))
        starts.clear()
        ends.clear()
        blocks.clear()
        size = 0

    if int(lengths.sum()) <= PIECE_BYTES:
        if len(positions):
            groups.append((positions.copy(), positions + lengths, np.arange(len(positions), dtype=np.uint32)))
        return groups
    for block, (position, length) in enumerate(zip(positions.tolist(), lengths.tolist(), strict=True)):
        end = position + length
        start = position
        while start < end:
            stop = start + PIECE_BYTES
            stop = end if stop >= end else _character_before(joined, stop)
            if size + stop - start > PIECE_BYTES:
                close()
            starts.append(start)
            ends.append(stop)
            blocks.append(block)
            size += stop - start
            start = end if stop == end else _character_before(joined, stop - OVERLAP_BYTES)
    close()
    return groups


def _character_before(joined: Array, at: int) -> int:
    """The start of the character at or before `at`, so that a piece is folded as the whole line is."""
    for back in range(4):
        if joined[at - back] & 0xC0 != 0x80:
            return at - back
    return at
