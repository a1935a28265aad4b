"""Building an n-gram segment in a child process, which alone loads numba, and hearing how far it is."""

from __future__ import annotations

import functools
import itertools
import marshal
import multiprocessing
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, overload

from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.pool import ChildPool
from mgrep_tui.model import Entry, FileStat
from mgrep_tui.ngram.build import SegmentSummary, build_segment

LIMIT_S = 3_600.0  # a segment of a tree that no laptop holds
PACKED_ENTRIES = 8_192  # some 5 ms each, so that a key never waits longer
PARTS_AT_ONCE = 4  # two threads read, each a batch of files that may lie in two parts

_progress: Any = None


def _begin(progress: Any) -> None:
    global _progress
    _progress = progress


def packed(entries: Sequence[Entry]) -> list[bytes]:
    """The entries for another process. Pickled one by one they cost the interface five times as much."""
    source = iter(entries)
    parts = []
    while part := list(itertools.islice(source, PACKED_ENTRIES)):
        parts.append(marshal.dumps([(path, tuple(stat)) for path, stat in part]))
    return parts


class Unpacked(Sequence[Entry]):
    """What was `packed`, unpacked a part at a time: half a million entries at once take 180 MB. Any thread."""

    def __init__(self, parts: Sequence[bytes], count: int) -> None:
        self._parts = parts
        self._count = count
        self._part = functools.lru_cache(PARTS_AT_ONCE)(self._unpack)

    def _unpack(self, number: int) -> list[Entry]:
        return [Entry(path, FileStat(*stat)) for path, stat in marshal.loads(self._parts[number])]

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Entry: ...

    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...

    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._count))]
        if not 0 <= index < self._count:
            raise IndexError(index)
        part, place = divmod(index, PACKED_ENTRIES)
        return self._part(part)[place]


def _build(
    root: Root, parts: Sequence[bytes], count: int, out_path: Path, memory_bytes: int, limit_bytes: int, kernels: Path
) -> SegmentSummary:
    def report(done: int, total: int) -> None:
        _progress[0] = done

    return build_segment(
        root,
        Unpacked(parts, count),
        out_path,
        memory_bytes=memory_bytes,
        limit_bytes=limit_bytes,
        report=report,
        kernel_cache=kernels,
        is_sorted=True,
    )


def _warm(kernels: Path) -> None:
    """Choose the folder of the kernels, and load each of them."""
    from mgrep_tui.ngram import warm

    with tempfile.TemporaryDirectory(prefix="mgrep-tui-") as folder:
        build_segment(Root(Path(folder)), (), Path(folder) / "base", kernel_cache=kernels)
    warm.main()


class SegmentChild:
    """A process for one build."""

    def __init__(self) -> None:
        self.progress: Any = multiprocessing.get_context("spawn").RawArray("Q", 1)
        self.pool = ChildPool(1, initializer=_begin, initargs=(self.progress,))

    def close(self) -> None:
        self.pool.close()


class SegmentJob:
    """One build. `start`, `close` from the index worker's thread; `done` may be read from any."""

    def __init__(
        self,
        root: Root,
        entries: Sequence[Entry],
        out_path: Path,
        *,
        memory_mb: int,
        limit_bytes: int,
        kernels: Path,
        child: SegmentChild | None = None,
    ) -> None:
        """`entries` are by path. `child` is one that was warmed, and is closed with the job."""
        self.total = len(entries)
        self._child = child or SegmentChild()
        self.future: Future[SegmentSummary] = self._child.pool.submit(
            _build,
            root,
            packed(entries),
            len(entries),
            out_path,
            memory_mb << 20,
            limit_bytes,
            kernels,
            timeout_s=LIMIT_S,
        )

    @staticmethod
    def warm_child(kernels: Path) -> SegmentChild:
        """A child before there is a build to do: loading numba and the kernels takes it half a second."""
        child = SegmentChild()
        child.pool.submit(_warm, kernels, timeout_s=LIMIT_S)
        return child

    @property
    def done(self) -> int:
        """Files read so far."""
        return int(self._child.progress[0])

    def close(self) -> None:
        """End the child, whatever it is doing. What it left half-written has a temporary name and is collected."""
        self._child.close()
