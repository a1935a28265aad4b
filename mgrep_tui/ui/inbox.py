"""Carries a search's hits from its thread to the screen's: many calls on one side, few and bounded ones on the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mgrep_tui.errors import MgrepError
from mgrep_tui.model import Hit, Hits, Outcome, Progress

# So many hits are taken over in one go: 20,000 rows take about 10 ms, so that a key never waits longer.
TAKEN_AT_ONCE = 8_192


@dataclass(frozen=True, slots=True)
class Taken:
    """What came since the last time. With `is_anew` the hits replace all before them. `is_done` comes with the last hits only."""

    hits: Sequence[Hit]
    is_anew: bool
    progress: Progress | None
    is_done: bool
    outcome: Outcome | None
    error: MgrepError | None


class Inbox:
    """The sink of one search. `wake` is called from the search's thread, once until the next `take`."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._is_woken = False
        self._waiting: list[Sequence[Hit]] = []
        self._is_anew = False
        self._progress: Progress | None = None
        self._is_done = False
        self._outcome: Outcome | None = None
        self._error: MgrepError | None = None

    # --- the search's side

    def batch(self, hits: Sequence[Hit]) -> None:
        with self._lock:
            self._waiting.append(hits)
        self._call()

    def replace(self, hits: Sequence[Hit]) -> None:
        with self._lock:
            self._waiting = [hits]
            self._is_anew = True
        self._call()

    def progress(self, progress: Progress) -> None:
        with self._lock:
            self._progress = progress
        self._call()

    def finish(self, outcome: Outcome | None, error: MgrepError | None) -> None:
        with self._lock:
            self._is_done, self._outcome, self._error = True, outcome, error
        self._call()

    def _call(self) -> None:
        with self._lock:
            if self._is_woken:
                return
            self._is_woken = True
        self._wake()

    # --- the screen's side

    def take(self) -> Taken:
        """What came, at most `TAKEN_AT_ONCE` hits; when more are left, `wake` is called again at once."""
        with self._lock:
            hits = self._taken()
            has_more = bool(self._waiting)
            taken = Taken(
                hits,
                self._is_anew,
                self._progress,
                self._is_done and not has_more,
                None if has_more else self._outcome,
                None if has_more else self._error,
            )
            self._is_anew = False
            self._progress = None
            self._is_woken = has_more
        if has_more:
            self._wake()
        return taken

    def _taken(self) -> Sequence[Hit]:
        """What comes next, as it came: hits that nobody has looked at are not made here either."""
        taken: list[Sequence[Hit]] = []
        left = TAKEN_AT_ONCE
        while self._waiting and left > 0:
            hits = self._waiting.pop(0)
            if len(hits) > left:
                self._waiting.insert(0, hits[left:])
                hits = hits[:left]
            left -= len(hits)
            taken.append(hits)
        return Hits.joined(taken)
