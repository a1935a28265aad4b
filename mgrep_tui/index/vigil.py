"""Knows, on Linux, whether anything under the root can have changed since the disk was last listed, without listing it again.

The argument. Every folder that counts is watched (`corpus.watchable`), each before it was listed. After the last watch was set, the tree
was listed once more: the *baseline*. The kernel queues an event before the call that caused it returns, so an emptied queue holds nothing
back. Therefore, when the queue is empty, every event since the baseline is accounted for, and the files that decide from outside (git's
index, configuration, excludes) look as they did, a new listing would be the old one. An event of a known file is accounted for by looking
at that file; anything else (a new name that the rules do not leave out, a folder that moved, a rule that changed) asks for a listing.

In doubt there is no baseline: after an overflow, while folders are being watched, when one with files could not be, when the file system
is not this machine's own (`corpus.mounts`), when a folder has two names, when the root was moved, when too many files have further names.

What inotify does not see, and only a listing finds: writes through a memory map until it is closed, asynchronous writes of old kernels
until the file is closed, writes through a name that a file got after the baseline where nothing is watched, writes of another machine
through a file server here, a disk written past its file system. For these the tree is listed now and then even when all is well
(`Tending`).
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mgrep_tui.corpus.deciders import Deciders, Look, deciders_of, look_at
from mgrep_tui.corpus.mounts import Mounts
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import Listing
from mgrep_tui.corpus.watchable import visit_folders
from mgrep_tui.errors import Cancelled
from mgrep_tui.index.coverage import Coverage
from mgrep_tui.index.hearing import Hearing
from mgrep_tui.index.looking import Looker
from mgrep_tui.index.watched import Watched
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import CorpusSettings

QUIET_S = 0.05  # events are gathered until none came for this long
GATHER_S = 0.5  # but never longer than this
MAX_LINKED = 500  # files with further names are looked at one by one, 2 µs each
REST = 10  # after watching everything for t seconds, it is not done again for 10 t
REST_LEAST_S = 1.0
RETRY_S = 60.0  # after a failure
LOOK_S = 0.05
_CHECKED = "the disk is checked when you search"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A listing that began when every folder was watched. `need` counts what asked for a listing before it, `epoch` is coverage's."""

    need: int
    epoch: int
    index: Look


class Vigil:
    """One root. `start` and `stop` from one thread; `is_current`, `before_listing` and `after_listing` from any."""

    def __init__(
        self,
        root: Root,
        settings: CorpusSettings,
        coverage: Coverage,
        changed: Callable[[list[bytes]], None],
        wants_listing: Callable[[], None],
    ) -> None:
        """`changed` hears, on any thread, of files for which coverage had news; `wants_listing` that only a listing can tell."""
        self._root = root
        self._settings = settings
        self._coverage = coverage
        self._changed = changed
        self._wants_listing = wants_listing
        self._base = os.path.join(os.fsencode(root.path), b"")
        self._lock = threading.Lock()
        self._watched: Watched | None = None
        self._hearing: Hearing | None = None  # there while every folder is watched
        self._looker = Looker(root, settings, coverage)
        self._mounts: Mounts | None = None
        self._identity: tuple[int, int] | None = None
        self._deciders = Deciders()
        self._rules = Look((), 0)
        self._deaf = 0
        self._compared: tuple[object, int] = (None, 0)
        self._need = 0
        self._baseline: Baseline | None = None
        self._while_listing: set[bytes] | None = None
        self._is_lost = False
        self._failure = ""
        self._not_before = 0.0
        self._pipe_lock = threading.Lock()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._stopping = CancelToken()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    # --- said

    @property
    def state(self) -> str:
        """For people: `watching`, or what is wrong and what that means."""
        watched, mounts = self._watched, self._mounts
        if self._failure:
            return f"off: {self._failure}; {_CHECKED}"
        if mounts is not None and mounts.foreign:
            return f"polling: {mounts.foreign} does not report every change; {_CHECKED}"
        if watched is None or mounts is None:
            return f"starting; {_CHECKED}"
        if self._is_lost:
            return "watching, but events were lost; the disk is being checked"
        if self._deaf:
            why = ": the limit of watches is reached" if watched.is_exhausted else ""
            return f"watching, but for {self._deaf:,} folders{why}; {_CHECKED}"
        if watched.has_alias:
            return f"watching, but a folder has two names; {_CHECKED}"
        if len(self._looker.linked) > MAX_LINKED:
            return f"watching, but {len(self._looker.linked):,} files have further names; {_CHECKED}"
        return "watching"

    @property
    def is_whole(self) -> bool:
        """Whether every change is heard of as it happens; else the disk should be looked at now and then."""
        mounts, watched = self._mounts, self._watched
        return (
            not self._failure
            and not self._deaf
            and (mounts is None or not mounts.foreign)
            and (watched is None or not (watched.has_alias or watched.is_exhausted))
            and len(self._looker.linked) <= MAX_LINKED
        )

    # --- the proof

    def is_current(self, cancel: CancelToken) -> bool:
        """Whether coverage knows everything that was on the disk when this was called. 0.2 ms when nothing moved. Raises Cancelled."""
        news: list[bytes] = []
        try:
            with self._held(cancel):
                return self._is_current(cancel, news)
        finally:
            if news:
                self._changed(news)

    def _is_current(self, cancel: CancelToken, news: list[bytes]) -> bool:
        hearing, baseline, mounts = self._hearing, self._baseline, self._mounts
        if hearing is None or mounts is None or not self.is_whole:
            return False
        if mounts.have_moved() or self._identity_now() != self._identity:
            self._begin_anew()
            return False
        if not self._take_in(hearing, cancel) or not self._rules.holds(self._deciders.rules):
            self._begin_anew()
            return False
        news += self._look(hearing)
        return (
            baseline is not None
            and baseline.need == self._need
            and baseline.epoch == self._coverage.epoch
            and baseline.index.holds(self._deciders.index)
        )

    def before_listing(self, cancel: CancelToken) -> Baseline | None:
        """Call before a listing begins, and `after_listing` with the answer when coverage has taken it in; one listing at a time."""
        with self._held(cancel):
            self._while_listing = set()
            hearing = self._hearing
            if hearing is None:
                return None
            if not self._take_in(hearing, cancel) or not self._rules.holds(self._deciders.rules):
                self._begin_anew()
                return None
            return Baseline(self._need, self._coverage.epoch, look_at(self._deciders.index))

    def after_listing(self, listing: Listing, baseline: Baseline | None) -> None:
        with self._lock:
            hearing, watched = self._hearing, self._watched
            if baseline is None or hearing is None or watched is None:
                return
            self._looker.learn(listing)
            self._looker.forget_rules()
            hearing.awaited = folders_of(listing.absent)
            self._compare(watched, hearing.awaited)
            self._is_lost = False
            self._baseline = baseline
            # The listing may have seen them before they changed, and coverage was told so after it knew better.
            again, self._while_listing = self._while_listing, None
            if again:
                hearing.touched |= again
                self._wake()

    def _compare(self, watched: Watched, awaited: set[bytes]) -> None:
        """Watch every folder with files in it, or with files that git tracks and that may come back; count those that cannot be."""
        known = self._coverage.known()
        if self._compared[0] is known and self._compared[1] == len(watched) and not self._deaf and not awaited:
            return
        missing = [folder for folder in folders_of(known) | awaited if folder not in watched]
        for folder in missing:
            watched.add(folder)
        deaf = [folder for folder in missing if folder not in watched]
        if len(missing) > len(deaf):
            self._need += 1  # something may have happened there before
        self._deaf = sum(os.path.isdir(self._base + folder) for folder in deaf)
        self._compared = (known, len(watched))

    @contextlib.contextmanager
    def _held(self, cancel: CancelToken) -> Iterator[None]:
        while not self._lock.acquire(timeout=LOOK_S):
            cancel.check()
        try:
            yield
        finally:
            self._lock.release()

    # --- under the lock

    def _take_in(self, hearing: Hearing, cancel: CancelToken) -> bool:
        """Empty the queue. False when everything has to be watched anew."""
        if self._stopping.is_cancelled:
            return False
        hearing.take_in(cancel)
        if self._while_listing is not None:
            self._while_listing |= hearing.touched
        self._is_lost = self._is_lost or hearing.is_lost
        if hearing.wants_listing:
            hearing.wants_listing = False
            self._need += 1
        return not hearing.wants_anew

    def _look(self, hearing: Hearing) -> list[bytes]:
        """Look at what was touched. The files for which that was news."""
        touched, hearing.touched = hearing.touched, set()
        seen = self._looker.look(touched | self._looker.linked if self._looker.linked else touched)
        if not seen.is_enough:
            self._need += 1
        return seen.news

    def _begin_anew(self) -> None:
        """Nothing is certain until every folder has been watched again, which the thread does."""
        self._hearing = None
        self._baseline = None
        self._need += 1
        self._wake()

    def _wake(self) -> None:
        with self._pipe_lock:
            if self._wake_write >= 0:
                with contextlib.suppress(OSError):
                    os.write(self._wake_write, b"x")

    def _identity_now(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._root.path)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    # --- the thread

    def start(self) -> None:
        """Begin to watch: 0.4 s for 5,000 folders, in a thread of its own. Never raises."""
        self._thread.start()

    def stop(self) -> None:
        """End. Does not wait."""
        self._stopping.cancel()
        self._wake()

    def _run(self) -> None:
        try:
            while not self._stopping.is_cancelled:
                if self._hearing is None:
                    self._wait(max(0.0, self._not_before - time.monotonic()), wakes_only=True)
                    if time.monotonic() >= self._not_before and not self._stopping.is_cancelled:
                        self._watch_all()
                    continue
                self._turn()
        except Cancelled:
            pass
        finally:
            with self._lock:
                self._hearing = self._baseline = None
                self._let_go()
            with self._pipe_lock:
                os.close(self._wake_read)
                os.close(self._wake_write)
                self._wake_write = -1

    def _turn(self) -> None:
        """Wait for something, gather what comes with it, look at it."""
        self._wait(None)
        until = time.monotonic() + GATHER_S
        news: list[bytes] = []
        while not self._stopping.is_cancelled:
            with self._lock:
                hearing = self._hearing
                if hearing is None:
                    return
                if not self._take_in(hearing, self._stopping):
                    self._begin_anew()
                    break
            if time.monotonic() > until or not self._wait(QUIET_S):
                with self._lock:
                    if self._hearing is hearing:
                        news = self._look(hearing)
                        if hearing.has_git_moved:
                            hearing.has_git_moved = False
                            if self._baseline is None or not self._baseline.index.holds(self._deciders.index):
                                self._need += 1
                break
        with self._lock:
            is_behind = self._baseline is None or self._baseline.need != self._need
        if news:
            self._changed(news)
        if is_behind:
            self._wants_listing()

    def _wait(self, timeout_s: float | None, *, wakes_only: bool = False) -> bool:
        poll = select.poll()
        poll.register(self._wake_read, select.POLLIN)
        watched = self._watched
        if watched is not None and not wakes_only:
            poll.register(watched.queue.descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(None if timeout_s is None else timeout_s * 1e3)]
        if self._wake_read in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake_read, 4096)
        return bool(ready)

    def _watch_all(self) -> None:
        """A new queue, and every folder watched. Nobody else uses either before `_hearing` is set."""
        began = time.monotonic()
        with self._lock:
            self._let_go()
        watched = mounts = None
        try:
            own = (self._root.path, self._root.git_dir, self._root.common_dir)
            mounts = Mounts([os.fsencode(folder) for folder in own if folder is not None])
            identity = self._identity_now()
            watched = Watched(self._base)
            met = visit_folders(self._root, self._settings, watched.add, self._stopping)
            nested = [repository for _, repository in met.repositories]
            deciders = deciders_of(self._root, nested, self._settings, met.unclear)
            rules = look_at(deciders.rules)
            hearing = Hearing(self._root, self._settings, watched)
            for repository in (self._root, *nested):
                if repository.git_dir is not None:
                    inside = os.path.relpath(os.fsencode(repository.git_dir), self._base)
                    hearing.git_folders.add(inside)
                    watched.add(inside)
            if b"" not in watched:
                raise OSError(0, "no watch is left" if watched.is_exhausted else "the folder cannot be watched")
        except BaseException as error:
            for opened in (watched, mounts):
                if opened is not None:
                    opened.close()
            if not isinstance(error, OSError):
                raise
            self._fail(error)
            return
        with self._lock:
            self._failure = ""
            self._watched, self._hearing, self._mounts = watched, hearing, mounts
            self._deciders, self._rules, self._identity = deciders, rules, identity
            self._compared = (None, 0)
            self._need += 1
        self._not_before = time.monotonic() + max(REST_LEAST_S, REST * (time.monotonic() - began))
        self._wants_listing()

    def _fail(self, error: OSError) -> None:
        reason = error.strerror or str(error)
        self._failure = f"{reason[:1].lower()}{reason[1:]}"
        self._not_before = time.monotonic() + RETRY_S
        self._wants_listing()

    def _let_go(self) -> None:
        watched, mounts, self._watched, self._mounts = self._watched, self._mounts, None, None
        if watched is not None:
            watched.close()
        if mounts is not None:
            mounts.close()


def folders_of(paths: Iterable[bytes]) -> set[bytes]:
    """The folders above these files, the root left out."""
    folders: set[bytes] = set()
    for path in paths:
        while (path := path.rpartition(b"/")[0]) and path not in folders:
            folders.add(path)
    return folders
