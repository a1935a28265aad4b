"""When the disk is looked at without being asked: when the watcher says so, and now and then in case it was deaf.

Belongs to the index worker's thread, but for what says otherwise. Listings that events ask for are rationed: a build that writes thousands
of files must not keep the indexer busy. The check behind a search is not rationed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mgrep_tui.corpus.walk import Listing
from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.index import inotify
from mgrep_tui.index.context import Context
from mgrep_tui.index.hints import Hinted
from mgrep_tui.index.vigil import Baseline, Vigil
from mgrep_tui.jobs.cancel import CancelToken

REST = 10  # after a listing that took t seconds, events wait for 10 t
REST_LEAST_S = 0.5
TRIES_S = 10.0  # after a listing that failed
# What no event tells of (see `vigil`) is looked for this often, and this long after the last listing when somebody searches. A listing of
# 80,000 files takes 0.4 s.
CALM_S = 900.0
CALM_SEARCHING_S = 60.0
# Where events are not all heard (a network mount, no watch left) the disk is polled: seldom enough to cost less than a hundredth of a core.
POLL_S = 15.0
POLL_SHARE = 100


class Tending:
    """Watches one root, by the means of this system."""

    def __init__(self, context: Context, changed: Callable[[list[bytes]], None]) -> None:
        """`changed` hears, in the worker's thread, of files for which coverage had news."""
        self._context = context
        self._changed = changed
        self._watch: Vigil | None = None
        self._other: Hinted | None = None
        self._next_at = 0.0
        self._listed_at = 0.0
        self._took_s = 0.0

    @property
    def state(self) -> str:
        watch = self._watch or self._other
        return "off; the disk is checked when you search" if watch is None else watch.state

    def start(self) -> None:
        """Begin to watch."""
        loop = self._context.loop

        def changed(news: list[bytes]) -> None:
            loop.post(lambda: self._changed(news))

        def wants_listing() -> None:
            loop.post(self._wants_listing)

        if inotify.is_available():
            context = self._context
            self._watch = Vigil(context.root, context.settings.corpus, context.coverage, changed, wants_listing)
            self._watch.start()
        else:
            self._other = Hinted(self._context, changed, wants_listing)
            self._other.start()

    def stop(self) -> None:
        """Any thread."""
        watch = self._watch or self._other
        if watch is not None:
            watch.stop()

    # --- any thread

    def is_current(self, cancel: CancelToken) -> bool:
        """Whether everything that is on the disk now is known, without a listing. Raises Cancelled."""
        if self._watch is None or not self._watch.is_current(cancel):
            return False
        self._context.loop.post(self._was_searched)
        return True

    def before_listing(self, cancel: CancelToken) -> Baseline | None:
        return None if self._watch is None else self._watch.before_listing(cancel)

    def after_listing(self, listing: Listing, baseline: Baseline | None) -> None:
        if self._watch is not None:
            self._watch.after_listing(listing, baseline)

    # --- the worker's thread

    def sweep(self) -> bool:
        """List the tree now and hand on what is news. Whether it could be listed."""
        context = self._context
        context.loop.drop("sweep")
        try:
            sweep = context.sweeper.sweep(context.cancel)
        except Cancelled:
            return False
        except MgrepError as error:
            context.board.fail(error.message)
            context.loop.at("sweep", TRIES_S, self._sweep_again)
            return False
        now = time.monotonic()
        self._listed_at, self._took_s = now, sweep.elapsed_s
        self._next_at = now + max(REST_LEAST_S, REST * sweep.elapsed_s)
        if self._other is not None:
            self._other.look_over()
        if self._watch is not None or self._other is not None:
            context.loop.at("calm", self._calm_s(), self._sweep_again, sooner=False)
        return True

    def _calm_s(self) -> float:
        watch = self._watch or self._other
        if watch is None or watch.is_whole:
            return CALM_S
        return max(POLL_S, POLL_SHARE * self._took_s)

    def _sweep_again(self) -> None:
        if not self._context.cancel.is_cancelled:
            self.sweep()
            self._context.moved()

    def _wants_listing(self) -> None:
        context = self._context
        if context.cancel.is_cancelled:
            return
        context.loop.at("sweep", max(0.0, self._next_at - time.monotonic()), self._sweep_again)
        context.moved()

    def _was_searched(self) -> None:
        left = self._listed_at + CALM_SEARCHING_S - time.monotonic()
        self._context.loop.at("calm", max(0.0, left), self._sweep_again)
