"""Looking at the whole disk: one walk at a time, shared by everybody who asked before it began.

An answer is only worth something when its walk began after the question was asked. So whoever asks while a walk is running waits for the
next one; all of these share it. The walk runs in the thread of one of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from mgrep_tui.corpus.walk import Listing
from mgrep_tui.jobs.cancel import CancelToken

LOOK_S = 0.05  # how often somebody who waits looks at his own cancel token


@dataclass(frozen=True, slots=True)
class Sweep:
    """What one walk found. Times are of `time.monotonic` and, `began_ns`, of `time.time_ns`."""

    number: int
    listing: Listing
    began_ns: int
    elapsed_s: float
    changed: tuple[bytes, ...]


class Sweeper:
    """Runs walks. `sweep` may be called from any thread."""

    def __init__(self, walk: Callable[[CancelToken], Listing], absorb: Callable[[Listing], list[bytes]]) -> None:
        """`walk` lists the tree; `absorb` is told of each listing once, before anybody gets it, and answers what was news."""
        self._walk = walk
        self._absorb = absorb
        self._condition = threading.Condition()
        self._running = False
        self._begun = 0  # walks begun
        self._last: Sweep | None = None
        self.checked_at: float | None = None

    def sweep(self, cancel: CancelToken) -> Sweep:
        """A walk that began after this call. Raise `Cancelled`, and what `walk` raises in the thread that ran it."""
        with self._condition:
            wanted = self._begun + 1
            while True:
                cancel.check()
                if self._last is not None and self._last.number >= wanted:
                    return self._last
                if not self._running:
                    self._running = True
                    self._begun += 1
                    number = self._begun
                    break
                self._condition.wait(LOOK_S)
        done: Sweep | None = None
        try:
            began_ns, began = time.time_ns(), time.monotonic()
            listing = self._walk(cancel)
            cancel.check()
            changed = self._absorb(listing)
            done = Sweep(number, listing, began_ns, time.monotonic() - began, tuple(changed))
            return done
        finally:
            with self._condition:
                self._running = False
                if done is not None:
                    self._last = done
                    self.checked_at = time.time()
                self._condition.notify_all()

    def note_checked(self) -> None:
        """The disk was found to be as it was last listed, without listing it again."""
        self.checked_at = time.time()

    def drop(self) -> None:
        """Let go of the last listing: it is 20 MB for 80,000 files."""
        with self._condition:
            if self._last is not None and not self._running:
                self._last = None
