"""Hints that something under the root has changed, by watchdog, for systems other than Linux. The disk is the truth: whoever gets a hint
looks, and the check behind every search finds what no hint told of.

Plain reads are dropped here. An overflow is a line in watchdog's log; it becomes `lost`, and the health panel says so.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

from mgrep_tui.corpus.root import Root

QUIET_S = 0.05  # events are gathered until none came for this long
GATHER_S = 0.5  # but never longer than this
MAX_PATHS = 5_000  # more than this at once is a checkout or a build: one sweep is cheaper

# What the system is asked for: reads are not among it, or indexing would wake itself.
EVENTS = (
    "FileCreatedEvent", "FileModifiedEvent", "FileClosedEvent", "FileDeletedEvent", "FileMovedEvent", "FileAttribEvent",
    "DirCreatedEvent", "DirDeletedEvent", "DirMovedEvent",
)  # fmt: skip

_GIT_FILES = (b".git/HEAD", b".git/index")


class Hints:
    """Paths that may have changed; `is_everything` says that a sweep is due."""

    __slots__ = ("is_everything", "paths")

    def __init__(self) -> None:
        self.paths: set[bytes] = set()
        self.is_everything = False


class _Log(logging.Handler):
    """watchdog's own complaints: they must not reach the terminal, and one of them means lost events."""

    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in str(record.msg).lower() or record.levelno >= logging.ERROR:
            self._lost()


class Watcher:
    """Watches one root. `start` and `stop` from one thread; `report` is called from a thread of ours, with what was gathered."""

    def __init__(self, root: Root, report: Callable[[Hints], None]) -> None:
        self._root = os.path.join(os.fsencode(root.path), b"")
        self._report = report
        self._observer: Any = None
        self._condition = threading.Condition()
        self._hints = Hints()
        self._first_at = 0.0
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._log = _Log(self._lost)
        self.state = "off"

    def start(self) -> None:
        """Begin. Never raises: `state` says what came of it. Adding watches takes 0.2 s for 5,000 folders, on a thread of its own."""
        warnings.filterwarnings("ignore", module=r"watchdog\.")  # it warns on the terminal, where the screen is
        for name in ("watchdog", "watchdog.observers.inotify", "watchdog.observers.inotify_c"):
            logger = logging.getLogger(name)
            logger.propagate = False
        logging.getLogger("watchdog").addHandler(self._log)
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._observe()
        except Exception as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self.state = f"off: {reason[:1].lower()}{reason[1:]}; the disk is checked when you search"
            self._lost()
        self._gather()

    def _observe(self) -> None:
        from watchdog import events
        from watchdog.events import FileSystemEvent, FileSystemEventHandler
        from watchdog.observers import Observer

        watcher = self

        class Handler(FileSystemEventHandler):
            def dispatch(self, event: FileSystemEvent) -> None:
                watcher._note(event)

        observer: Any = Observer()
        wanted = [getattr(events, name) for name in EVENTS]
        observer.schedule(Handler(), os.fsdecode(self._root), recursive=True, event_filter=wanted)
        observer.start()
        self._observer = observer
        self.state = "watching"
        if self._stopping:
            self._end_observer()

    def _note(self, event: Any) -> None:
        """One event: on watchdog's thread, so quick."""
        paths = []
        for name in (event.src_path, event.dest_path):
            if not name:
                continue
            raw = os.fsencode(name)
            path = raw[len(self._root) :] if raw.startswith(self._root) else b""
            if path.startswith(b".git/") and path not in _GIT_FILES:
                continue
            paths.append(path)
        if not paths:
            return
        is_folder = bool(event.is_directory)
        if is_folder and event.event_type == "modified":
            return  # its entries are reported themselves
        with self._condition:
            hints = self._hints
            if is_folder and event.event_type in ("moved", "deleted"):
                hints.is_everything = True
            elif not hints.is_everything:
                hints.paths.update(paths)
                if len(hints.paths) > MAX_PATHS:
                    hints.is_everything = True
            self._condition.notify()

    def look_over(self) -> None:
        """The disk was listed, so nothing is lost now."""
        if self._observer is not None and not self._stopping:
            self.state = "watching"

    def _lost(self) -> None:
        if self.state == "watching":
            self.state = "watching, but events were lost; the disk is being checked"
        with self._condition:
            self._hints.is_everything = True
            self._condition.notify()

    def _gather(self) -> None:
        while True:
            with self._condition:
                while not (self._hints.paths or self._hints.is_everything or self._stopping):
                    self._condition.wait()
                rounds = int(GATHER_S / QUIET_S)
                while rounds and not self._stopping and self._condition.wait(QUIET_S):
                    rounds -= 1
                if self._stopping:
                    return
                hints, self._hints = self._hints, Hints()
            self._report(hints)

    def stop(self) -> None:
        """End. Does not wait for watchdog's threads: they are daemons and touch nothing of ours."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        logging.getLogger("watchdog").removeHandler(self._log)
        threading.Thread(target=self._end_observer, name="watch-ending", daemon=True).start()
        self.state = "off"

    def _end_observer(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            with contextlib.suppress(Exception):
                observer.stop()
