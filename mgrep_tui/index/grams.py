"""Keeping regex search covered: settling changed files, building base and overlay segments.

A changed file is scanned at every search from the moment it was seen. Once its stat can be trusted it is read here: if a segment holds that
very content already (a touch, a checkout and back), the segment answers for it again; else it is *stale*. A few hundred stale files are
left to the scan; more become an overlay, overlays become one, and when half of the tree has moved the base is built anew. Until then what
another branch held stays in its segment, dead, and the way back to it costs reading the files and no building.
"""

from __future__ import annotations

import heapq
import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass

from mgrep_tui.corpus.changes import SETTLE_NS, is_settled
from mgrep_tui.corpus.read import Reader
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.index import generations
from mgrep_tui.index.context import Context
from mgrep_tui.index.ingest import content_hash
from mgrep_tui.index.manifest import Manifest, SegmentPart
from mgrep_tui.index.segment_job import SegmentChild, SegmentJob
from mgrep_tui.jobs.pool import is_child_fault
from mgrep_tui.jobs.turns import BUILDING
from mgrep_tui.model import Entry, FileStat
from mgrep_tui.ngram.build import SegmentSummary
from mgrep_tui.ngram.segment import Segment

STALE_FILES = 300  # measured: scanning 100 files costs 1.6 ms, 1,000 cost 29 ms
MANY_STALE_FILES = 10 * STALE_FILES  # from here on an overlay does not wait for more
STALE_BYTES = 8_000_000  # 12 ms of scanning at 640 MB/s
MAX_OVERLAYS = 4  # each costs every query a lookup
# With more dead documents, or more stale files, than this share of the base, segments would be mostly ballast. At a tenth each switch
# between branches that differ in 2,000 of 5,000 files built the whole base; at half only the first builds anything, and what differs only.
REBUILD_SHARE = 0.5
REBUILD_FILES = 1_000  # of a small tree half is nothing
SLICE_S = 0.03  # how long the worker reads files before it looks at its inbox
MARGIN_NS = 50_000_000
SOON_NS = 5_000_000_000
FUTURE_S = 60.0  # a file whose time lies in the future is looked at this often


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides about the next segment. Counts are of files; `bytes` is the size of the tree, `stale_bytes` of the stale files."""

    covers: bool
    files: int
    bytes: int
    has_base: bool
    base_files: int
    overlays: int
    dead: int
    stale: int
    stale_bytes: int


def is_small(shape: Shape) -> bool:
    """Whether reading the whole tree at every search costs no more than the stale files of a large one may."""
    return not shape.has_base and shape.files < STALE_FILES and shape.bytes < STALE_BYTES


def next_segment(shape: Shape) -> int | None:
    """From which segment on everything is to be replaced: 0 for a new base, 1 for one overlay instead of many; None for no build."""
    if is_small(shape):
        return None
    if not shape.covers or not shape.has_base:
        return 0
    if shape.stale < STALE_FILES and shape.stale_bytes < STALE_BYTES:
        return None
    if max(shape.dead, shape.stale) > max(REBUILD_FILES, REBUILD_SHARE * shape.base_files):
        return 0
    return 1 if shape.overlays >= MAX_OVERLAYS else shape.overlays + 1


class Grams:
    """The regex side of the writer. Belongs to the index worker's thread."""

    def __init__(
        self,
        context: Context,
        published: Callable[[], Manifest],
        examined: Callable[[bytes, FileStat, bytes], None],
    ) -> None:
        """`published` answers the current state; `examined` hears path, stat and content hash of every settled file read here."""
        self._context = context
        self._published = published
        self._examined = examined
        self.building: int | None = None
        self.parts: list[SegmentPart] = []
        self.job: SegmentJob | None = None
        self._child: SegmentChild | None = None  # for a build that is likely
        self._judged = 0  # how many files were due when it was last looked at whether one is
        self.is_base_job = False
        self._stale: dict[bytes, int] = {}
        self._heap: list[tuple[int, bytes]] = []
        self._due: dict[bytes, int] = {}
        self._failures = 0
        self.rebuild_wanted = False

    # --- settling

    @property
    def unsettled(self) -> int:
        return len(self._due)

    @property
    def stale(self) -> int:
        return len(self._stale)

    def look_at(self, paths: Iterable[bytes]) -> None:
        """These files look different, or their stat could not be trusted: read them when it can."""
        now_ns = time.time_ns()
        for path in paths:
            self._stale.pop(path, None)
            stat = self._context.coverage.stat(path)
            if stat is None:
                self._due.pop(path, None)
                continue
            wait_ns = stat.ctime_ns + SETTLE_NS + MARGIN_NS - now_ns
            if stat.ctime_ns > now_ns + SETTLE_NS:  # the clock was set back
                wait_ns = int(FUTURE_S * 1e9)
            due = now_ns + max(0, wait_ns)
            self._due[path] = due
            heapq.heappush(self._heap, (due, path))
        self._warm_if_likely()
        self._schedule()

    def _soon(self) -> list[bytes]:
        """The files that are to be read within a moment: not those of the future."""
        before = time.time_ns() + SOON_NS
        return [path for path, due in self._due.items() if due < before]

    def _warm_if_likely(self) -> None:
        """Have a child ready when so many files that no segment can hold wait for their stat to settle that they will become an overlay."""
        context = self._context
        if len(self._due) < STALE_FILES:
            self._judged = 0
        if self._child is not None or self.job is not None or len(self._due) < self._judged + STALE_FILES:
            return
        if not context.coverage.covers or context.cancel.is_cancelled:
            return
        self._judged = len(self._due)
        if context.coverage.new_among(self._soon()) < STALE_FILES:
            return
        if not BUILDING.is_wanted() and BUILDING.take(self, lambda: context.loop.post(self.build_if_due)):
            self._child = SegmentJob.warm_child(context.folders.kernels)

    def _schedule(self) -> None:
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        if self._heap:
            delay = max(0.0, (self._heap[0][0] - time.time_ns()) / 1e9)
            self._context.loop.at("settle", min(delay, FUTURE_S), self._settle, sooner=False)

    def _settle(self) -> None:
        """Read what is due, for a moment; the rest comes after whatever else waits."""
        context = self._context
        until = time.monotonic() + SLICE_S
        now_ns = time.time_ns()
        with Reader(context.root) as reader:
            while self._heap and time.monotonic() < until:
                due, path = self._heap[0]
                if self._due.get(path) != due:
                    heapq.heappop(self._heap)
                    continue
                if due > now_ns:
                    break
                heapq.heappop(self._heap)
                del self._due[path]
                self._examine(reader, path)
        self._schedule()
        if not self._heap or self._heap[0][0] > now_ns:
            self.build_if_due()
        context.moved()

    def _examine(self, reader: Reader, path: bytes) -> None:
        coverage = self._context.coverage
        seen = coverage.stat(path)
        if seen is None:
            return
        taken_ns = time.time_ns()
        if not is_settled(seen, taken_ns):
            self.look_at((path,))
            return
        try:
            raw = reader.read(path, self._context.settings.corpus.max_file_bytes)
        except UnreadableError:
            return  # it stays with the scan, which says so; no segment could hold it either
        if raw.stat != seen:
            coverage.observe([(path, raw.stat)])
            self.look_at((path,))
            return
        digest = content_hash(raw.data)
        if coverage.covers and not coverage.confirm(path, raw.stat, digest, taken_ns):
            self._stale[path] = raw.stat.size_bytes
        self._examined(path, raw.stat, digest)

    @property
    def has_failed(self) -> bool:
        """The last build failed."""
        return self._failures > 0

    def forget(self, paths: Iterable[bytes]) -> None:
        for path in paths:
            self._stale.pop(path, None)
            self._due.pop(path, None)

    # --- building

    def build_if_due(self) -> None:
        """Start a build when there is reason for one and none is running."""
        context = self._context
        if self.job is not None or context.cancel.is_cancelled:
            return
        is_amid = len(self._soon()) >= STALE_FILES and len(self._stale) < MANY_STALE_FILES
        if context.coverage.covers and is_amid and not self.rebuild_wanted:
            # The rest of a checkout is still to be read: one segment for all of it.
            if BUILDING.is_wanted():
                self._build_nothing()
            return
        segments = context.coverage.segments
        known = context.coverage.known()
        shape = Shape(
            covers=context.coverage.covers and not self.rebuild_wanted,
            files=len(known),
            bytes=sum(stat.size_bytes for stat in known.values()),
            has_base=bool(segments),
            base_files=segments[0].file_count if segments else 0,
            overlays=max(0, len(segments) - 1),
            dead=context.coverage.dead_count,
            stale=len(self._stale),
            stale_bytes=sum(self._stale.values()),
        )
        if not shape.covers and is_small(shape):
            context.coverage.cover_by_scan()
            self._build_nothing()
            return
        replaces = next_segment(shape)
        if replaces is None:
            if len(self._soon()) < STALE_FILES:
                self._build_nothing()
        elif BUILDING.take(self, lambda: context.loop.post(self.build_if_due)):
            self._start(replaces)

    def _build_nothing(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()
        BUILDING.give(self)

    def _start(self, replaces: int) -> None:
        context = self._context
        known = context.coverage.known()
        if replaces == 0:
            paths: Iterable[bytes] = known
        else:
            paths = (context.coverage.alive(replaces) | self._stale.keys()).intersection(known)
        entries = [Entry(path, known[path]) for path in sorted(paths)]
        generation = generations.next_free(context.folder, self._published())
        stem = generations.relative(generation, "base" if replaces == 0 else "overlay")
        taken_ns = time.time_ns()
        try:
            (context.folder / stem).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._build_nothing()
            self._failed(error)
            return
        child, self._child = self._child, None
        job = SegmentJob(
            context.root,
            entries,
            context.folder / stem,
            memory_mb=context.settings.index.memory_mb,
            limit_bytes=context.settings.corpus.max_file_bytes,
            kernels=context.folders.kernels,
            child=child,
        )
        self.job = job
        self.building = generation
        self.is_base_job = replaces == 0
        self.rebuild_wanted = False
        loop = context.loop
        job.future.add_done_callback(
            lambda _: loop.post(lambda: self._finished(job, stem, generation, taken_ns, replaces))
        )
        context.moved()

    def _finished(self, job: SegmentJob, stem: str, generation: int, taken_ns: int, replaces: int) -> None:
        if self.job is not job:
            return
        self.job = self.building = None
        job.close()
        BUILDING.give(self)
        context = self._context
        try:
            summary: SegmentSummary = job.future.result()
            part = generations.describe_segment(
                context.folder, stem, summary.checksum, summary.files, summary.text_bytes
            )
            segment = Segment.open(context.folder / stem, summary.checksum)
        except CancelledError:
            return
        except Exception as error:
            if not isinstance(error, (MgrepError, OSError)) and not is_child_fault(error):
                log.error("building a segment failed", exc_info=error)
            self._failed(error)
            return
        self._failures = 0
        context.coverage.adopt(segment, taken_ns, replaces=replaces)
        self.parts[replaces:] = [part]
        extra = context.coverage.extra()
        self._stale.clear()
        self.look_at(extra)
        context.publish(0.0)
        context.moved()

    def _failed(self, error: BaseException) -> None:
        """Searches scan or use what is there; try again later, ever more seldom."""
        self._failures += 1
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        what = error.message if isinstance(error, MgrepError) else f"The n-gram index could not be built: {reason}."
        self._context.board.fail(f"{what} Regular expressions are searched by reading the files.")
        delay = min(3600.0, 30.0 * 2**self._failures)
        self._context.loop.at("build", delay, self.build_if_due, sooner=False)
        self._context.moved()

    def close(self) -> None:
        job, self.job = self.job, None
        if job is not None:
            job.close()
        self._build_nothing()
