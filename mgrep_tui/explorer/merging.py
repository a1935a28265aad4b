"""The hits of several roots as one list: ranked together while nobody has seen them, never shuffled afterwards.

Each root sends file groups, best first, and now and then its whole list anew. Until `settle_s` after the first hits the union is put in
order by the groups' scores; from then on what comes is appended, and a root's new list takes the places that the root has already (its new
groups at the end), so that what belongs to other roots stays where it is.
"""

from __future__ import annotations

import itertools
import operator
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from mgrep_tui.model import FileHits, Hit, Hits, Progress, Sink

SETTLE_S = 0.06
PROGRESS_S = 0.1


class Named:
    """The hits of one file of one root, with the root's name before the path; none is made before it is looked at."""

    __slots__ = ("_file", "_prefix", "path", "root", "score", "size")

    def __init__(self, root: int, prefix: bytes, file: FileHits) -> None:
        self.root = root
        self.path = prefix + file.path
        self.score = file.score
        self.size = file.size
        self._prefix = prefix
        self._file = file

    def hit(self, number: int) -> Hit:
        return replace(self._file.hit(number), path=self.path)

    def part(self, start: int, stop: int) -> Named:
        return Named(self.root, self._prefix, self._file.part(start, stop))


class _Made:
    """Hits of one file that were made already."""

    __slots__ = ("_hits",)

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits = hits

    @property
    def path(self) -> bytes:
        return self._hits[0].path

    @property
    def size(self) -> int:
        return len(self._hits)

    @property
    def score(self) -> float:
        """As a search counts it: its best line, and a little for many."""
        return max((hit.score for hit in self._hits), default=0.0) + min(1.0, len(self._hits) / 50)

    def hit(self, number: int) -> Hit:
        return self._hits[number]

    def part(self, start: int, stop: int) -> _Made:
        return _Made(self._hits[start:stop])


def groups_of(hits: Sequence[Hit]) -> Sequence[FileHits]:
    """The hits of each file, in the order in which they come."""
    if isinstance(hits, Hits):
        return hits.groups()
    return [_Made(list(own)) for _, own in itertools.groupby(hits, operator.attrgetter("path"))]


class Merged:
    """The one list. Its sinks may be called from several threads; what it sends goes to `sink` under one lock, in order."""

    def __init__(
        self,
        sink: Sink,
        labels: Sequence[str],
        *,
        is_by_path: bool = False,
        settle_s: float = SETTLE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sink = sink
        self._prefixes = [label.encode("utf-8", "surrogateescape") + b"/" for label in labels]
        self._is_by_path = is_by_path
        self._settle_s = settle_s
        self._clock = clock
        self._lock = threading.Lock()
        self._shown: list[Named] = []
        self._progress: dict[int, Progress] = {}
        self._first = 0.0
        self._told = 0.0
        self._is_closed = False

    def of(self, number: int) -> Sink:
        """The sink of one root, by its place among the labels."""
        return _Of(self, number)

    def close(self) -> None:
        """Nothing is sent any more, whoever still searches."""
        with self._lock:
            self._is_closed = True

    def counts(self) -> tuple[int, int]:
        """Hits and files that are shown."""
        with self._lock:
            return sum(group.size for group in self._shown), len(self._shown)

    def _takes_orders(self) -> bool:
        """Whether nobody has looked at the list yet."""
        now = self._clock()
        self._first = self._first or now
        return now - self._first < self._settle_s

    def add(self, number: int, hits: Sequence[Hit]) -> None:
        if not hits:
            return
        new = [Named(number, self._prefixes[number], group) for group in groups_of(hits)]
        with self._lock:
            if self._is_closed:
                return
            is_open = self._takes_orders()
            if self._is_by_path or (is_open and self._shown):
                ordered = self._ordered([*self._shown, *new])
                is_appended = ordered[: len(self._shown)] == self._shown
                added = ordered[len(self._shown) :]
                self._shown = ordered
                if is_appended:
                    self._sink.batch(Hits(added))
                else:
                    self._sink.replace(Hits(ordered))
                return
            self._shown += new
            self._sink.batch(Hits(new))

    def put(self, number: int, hits: Sequence[Hit]) -> None:
        new = [Named(number, self._prefixes[number], group) for group in groups_of(hits)]
        with self._lock:
            if self._is_closed:
                return
            if self._takes_orders() or self._is_by_path:
                shown = self._ordered([*(group for group in self._shown if group.root != number), *new])
            else:
                coming = iter(new)
                shown = []
                for group in self._shown:
                    if group.root != number:
                        shown.append(group)
                    elif (following := next(coming, None)) is not None:
                        shown.append(following)
                shown.extend(coming)
            self._shown = shown
            self._sink.replace(Hits(shown))

    def tell(self, number: int, progress: Progress) -> None:
        with self._lock:
            self._progress[number] = progress
            now = self._clock()
            if self._is_closed or now - self._told < PROGRESS_S:
                return
            self._told = now
            known = self._progress.values()
            self._sink.progress(Progress(sum(one.searched for one in known), sum(one.total for one in known)))

    def _ordered(self, groups: list[Named]) -> list[Named]:
        if self._is_by_path:
            return sorted(groups, key=lambda group: (group.root, group.path))
        return sorted(groups, key=lambda group: (-group.score, group.root, group.path))


class _Of:
    def __init__(self, merged: Merged, number: int) -> None:
        self._merged = merged
        self._number = number

    def batch(self, hits: Sequence[Hit]) -> None:
        self._merged.add(self._number, hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        self._merged.put(self._number, hits)

    def progress(self, progress: Progress) -> None:
        self._merged.tell(self._number, progress)
