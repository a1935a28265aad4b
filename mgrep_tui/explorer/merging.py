"""The hits of several roots as one list: ranked together while nobody has seen them, never shuffled afterwards.

Each root sends file groups, best first, and now and then its whole list anew. Until `settle_s` after the first hits the union is put in
order by the groups' scores; from then on what comes is appended, and a root's new list takes the places that the root has already (its new
groups at the end), so that what belongs to other roots stays where it is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mgrep_tui.model import Hit, Progress, Sink

SETTLE_S = 0.06
PROGRESS_S = 0.1

Group = tuple[Hit, ...]


def groups_of(hits: Iterable[Hit], prefix: bytes) -> list[Group]:
    """The hits of each file together, in the order that they come in; `prefix` is put before their paths."""
    found: list[list[Hit]] = []
    for hit in hits:
        path = prefix + hit.path
        named = replace(hit, path=path)
        if found and found[-1][0].path == path:
            found[-1].append(named)
        else:
            found.append([named])
    return [tuple(group) for group in found]


def score_of(group: Group) -> float:
    """What a file counts, as one root's search counts it: its best line, and a little for many."""
    return max(hit.score for hit in group) + min(1.0, len(group) / 50)


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
        self._shown: list[tuple[int, Group]] = []
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
            return sum(len(group) for _, group in self._shown), len(self._shown)

    def _takes_orders(self) -> bool:
        """Whether nobody has looked at the list yet."""
        now = self._clock()
        self._first = self._first or now
        return now - self._first < self._settle_s

    def add(self, number: int, hits: Sequence[Hit]) -> None:
        if not hits:
            return
        new = [(number, group) for group in groups_of(hits, self._prefixes[number])]
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
                    self._sink.batch(_flat(added))
                else:
                    self._sink.replace(_flat(ordered))
                return
            self._shown += new
            self._sink.batch(_flat(new))

    def put(self, number: int, hits: Sequence[Hit]) -> None:
        new = [(number, group) for group in groups_of(hits, self._prefixes[number])]
        with self._lock:
            if self._is_closed:
                return
            if self._takes_orders() or self._is_by_path:
                shown = self._ordered([*(one for one in self._shown if one[0] != number), *new])
            else:
                coming = iter(new)
                shown = []
                for one in self._shown:
                    if one[0] != number:
                        shown.append(one)
                    elif (following := next(coming, None)) is not None:
                        shown.append(following)
                shown.extend(coming)
            if shown != self._shown:
                self._shown = shown
                self._sink.replace(_flat(shown))

    def tell(self, number: int, progress: Progress) -> None:
        with self._lock:
            self._progress[number] = progress
            now = self._clock()
            if self._is_closed or now - self._told < PROGRESS_S:
                return
            self._told = now
            known = self._progress.values()
            self._sink.progress(Progress(sum(one.searched for one in known), sum(one.total for one in known)))

    def _ordered(self, groups: list[tuple[int, Group]]) -> list[tuple[int, Group]]:
        if self._is_by_path:
            return sorted(groups, key=lambda one: (one[0], one[1][0].path))
        return sorted(groups, key=lambda one: (-score_of(one[1]), one[0], one[1][0].path))


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


def _flat(groups: Sequence[tuple[int, Group]]) -> list[Hit]:
    return [hit for _, group in groups for hit in group]
