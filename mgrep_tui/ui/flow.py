"""From what is typed to what is shown: when a search starts, which one counts, and what becomes of its hits.

All methods belong to the screen's thread. Each search has an epoch; what an older one still sends is dropped. Typing waits for a pause,
everything else starts at once. The old hits stay until the new search has its first ones or is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Explorer, Search, SearchOptions
from mgrep_tui.model import Hit, Mode, Outcome, Progress
from mgrep_tui.ui.inbox import Inbox
from mgrep_tui.ui.results import Results

DEBOUNCE_S = 0.1
# When the last search had its first hits sooner than this, the pause is only so much of it: longer than between two letters of a fast
# typist (30 ms), so that a word still is one search or two.
QUICK_SEARCH_S = 0.05
QUICK_PAUSE = 0.5
# When the last search took longer than this, the pause grows to as much as `DEBOUNCE_MAX_S`.
SLOW_SEARCH_S = 0.2
DEBOUNCE_MAX_S = 0.2
# Old hits are dimmed, and "searching" is said, only when the answer takes longer than this.
DIM_AFTER_S = 0.12
SAY_AFTER_S = 0.2
# The list is not painted more often than this while hits stream in.
PAINT_EVERY_S = 0.03
UNDO_KEPT = 200


@dataclass(frozen=True, slots=True)
class Ask:
    """A query with all that belongs to it."""

    text: str = ""
    mode: Mode = Mode.SEMANTIC
    options: SearchOptions = field(default_factory=SearchOptions)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and self.options.like is None


class Stoppable(Protocol):
    def stop(self) -> None: ...


class Host(Protocol):
    """The screen, as the flow sees it."""

    def after(self, seconds: float, call: Callable[[], None]) -> Stoppable:
        """Call later in the screen's thread."""

    def post(self, call: Callable[[], None]) -> None:
        """Call soon in the screen's thread; from any thread."""

    def results_replaced(self, results: Results) -> None: ...

    def results_grown(self, has_moved: bool) -> None: ...

    def results_old(self) -> None:
        """The search takes a while: what is shown is of an older query."""

    def state_changed(self) -> None:
        """Anything else has changed: searching, progress, outcome, error."""


class Flow:
    """The current query and its search."""

    def __init__(self, explorer: Explorer, host: Host, ask: Ask, debounce_s: float = DEBOUNCE_S) -> None:
        self.ask = ask
        self.results = Results(ask.mode)
        self.shown_ask: Ask | None = None  # the query whose hits are shown
        self._asked = ask  # the query of the search that runs, or ran last: the person may have typed on since
        self.outcome: Outcome | None = None
        self.error: MgrepError | None = None
        self.progress: Progress | None = None
        self.is_slow = False  # it has been searching long enough to say so
        self._explorer = explorer
        self._host = host
        self._debounce_s = debounce_s
        self._epoch = 0
        self._search: Search | None = None
        self._inbox: Inbox | None = None
        self._has_first = False
        self._is_same = False  # it is the query whose hits are shown already
        self._is_quiet = False
        self._behind: Results | None = None
        self._started = 0.0
        self._started_ns = 0
        self.shown_ns = 0  # when the search began whose hits are shown, as `time.time_ns`
        self._is_timed = True
        self._first_s = 0.0
        self._is_refined = False  # what is shown is in its best order
        self._painted = 0.0
        self._waiting: Stoppable | None = None
        self._timers: list[Stoppable] = []
        self._undo: list[Ask] = []

    @property
    def epoch(self) -> int:
        return self._epoch

    @property
    def is_searching(self) -> bool:
        return self._search is not None

    @property
    def is_refining(self) -> bool:
        """The hits are there, and a better order of them is on its way."""
        return self._search is not None and self._has_first and self.ask.mode is Mode.SEMANTIC

    @property
    def first_s(self) -> float:
        """How long the last search took until its first hits, or until its end without any."""
        return self._first_s

    @property
    def is_idle(self) -> bool:
        return self._search is None and self._waiting is None

    # --- changes of the query

    def typed(self, text: str) -> None:
        """The text was edited by keys: search after a pause."""
        if text == self.ask.text:
            return
        self.ask = replace(self.ask, text=text)
        if self.ask.is_empty:
            self.search()
            return
        pause = self._debounce_s
        if self._first_s < QUICK_SEARCH_S:
            pause *= QUICK_PAUSE
        elif self._first_s > SLOW_SEARCH_S:
            pause = max(pause, min(DEBOUNCE_MAX_S, self._first_s))
        self._stop_waiting()
        if self._has_first:
            # What its search has not found by now nobody waits for: the key is echoed, and the next search begins, sooner without it.
            self._end()
        if pause > 0:
            self._waiting = self._host.after(pause, self.search)
        else:
            self.search()

    def change(self, ask: Ask, *, is_refinement: bool = False) -> None:
        """Take another query, at once. A refinement can be undone."""
        if ask == self.ask and self._waiting is None:
            return
        if is_refinement:
            self._undo.append(self.ask)
            del self._undo[:-UNDO_KEPT]
        self.ask = ask
        self.search()

    def undo(self) -> Ask | None:
        """The query before the last refinement, which is taken; None when there is none."""
        if not self._undo:
            return None
        self.ask = self._undo.pop()
        self.search()
        return self.ask

    def hurry(self) -> None:
        """Do not wait for a pause in typing any longer."""
        if self._waiting is not None:
            self.search()

    # --- the search

    def search(self, *, is_quiet: bool = False) -> None:
        """Start the search of the current query now, in place of any other. A quiet one is not asked for by the person: it says nothing."""
        self.stop()
        self._is_quiet = is_quiet
        self._epoch += 1
        self.error = None
        if self.ask.is_empty:
            self.outcome = None
            self.shown_ask = None
            self._has_first = False
            self._show(Results(self.ask.mode, self._epoch))
            self._host.state_changed()
            return
        self._is_same = self.ask == self.shown_ask
        epoch, ask = self._epoch, self.ask
        self._asked = ask
        self._has_first = False
        self._started = time.monotonic()
        self._started_ns = time.time_ns()
        self._is_timed = False
        inbox = Inbox(lambda: self._host.post(lambda: self._woken(epoch)))
        self._inbox = inbox
        self._timers = [
            self._host.after(DIM_AFTER_S, lambda: self._late(epoch)),
            self._host.after(SAY_AFTER_S, lambda: self._slow(epoch)),
        ]
        try:
            self._search = self._explorer.search(ask.text, ask.mode, epoch, inbox, ask.options, inbox.finish)
        except MgrepError as error:
            self._finish(None, error)
        self._host.state_changed()

    def stop(self) -> None:
        """Stop what runs or waits. What has been found stays."""
        self._stop_waiting()
        self._end()

    def _end(self) -> None:
        """Be done with the search that runs, and with nothing else: a pause in typing may be under way to the next one."""
        for timer in self._timers:
            timer.stop()
        self._timers = []
        if self._search is not None:
            self._search.cancel()
            self._search = None
        self._inbox = None
        self._behind = None
        self._is_same = False
        self.is_slow = False
        self.progress = None

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None

    def _late(self, epoch: int) -> None:
        if epoch == self._epoch and self._search is not None and not self._has_first and not self._is_same:
            self._host.results_old()

    def _slow(self, epoch: int) -> None:
        """Of a quiet search only that its hits are still being put in order, since what is told of them is of the one before."""
        if epoch == self._epoch and self._search is not None and (not self._is_quiet or self._has_first):
            self.is_slow = True
            self._host.state_changed()

    def _woken(self, epoch: int) -> None:
        if epoch != self._epoch:
            return
        wait = self._painted + PAINT_EVERY_S - time.monotonic()
        if self._has_first and wait > 0:
            self._timers.append(self._host.after(wait, lambda: self._drain(epoch)))
        else:
            self._drain(epoch)

    def _drain(self, epoch: int) -> None:
        if epoch != self._epoch or self._inbox is None:
            return
        taken = self._inbox.take()
        self._painted = time.monotonic()
        self.progress = taken.progress or self.progress
        if taken.hits or taken.is_anew:
            self._take_hits(taken.hits, is_anew=taken.is_anew)
        if taken.is_done and self._behind is not None:
            self._show(self._behind)
        if taken.is_done:
            self._finish(taken.outcome, taken.error)
        self._host.state_changed()

    def _take_hits(self, hits: Sequence[Hit], *, is_anew: bool) -> None:
        """Add hits to the list. The same query once more is laid out behind the screen, so that the list does not shrink and grow, nor
        leave its best order for a quick one."""
        self._note_first()
        if self._is_same and (self.ask.mode is Mode.REGEX or self._is_refined):
            if self._behind is None or is_anew:
                self._behind = Results(self.ask.mode, self._epoch)
            self._behind.extend(hits)
        elif is_anew or not self._has_first:
            results = Results(self.ask.mode, self._epoch)
            results.extend(hits)
            self._show(results)
        else:
            self._host.results_grown(self.results.extend(hits))

    def _note_first(self) -> None:
        if not self._is_timed:
            self._is_timed = True
            self._first_s = time.monotonic() - self._started

    def _show(self, results: Results) -> None:
        self._has_first = True
        if self._search is not None and time.monotonic() - self._started > SAY_AFTER_S:
            self.is_slow = True
        self._behind = None
        self._is_refined = False
        self.results = results
        self.shown_ns = self._started_ns
        if not self.ask.is_empty:
            self.shown_ask = self._asked
        self._host.results_replaced(results)

    def _finish(self, outcome: Outcome | None, error: MgrepError | None) -> None:
        self._note_first()
        self._end()
        self.error = error
        if error is not None:
            self._host.results_old()  # they stay, marked as those of the query before
            return
        self.outcome = outcome
        if not self._has_first:
            self._show(Results(self.ask.mode, self._epoch))
        self._is_refined = outcome is not None and "deep" in outcome.engine
