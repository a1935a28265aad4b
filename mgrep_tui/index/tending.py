"""From hints to facts: looking at the files that the watcher named, or at the whole disk when it named too much or something unknown.

Belongs to the index worker's thread. Sweeps that hints ask for are rationed: a build that writes thousands of ignored files must not keep
the indexer busy. The check behind a search is not rationed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.index.context import Context
from mgrep_tui.index.watch import Hints, Watcher
from mgrep_tui.model import FileStat

REST = 10  # after a sweep that took t seconds, hints wait for 10 t
REST_LEAST_S = 0.5
NOISE_S = 60.0  # a folder in which a sweep found nothing to search is not swept for again for this long
RULE_NAMES = (b".gitignore", b".ignore", b".mgrepignore", b".mgrep-tui.toml")
SWEEP_TRIES_S = 10.0  # after a sweep that failed


class Tending:
    """What is done with hints."""

    def __init__(self, context: Context, changed: Callable[[Iterable[bytes]], None]) -> None:
        self._context = context
        self._changed = changed
        self._watcher: Watcher | None = None
        self._unknown: set[bytes] = set()
        self._noise: dict[bytes, float] = {}
        self._next_sweep_at = 0.0

    @property
    def state(self) -> str:
        return self._watcher.state if self._watcher is not None else "off; the disk is checked when you search"

    def start(self) -> None:
        """Begin to watch."""
        loop = self._context.loop
        self._watcher = Watcher(self._context.root, lambda hints: loop.post(lambda: self._take(hints)))
        self._watcher.start()

    def stop(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()

    def sweep(self) -> bool:
        """List the tree now and hand on what is news. Whether it could be listed."""
        context = self._context
        try:
            sweep = context.sweeper.sweep(context.cancel)
        except Cancelled:
            return False
        except MgrepError as error:
            context.board.fail(error.message)
            context.loop.at("sweep", SWEEP_TRIES_S, self._sweep_again)
            return False
        self._next_sweep_at = time.monotonic() + max(REST_LEAST_S, REST * sweep.elapsed_s)
        busy = self._busy_folders()
        if self._watcher is not None:
            self._watcher.look_over(busy)
        self._learn_noise(busy)
        return True

    def _busy_folders(self) -> set[bytes]:
        """The folders with files below them, the root itself left out."""
        busy: set[bytes] = set()
        for path in self._context.coverage.known():
            while (path := path.rpartition(b"/")[0]) and path not in busy:
                busy.add(path)
        return busy

    def _sweep_again(self) -> None:
        self.sweep()

    def _take(self, hints: Hints) -> None:
        context = self._context
        if context.cancel.is_cancelled:
            return
        known = context.coverage.known()
        wants_sweep = hints.is_everything
        stats: list[tuple[bytes, FileStat]] = []
        gone: list[bytes] = []
        for path in hints.paths:
            if path.startswith(b".git/"):
                continue  # a checkout's files report themselves
            seen = known.get(path)
            if path.rpartition(b"/")[2] in RULE_NAMES:
                wants_sweep = True
                self._noise.clear()
            if seen is None:
                if not self._is_noise(path):
                    self._unknown.add(path)
                    wants_sweep = True
                continue
            try:
                stat = FileStat.of(os.lstat(context.root.absolute(path)))
            except OSError:
                gone.append(path)
                continue
            if stat != seen:
                stats.append((path, stat))
        if stats or gone:
            news = context.coverage.observe(stats, gone)
            if news:
                self._changed(news)
        if wants_sweep:
            delay = max(0.0, self._next_sweep_at - time.monotonic())
            context.loop.at("sweep", delay, self._sweep_again)
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

    def _learn_noise(self, busy: set[bytes]) -> None:
        """Folders with something that the sweep did not take in, and nothing that it did, are quiet for a while."""
        unknown, self._unknown = self._unknown, set()
        known = self._context.coverage.known()
        folders = {path.rpartition(b"/")[0] for path in unknown if path not in known} - {b""}
        until = time.monotonic() + NOISE_S
        for folder in folders - busy:
            self._noise[folder] = until
