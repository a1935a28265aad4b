"""Which files the n-gram segments answer for, and which are scanned at every search.

For every file of the tree exactly one of three holds: one document in one segment is alive and has the very bytes of the file (as far as
its stat tells, and its stat can be trusted); or the file is in `extra` and is scanned; or nobody has seen it yet, which the next check
mends. Whoever finds that a file looks different from what was last seen calls `observe`: from then on every snapshot scans it, before the
worker has even looked. Only `confirm` and `adopt` take files out of `extra` again, both for a stat that cannot hide a later write.

All methods may be called from any thread. Snapshots are immutable and cost nothing while nothing changes.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mgrep_tui.corpus.changes import compare, is_settled
from mgrep_tui.corpus.walk import Listing
from mgrep_tui.model import FileStat
from mgrep_tui.ngram.segment import Segment
from mgrep_tui.ngram.snapshot import Snapshot

STATS_AT_ONCE = 16_384
JOURNAL_PATHS = 200_000  # changes that are remembered for searches which began before them

Dead = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Since:
    """What changed after a snapshot; `is_complete` is False when that is not known any more."""

    changed: tuple[bytes, ...]
    deleted: frozenset[bytes]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Disposition:
    """What a published state says beside its segments: dead documents, files to scan, files that were touched but not changed."""

    dead: tuple[Dead, ...] = ()
    extra: tuple[bytes, ...] = ()
    touched: tuple[tuple[bytes, FileStat], ...] = ()


class Coverage:
    """The state of regex search: segments, dead documents, extra files, and what the disk looked like when it was last seen."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._segments: list[Segment] = []
        self._dead: list[Dead] = []
        self._extra: set[bytes] = set()
        self._touched: dict[bytes, FileStat] = {}
        self._known: dict[bytes, FileStat] | None = None
        self._covers = False
        self._version = 1
        self._snapshot: Snapshot | None = None
        self._journal: deque[tuple[int, tuple[bytes, ...], tuple[bytes, ...]]] = deque()
        self._journal_paths = 0
        self._floor = 0  # changes up to this version are forgotten
        self.epoch = 0  # how often all that was known of the disk was given up

    # --- reading

    def snapshot(self) -> Snapshot:
        """The state as a search sees it. While there is no segment, every file that was listed is scanned, without another listing."""
        with self._lock:
            if self._snapshot is None:
                is_listed = not self._covers and not self._segments and self._known is not None
                extra = self._known if is_listed and self._known is not None else self._extra
                dead = []
                for array in self._dead:
                    copy = array.copy()
                    copy.flags.writeable = False
                    dead.append(copy)
                self._snapshot = Snapshot(
                    segments=tuple(self._segments),
                    dead=tuple(dead),
                    extra=tuple(sorted(extra)),
                    covers=self._covers or is_listed,
                    version=self._version,
                )
            return self._snapshot

    def known(self) -> Mapping[bytes, FileStat]:
        """What each file looked like when it was last seen. The mapping is replaced, never changed, by others."""
        with self._lock:
            if self._known is None:
                self._known = self._known_by_segments()
            return self._known

    @property
    def is_known(self) -> bool:
        """Whether `known` is at hand."""
        return self._known is not None

    @property
    def covers(self) -> bool:
        return self._covers

    @property
    def segments(self) -> tuple[Segment, ...]:
        with self._lock:
            return tuple(self._segments)

    def extra(self) -> frozenset[bytes]:
        with self._lock:
            return frozenset(self._extra)

    def is_extra(self, path: bytes) -> bool:
        return path in self._extra

    @property
    def extra_count(self) -> int:
        return len(self._extra)

    @property
    def indexed_count(self) -> int:
        """Files that a segment answers for."""
        with self._lock:
            return sum(int(len(dead) - dead.sum()) for dead in self._dead)

    @property
    def dead_count(self) -> int:
        """Documents that are of no use any more."""
        with self._lock:
            return sum(int(dead.sum()) for dead in self._dead)

    def stat(self, path: bytes) -> FileStat | None:
        return self.known().get(path)

    def new_among(self, paths: Iterable[bytes]) -> int:
        """How many of these files no segment can hold as they are: none has a document of that path and size."""
        known = self.known()
        count = 0
        for path in paths:
            stat = known.get(path)
            places = [(segment, segment.find(path)) for segment in self.segments]
            sizes = [segment.stat(place).size_bytes for segment, place in places if place is not None]
            count += stat is not None and stat.size_bytes not in sizes
        return count

    def since(self, version: int) -> Since:
        """What changed after the snapshot of that version."""
        with self._lock:
            if version < self._floor:
                return Since((), frozenset(), False)
            known = self.known()
            touched: set[bytes] = set()
            for number, changed, deleted in reversed(self._journal):
                if number <= version:
                    break
                touched.update(changed)
                touched.update(deleted)
            present = tuple(sorted(path for path in touched if path in known))
            return Since(present, frozenset(touched.difference(present)), True)

    def disposition(self) -> Disposition:
        """What has to be stored so that `restore` gives this state again."""
        with self._lock:
            dead = tuple(array.copy() for array in self._dead)
            return Disposition(dead, tuple(sorted(self._extra)), tuple(sorted(self._touched.items())))

    # --- changing

    def restore(self, segments: Sequence[Segment], disposition: Disposition) -> None:
        """Begin with a published state. Nothing is known of the disk yet: the first check tells what changed since."""
        with self._lock:
            self._segments = list(segments)
            self._dead = [array.copy() for array in disposition.dead]
            self._extra = set(disposition.extra)
            self._touched = dict(disposition.touched)
            self._known = None
            self.epoch += 1
            self._covers = bool(segments)
            self._next()
            self._forget_journal()

    def clear(self) -> None:
        """No segments: every search scans until a new base is adopted."""
        with self._lock:
            self._segments, self._dead, self._touched = [], [], {}
            self._extra = set()
            self.epoch += 1
            self._covers = False
            self._next()
            self._forget_journal()

    def observe(self, stats: Iterable[tuple[bytes, FileStat]], deleted: Iterable[bytes] = ()) -> list[bytes]:
        """These files look like this now, those are gone. The paths for which that is news."""
        with self._lock:
            known = dict(self.known())
            changed = []
            for path, stat in stats:
                if known.get(path) == stat:
                    continue
                known[path] = stat
                self._touched.pop(path, None)
                self._bury(path)
                self._extra.add(path)
                changed.append(path)
            gone = []
            for path in deleted:
                if known.pop(path, None) is None and path not in self._extra:
                    continue
                self._touched.pop(path, None)
                self._bury(path)
                self._extra.discard(path)
                gone.append(path)
            if changed or gone:
                self._known = known
                self._next()
                self._remember(tuple(changed), tuple(gone))
            return changed + gone

    def reconcile(self, listing: Listing) -> list[bytes]:
        """The disk was listed. The paths for which that is news; of the very first listing where there is no segment, none are."""
        with self._lock:
            if not self._segments and self._known is None:
                self._known = {entry.path: entry.stat for entry in listing.entries}
                self._next()
                return []
        changes = compare(self.known(), listing)
        news: list[bytes] = []
        if changes:
            stats = {entry.path: entry.stat for entry in listing.entries}
            new = [(path, stats[path]) for path in (*changes.added, *changes.changed)]
            news = self.observe(new, changes.deleted)
        with self._lock:
            known = self.known()
            # Files that were to be scanned when the state was published, and are gone since.
            lost = [path for path in self._extra if path not in known]
        if lost:
            news += self.observe((), lost)
        return news

    def confirm(self, path: bytes, stat: FileStat, content_hash: bytes, taken_ns: int) -> bool:
        """The file was read and has this content. True when a segment holds it already and answers for it from now on."""
        with self._lock:
            known = self.known()
            if path not in self._extra:
                return True
            if known.get(path) != stat or not is_settled(stat, taken_ns):
                return False
            for segment, dead in zip(reversed(self._segments), reversed(self._dead), strict=True):
                index = segment.find(path)
                if index is None or segment.content_hash(index) != content_hash:
                    continue
                dead[index] = False
                if segment.stat(index) != stat:
                    self._touched[path] = stat
                self._extra.discard(path)
                self._next()
                return True
            return False

    def adopt(self, segment: Segment, taken_ns: int, *, replaces: int) -> int:
        """Take in a segment whose building began at `taken_ns`, in place of the segments from number `replaces` on (0: all of them).

        Documents that are not what the disk was last seen to hold, or whose stat could hide a later write, stay dead and their files
        stay in `extra`. How many documents are alive.
        """
        paths = segment.paths()
        with self._lock:
            known = self.known()
            homeless = self._homes(replaces)
            if replaces == 0:
                homeless.update(known)
            dead = np.ones(len(paths), np.bool_)
            alive = set()
            for index, (path, stat) in enumerate(zip(paths, _stats(segment), strict=True)):
                seen = known.get(path)
                if seen is None or (path not in self._extra and path not in homeless):
                    continue
                if seen == stat and is_settled(seen, taken_ns):
                    dead[index] = False
                    alive.add(path)
            self._extra = {path for path in self._extra | homeless if path not in alive and path in known}
            for path in alive:
                self._touched.pop(path, None)
            self._segments[replaces:] = [segment]
            self._dead[replaces:] = [dead]
            self._covers = True
            self._next()
            return len(alive)

    def cover_by_scan(self) -> None:
        """The tree is so small that no segment is worth its building: every file that is known is scanned at each search."""
        with self._lock:
            if not self._segments:
                self._extra = set(self.known())
                self._covers = True
                self._next()

    def alive(self, first: int) -> set[bytes]:
        """The files for which the segments from this number on answer."""
        with self._lock:
            return self._homes(first)

    # --- inside, under the lock

    def _next(self) -> None:
        self._version += 1
        self._snapshot = None

    def _bury(self, path: bytes) -> None:
        for segment, dead in zip(self._segments, self._dead, strict=True):
            index = segment.find(path)
            if index is not None:
                dead[index] = True

    def _remember(self, changed: tuple[bytes, ...], deleted: tuple[bytes, ...]) -> None:
        self._journal.append((self._version, changed, deleted))
        self._journal_paths += len(changed) + len(deleted)
        while self._journal_paths > JOURNAL_PATHS and self._journal:
            version, old_changed, old_deleted = self._journal.popleft()
            self._journal_paths -= len(old_changed) + len(old_deleted)
            self._floor = version

    def _forget_journal(self) -> None:
        self._journal.clear()
        self._journal_paths = 0
        self._floor = self._version

    def _homes(self, first: int) -> set[bytes]:
        found: set[bytes] = set()
        for segment, dead in zip(self._segments[first:], self._dead[first:], strict=True):
            paths = segment.paths()
            found.update(paths[index] for index in np.flatnonzero(~dead).tolist())
        return found

    def _known_by_segments(self) -> dict[bytes, FileStat]:
        known: dict[bytes, FileStat] = {}
        for segment, dead in zip(self._segments, self._dead, strict=True):
            all_of_it = zip(segment.paths(), _stats(segment), strict=True)
            known.update(itertools.compress(all_of_it, (~dead).tolist()))
        known.update(self._touched)
        return known


def _stats(segment: Segment) -> Iterator[FileStat]:
    """The stats of all files, some thousand at a time: as Python's numbers those of half a million take 100 MB."""
    for start in range(0, segment.file_count, STATS_AT_ONCE):
        yield from segment.stats_of(slice(start, start + STATS_AT_ONCE))
