"""Who may have child processes: when several roots are open, a few at a time, so that memory does not grow with their number.

Turns are given in the order in which they were asked for. Whoever holds one for long while others wait gives it back between two pieces of
work and asks again, so that a large root never holds up a small one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SLICE_S = 15.0


class Turns:
    """At most `count` owners at a time. Any thread."""

    def __init__(self, count: int, slice_s: float = SLICE_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._slice_s = slice_s
        self._clock = clock
        self._lock = threading.Lock()
        self._since: dict[int, float] = {}
        self._waiting: dict[int, Callable[[], None]] = {}

    def take(self, owner: object, wake: Callable[[], None]) -> bool:
        """Whether `owner` has a turn now. If not, it stands in the queue, and `wake` is called (from any thread) when it has one."""
        with self._lock:
            if id(owner) in self._since:
                return True
            if len(self._since) < self._count and not self._waiting:
                self._since[id(owner)] = self._clock()
                return True
            self._waiting.setdefault(id(owner), wake)
            return False

    def has(self, owner: object) -> bool:
        with self._lock:
            return id(owner) in self._since

    def is_over(self, owner: object) -> bool:
        """Whether `owner` has had its turn for long and others wait."""
        with self._lock:
            since = self._since.get(id(owner))
            return since is not None and bool(self._waiting) and self._clock() - since >= self._slice_s

    def is_wanted(self) -> bool:
        """Whether anybody waits."""
        with self._lock:
            return bool(self._waiting)

    def give(self, owner: object) -> None:
        """`owner` needs no turn any more, nor a place in the queue."""
        woken: Callable[[], None] | None = None
        with self._lock:
            self._waiting.pop(id(owner), None)
            self._since.pop(id(owner), None)
            if self._waiting and len(self._since) < self._count:
                following = next(iter(self._waiting))
                woken = self._waiting.pop(following)
                self._since[following] = self._clock()
        if woken is not None:
            woken()


# Children that parse and embed hold some 200 MB each, the one that builds grams what `index.memory_mb` says.
PARSING = Turns(2)
BUILDING = Turns(1)
