"""An opened segment: find posting lists and documents without reading the files whole.

Opening maps two files and reads 160 + 2 * 32 bytes. The offsets that are found in the files are checked before they are used, so a
damaged file gives `IndexDamagedError` and no crash; bits that changed inside a list are found by `verify`, which reads everything.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import mmap
import os
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.model import FileStat
from mgrep_tui.ngram.evaluate import evaluate
from mgrep_tui.ngram.layout import (
    BUCKETS,
    DOCUMENTS_MAGIC,
    HEADER_BYTES,
    PART_HEADER_BYTES,
    POSTINGS_MAGIC,
    PREFIXES,
    SINGLE,
    SUFFIXES,
    FileKind,
    document_sections,
    lookup_sections,
    pack_part_header,
    unpack_header,
)
from mgrep_tui.ngram.plan import Plan
from mgrep_tui.ngram.positioned import read_at
from mgrep_tui.ngram.postings import Blocks, PostingList
from mgrep_tui.ngram.tables import CHECKSUM_BYTES

Array = npt.NDArray[Any]

_REBUILD = "It is built anew."
_PIECE_BYTES = 1 << 20

MANY_BLOCKS = 1000
"""From here on one table of all blocks' files costs less than a search for each."""


class Segment:
    """One segment, read-only; any number of threads. `close` it, or let it go out of use."""

    def __init__(self, path: Path, checksum: str | None) -> None:
        self.path_prefix = path
        self._files: list[int] = []
        try:
            self._open(path, checksum)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, path: Path, checksum: str | None = None) -> Segment:
        """Open `<path>.lookup` and its two neighbours. Raises `IndexDamagedError` when one is missing, not whole, of another version, or
        not the one that `checksum` (of its `SegmentSummary`) names."""
        return cls(path, checksum)

    def _open(self, path: Path, checksum: str | None) -> None:
        try:
            for suffix in SUFFIXES:
                self._files.append(
                    os.open(f"{path}{suffix}", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
                )
            sizes = tuple(os.fstat(fd).st_size for fd in self._files)
            header = unpack_header(read_at(self._files[0], HEADER_BYTES, 0))
            marks = tuple(read_at(fd, PART_HEADER_BYTES, 0) for fd in self._files[1:])
        except OSError as error:
            raise IndexDamagedError(f"The n-gram index cannot be read: {error.strerror or error}.", _REBUILD) from error
        expected = pack_part_header(POSTINGS_MAGIC, header.identity), pack_part_header(DOCUMENTS_MAGIC, header.identity)
        lookup = lookup_sections(header.keys)
        documents = document_sections(header.files, header.blocks, header.paths_bytes)
        if checksum is not None and checksum != header.identity.hex():
            raise IndexDamagedError("The n-gram index is not the one that was published.", _REBUILD)
        if sizes != header.sizes or marks != expected or (lookup.end, documents.end) != (sizes[0], sizes[2]):
            raise IndexDamagedError("The n-gram index is damaged.", _REBUILD)
        self.header = header
        self._lookup = self._map(self._files[0])
        self._documents = self._map(self._files[2])
        self._suffixes_at = lookup.suffixes
        view = memoryview(self._lookup)
        self._bases = _numbers(view[lookup.bases : lookup.bases + 8 * (BUCKETS + 1)], "Q")
        self._prefixes = _numbers(view[lookup.prefixes : lookup.prefixes + 4 * (PREFIXES + 1)], "I")
        self._values = _numbers(view[lookup.values : lookup.end], "I")
        self._postings_body_bytes = sizes[1] - PART_HEADER_BYTES
        files, blocks = header.files, header.blocks
        self._path_offsets = self._column("<u4", documents.path_offsets, files + 1)
        self._paths_at = documents.paths
        self._stats = self._column("<i8", documents.stats, 4 * files).reshape(files, 4)
        self._hashes_at = documents.hashes
        self.first_blocks = self._column("<u4", documents.first_blocks, files + 1)
        self.kinds = self._column("u1", documents.kinds, files)
        self.block_starts = self._column("<u4", documents.starts, blocks)
        self.block_lengths = self._column("<u4", documents.lengths, blocks)
        self.block_lines = self._column("<u4", documents.lines, blocks)
        self.file_count = files
        self.block_count = blocks

    def _map(self, fd: int) -> mmap.mmap:
        try:
            return mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise IndexDamagedError(f"The n-gram index cannot be mapped: {error}.", _REBUILD) from error

    def _column(self, kind: str, offset: int, count: int) -> Array:
        return np.frombuffer(self._documents, kind, count, offset)

    def close(self) -> None:
        """Give the descriptors back; the mappings go with the last array that looks at them."""
        while self._files:
            os.close(self._files.pop())

    def __del__(self) -> None:
        self.close()

    # Documents

    def path(self, number: int) -> bytes:
        """The path of a file, relative to the root."""
        start, end = int(self._path_offsets[number]), int(self._path_offsets[number + 1])
        if not start <= end <= self.header.paths_bytes:
            raise _damaged()
        return self._documents[self._paths_at + start : self._paths_at + end]

    def paths(self) -> list[bytes]:
        """All paths, ascending; 10 ms for 78,000."""
        blob = self._documents[self._paths_at : self._paths_at + self.header.paths_bytes]
        offsets = self._path_offsets.tolist()
        return [blob[start:end] for start, end in itertools.pairwise(offsets)]

    def paths_of(self, numbers: Array) -> list[bytes]:
        """The paths of these files."""
        starts, ends = self._path_offsets[numbers], self._path_offsets[numbers + 1]
        if len(numbers) and ((starts > ends).any() or int(ends.max()) > self.header.paths_bytes):
            raise _damaged()
        base, documents = self._paths_at, self._documents
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        return [documents[base + start : base + end] for start, end in bounds]

    def stat(self, number: int) -> FileStat:
        """What the file's stat was when it was read."""
        size_bytes, mtime_ns, ctime_ns, inode = self._stats[number].tolist()
        return FileStat(size_bytes, mtime_ns, ctime_ns, inode % (1 << 64))

    def stats(self) -> npt.NDArray[np.int64]:
        """A read-only (files, 4) array of size_bytes, mtime_ns, ctime_ns and the inode as a signed number."""
        return self._stats

    def stats_of(self, numbers: Array | slice) -> Iterator[FileStat]:
        """The stats of these files. Columns become Python's numbers at once: file by file costs five times as much."""
        rows = self._stats[numbers]
        numbers_of = (
            rows[:, 0].tolist(),
            rows[:, 1].tolist(),
            rows[:, 2].tolist(),
            rows[:, 3].astype(np.uint64).tolist(),
        )
        return map(FileStat._make, zip(*numbers_of, strict=True))

    def content_hash(self, number: int) -> bytes:
        """blake2b-128 of the file's raw bytes."""
        start = self._hashes_at + CHECKSUM_BYTES * number
        return self._documents[start : start + CHECKSUM_BYTES]

    def kind(self, number: int) -> FileKind:
        """How the file was read; a file that is not text has no blocks."""
        try:
            return FileKind(int(self.kinds[number]))
        except ValueError:
            raise _damaged() from None

    def find(self, path: bytes) -> int | None:
        """The number of the file with this path."""
        number = bisect_left(range(self.file_count), path, key=self.path)
        return number if number < self.file_count and self.path(number) == path else None

    def blocks_of(self, number: int) -> range:
        """The blocks of a file."""
        first, last = int(self.first_blocks[number]), int(self.first_blocks[number + 1])
        if not first <= last <= self.block_count:
            raise _damaged()
        return range(first, last)

    def files_of(self, blocks: Blocks) -> Array:
        """The number of the file of each of these ascending blocks."""
        if len(blocks) > MANY_BLOCKS:
            return self._owners[blocks]
        owners = np.searchsorted(self.first_blocks, blocks, side="right") - 1
        if len(owners) and not 0 <= int(owners.min()) <= int(owners.max()) < self.file_count:
            raise _damaged()
        return owners

    @functools.cached_property
    def _owners(self) -> Array:
        """The file of each block: made when it is first worth it, 4 bytes a block."""
        firsts = self.first_blocks.astype(np.int64)
        counts = firsts[1:] - firsts[:-1]
        if firsts[0] or firsts[-1] != self.block_count or int(counts.min()) < 0:
            raise _damaged()
        return np.repeat(np.arange(self.file_count, dtype=np.int32), counts)

    def check_blocks(self, blocks: Blocks, owners: Array) -> None:
        """Raise `IndexDamagedError` when one of these blocks ends behind its file."""
        is_raw = self.kinds[owners] <= FileKind.TEXT_BOM
        ends = self.block_starts[blocks].astype(np.int64) + self.block_lengths[blocks]
        if (is_raw & (ends > self._stats[owners, 0])).any():
            raise _damaged()

    # Posting lists

    def candidates(self, plan: Plan) -> Blocks | None:
        """The blocks that can hold a match, ascending; None means all. With `plan.multiline` always all blocks of a file."""
        return evaluate(self, plan)

    def find_list(self, key: int) -> PostingList | None:
        """Where the posting list of a key is, or None when no block has it. About 1 µs."""
        prefix = key >> 8
        first, last = self._prefixes[prefix], self._prefixes[prefix + 1]
        if not first <= last <= self.header.keys:
            raise _damaged()
        place = self._lookup.find(key.to_bytes(4, "little")[:1], self._suffixes_at + first, self._suffixes_at + last)
        if place < 0:
            return None
        place -= self._suffixes_at
        value = self._values[place]
        if value & SINGLE:
            block = value ^ SINGLE
            if block >= self.block_count:
                raise _damaged()
            return PostingList(block, 0, 0)
        bucket = key >> 16
        base = self._bases[bucket]
        start = base + value
        end = self._bases[bucket + 1]
        # The next key of this bucket with a list tells where this one ends.
        for after in range(place + 1, self._prefixes[(bucket + 1) << 8]):
            following = self._values[after]
            if not following & SINGLE:
                end = base + following
                break
        if not start < end <= self._postings_body_bytes:
            raise _damaged()
        return PostingList(-1, start, end - start)

    def read_list(self, found: PostingList) -> bytes:
        """The bytes of a list."""
        content = read_at(self._files[1], found.size_bytes, PART_HEADER_BYTES + found.offset_bytes)
        if len(content) != found.size_bytes:
            raise _damaged()
        return content

    def whole_files(self, found: Blocks) -> Blocks:
        """All blocks of the files that have one of these blocks."""
        if not len(found):
            return found
        files = np.unique(self.files_of(found))
        firsts, lasts = self.first_blocks[files].astype(np.int64), self.first_blocks[files + 1].astype(np.int64)
        counts = lasts - firsts
        if int(counts.min()) < 1 or int(lasts.max()) > self.block_count or not (firsts[1:] >= lasts[:-1]).all():
            raise _damaged()
        starts = np.cumsum(counts) - counts
        return (np.repeat(firsts - starts, counts) + np.arange(int(counts.sum()))).astype(np.uint32)

    def verify(self) -> None:
        """Read all three files and compare their checksums; raises `IndexDamagedError`. About 1 s per GB."""
        bodies = zip(
            self._files,
            (HEADER_BYTES, PART_HEADER_BYTES, PART_HEADER_BYTES),
            self.header.sizes,
            self.header.checksums,
            strict=True,
        )
        for fd, start, size, expected in bodies:
            digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
            for at in range(start, size, _PIECE_BYTES):
                digest.update(read_at(fd, min(_PIECE_BYTES, size - at), at))
            if digest.digest() != expected:
                raise _damaged()


def _numbers(view: memoryview, kind: Literal["I", "Q"]) -> memoryview[int]:
    return view.cast("B").cast(kind)


def _damaged() -> IndexDamagedError:
    return IndexDamagedError("The n-gram index is damaged.", _REBUILD)
