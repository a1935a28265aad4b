"""From watchdog's hints to facts: looking at the files that it named, or asking for a listing when it named too much or something unknown.

Belongs to the index worker's thread. On Linux `Vigil` does this, and more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from mgrep_tui.index.context import Context
from mgrep_tui.index.vigil import folders_of
from mgrep_tui.index.watch import Hints, Watcher
from mgrep_tui.model import FileStat

NOISE_S = 60.0  # a folder in which a listing found nothing to search is not listed for again for this long
RULE_NAMES = (b".gitignore", b".ignore", b".mgrepignore", b".mgrep-tui.toml")


class Hinted:
    """The watcher of systems other than Linux, and what is done with what it says."""

    is_whole = True  # as far as it can be known

    def __init__(
        self, context: Context, changed: Callable[[list[bytes]], None], wants_listing: Callable[[], None]
    ) -> None:
        self._context = context
        self._changed = changed
        self._wants_listing = wants_listing
        self._unknown: set[bytes] = set()
        self._noise: dict[bytes, float] = {}
        loop = context.loop
        self._watcher = Watcher(context.root, lambda hints: loop.post(lambda: self._take(hints)))

    @property
    def state(self) -> str:
        return self._watcher.state

    def start(self) -> None:
        self._watcher.start()

    def stop(self) -> None:
        self._watcher.stop()

    def look_over(self) -> None:
        """The tree was listed."""
        known = self._context.coverage.known()
        busy = folders_of(known)
        self._watcher.look_over()
        unknown, self._unknown = self._unknown, set()
        folders = {path.rpartition(b"/")[0] for path in unknown if path not in known} - {b""}
        until = time.monotonic() + NOISE_S
        for folder in folders - busy:
            self._noise[folder] = until

    def _take(self, hints: Hints) -> None:
        context = self._context
        if context.cancel.is_cancelled:
            return
        known = context.coverage.known()
        wants_listing = hints.is_everything
        stats: list[tuple[bytes, FileStat]] = []
        gone: list[bytes] = []
        for path in hints.paths:
            if path.startswith(b".git/"):
                continue  # a checkout's files report themselves
            seen = known.get(path)
            if path.rpartition(b"/")[2] in RULE_NAMES:
                wants_listing = True
                self._noise.clear()
            if seen is None:
                if not self._is_noise(path):
                    self._unknown.add(path)
                    wants_listing = True
                continue
            try:
                stat = FileStat.of(os.lstat(context.root.absolute(path)))
            except OSError:
                gone.append(path)
                continue
            if stat != seen:
                stats.append((path, stat))
        news = context.coverage.observe(stats, gone) if stats or gone else []
        if news:
            self._changed(news)
        if wants_listing:
            self._wants_listing()
        context.moved()

    def _is_noise(self, path: bytes) -> bool:
        now = time.monotonic()
        while path:
            path = path.rpartition(b"/")[0]
            until = self._noise.get(path)
            if until is not None:
                if until > now:
                    return True
                del self._noise[path]
        return False
