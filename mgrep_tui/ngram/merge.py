"""Keys → posting lists: bring the runs of one bucket together, bucket after bucket, and write lookup and postings.

Two threads merge ahead; the caller's thread writes in the order of the buckets, so that no more than a few buckets are ever in memory.
"""

from __future__ import annotations

import hashlib
import itertools
import queue
import tempfile
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.ngram import kernels
from mgrep_tui.ngram.layout import BUCKETS, HEADER_BYTES, PART_HEADER_BYTES, PREFIXES, lookup_sections
from mgrep_tui.ngram.positioned import read_at
from mgrep_tui.ngram.runs import Batch
from mgrep_tui.ngram.tables import CHECKSUM_BYTES

Array = npt.NDArray[Any]

_COPY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Merged:
    """What was written: sizes with headers, checksums of the bodies."""

    keys: int
    lookup_bytes: int
    lookup_checksum: bytes
    postings_bytes: int
    postings_checksum: bytes


@dataclass(frozen=True, slots=True)
class _Bucket:
    names: Array
    values: Array
    lists: Array


@dataclass(frozen=True, slots=True)
class _Workspace:
    """What one thread needs for the largest bucket; only touched pages take memory."""

    raw: Array
    ordered: Array
    names: Array
    values: Array
    lists: Array

    @classmethod
    def fresh(cls, raw_bytes: int, postings: int, bitmap_bytes: int) -> _Workspace:
        keys = min(postings, PREFIXES)
        return cls(
            np.empty(raw_bytes, np.uint8),
            np.empty(postings, np.uint32),
            np.empty(keys, np.uint16),
            np.empty(keys, np.uint32),
            np.empty(5 * postings + bitmap_bytes, np.uint8),
        )


class _Sources:
    """The runs of all batches as arrays, and how to read one bucket of them."""

    def __init__(self, batches: Sequence[Batch], spill: IO[bytes], threads: int) -> None:
        runs = [run for batch in batches for run in batch.runs]
        bases = np.cumsum([0] + [len(batch.starts) for batch in batches])
        self.blocks = int(bases[-1])
        pieces = [
            run.pieces + np.uint32(base) for batch, base in zip(batches, bases, strict=False) for run in batch.runs
        ]
        self._piece_blocks = np.concatenate(pieces) if pieces else np.empty(0, np.uint32)
        self._piece_counts = np.array([len(piece) for piece in pieces], np.int64)
        self._first_pieces = np.cumsum(self._piece_counts) - self._piece_counts
        self._offsets = np.array([run.offsets for run in runs], np.int64).reshape(len(runs), BUCKETS + 1)
        self._sizes = np.array([run.sizes for run in runs], np.int64).reshape(len(runs), BUCKETS)
        self._at = [run.offset_bytes for run in runs]
        self._fd = spill.fileno()

        most = int(self._sizes.sum(axis=0).max(initial=0))
        most_bytes = int((self._offsets[:, 1:] - self._offsets[:, :-1]).sum(axis=0).max(initial=0))
        self._bitmap_bytes = (self.blocks + 7) // 8
        self._spare: queue.SimpleQueue[_Workspace] = queue.SimpleQueue()
        for _ in range(threads):
            self._spare.put(_Workspace.fresh(most_bytes, most, self._bitmap_bytes))

    def merge(self, bucket: int) -> _Bucket:
        """The lists of one bucket; at most as many threads at once as were announced."""
        space = self._spare.get()
        try:
            return self._merge(bucket, space)
        finally:
            self._spare.put(space)

    def _merge(self, bucket: int, space: _Workspace) -> _Bucket:
        offsets = self._offsets[:, bucket]
        lengths = self._offsets[:, bucket + 1] - offsets
        starts = np.cumsum(lengths) - lengths
        view = space.raw.data
        for at, offset, start, length in zip(
            self._at, offsets.tolist(), starts.tolist(), lengths.tolist(), strict=True
        ):
            part = read_at(self._fd, length, at + offset)
            if len(part) != length:
                raise OSError("the spill file of the n-gram index has been cut short")
            view[start : start + length] = part
        count, size = kernels.merge_bucket(
            space.raw,
            starts,
            np.ascontiguousarray(self._sizes[:, bucket]),
            self._first_pieces,
            self._piece_blocks,
            self._piece_counts,
            self._bitmap_bytes,
            space.ordered,
            space.names,
            space.values,
            space.lists,
        )
        return _Bucket(space.names[:count].copy(), space.values[:count].copy(), space.lists[:size].copy())


def merge(
    batches: Sequence[Batch],
    spill: IO[bytes],
    lookup: IO[bytes],
    postings: IO[bytes],
    threads: int,
    cancel: CancelToken,
) -> Merged:
    """Write the bodies of both files; their headers are left blank. Raises OSError and `Cancelled`."""
    sources = _Sources(batches, spill, threads)
    bases = np.zeros(BUCKETS + 1, np.uint64)
    in_prefix = np.zeros(PREFIXES + 1, np.int64)
    suffixes: list[Array] = []
    postings.write(bytes(PART_HEADER_BYTES))
    postings_sum = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
    ahead: deque[Future[_Bucket]] = deque()
    with tempfile.TemporaryFile(dir=Path(lookup.name).parent) as values, ThreadPoolExecutor(threads) as pool:
        try:
            for bucket in range(BUCKETS + threads):
                cancel.check()
                if bucket < BUCKETS:
                    ahead.append(pool.submit(sources.merge, bucket))
                if bucket < threads:
                    continue
                done = ahead.popleft().result()
                number = bucket - threads
                postings.write(done.lists.data)
                postings_sum.update(done.lists.data)
                bases[number + 1] = bases[number] + np.uint64(len(done.lists))
                in_prefix[(number << 8) + 1 : (number << 8) + 257] = np.bincount(done.names >> 8, minlength=256)
                suffixes.append((done.names & 0xFF).astype(np.uint8))
                values.write(done.values.astype("<u4").data)
        finally:
            for future in ahead:
                future.cancel()
        keys = sum(len(part) for part in suffixes)
        lookup_sum = _write_lookup(lookup, keys, bases, np.cumsum(in_prefix), suffixes, values)
    return Merged(
        keys, lookup_sections(keys).end, lookup_sum, PART_HEADER_BYTES + int(bases[-1]), postings_sum.digest()
    )


def _write_lookup(
    lookup: IO[bytes], keys: int, bases: Array, prefixes: Array, suffixes: list[Array], values: IO[bytes]
) -> bytes:
    """Write the file after a blank header; returns the checksum of its body. The values, most of it, come from a file: memory."""
    sections = lookup_sections(keys)
    digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
    at = HEADER_BYTES
    lookup.write(bytes(at))
    values.seek(0)
    parts: tuple[tuple[int, Iterable[bytes | memoryview]], ...] = (
        (sections.bases, [bases.astype("<u8").data.cast("B")]),
        (sections.prefixes, [prefixes.astype("<u4").data.cast("B")]),
        (sections.suffixes, [part.data for part in suffixes]),
        (sections.values, iter(lambda: values.read(_COPY_BYTES), b"")),
        (sections.end, []),
    )
    for start, contents in parts:
        for content in itertools.chain([bytes(start - at)], contents):
            lookup.write(content)
            digest.update(content)
            at += len(content)
    return digest.digest()
