"""Work beside the screen's thread where only the newest request matters."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

Job = Callable[[Callable[[], bool]], None]


class Newest:
    """One daemon thread that runs the newest job and forgets those that were overtaken while they waited.

    A job is called with a function that says whether a newer one waits, to stop early. Jobs catch what they expect; what they do not is
    logged, and the thread goes on. The thread starts with the first job and never keeps the program from ending.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._condition = threading.Condition()
        self._job: Job | None = None
        self._is_running = False
        self._is_closed = False
        self._thread: threading.Thread | None = None

    @property
    def is_idle(self) -> bool:
        with self._condition:
            return self._job is None and not self._is_running

    def submit(self, job: Job) -> None:
        with self._condition:
            if self._is_closed:
                return
            self._job = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._condition.notify()

    def close(self) -> None:
        """No further job starts; one that runs is not waited for."""
        with self._condition:
            self._is_closed = True
            self._job = None
            self._condition.notify()

    def _has_newer(self) -> bool:
        with self._condition:
            return self._job is not None or self._is_closed

    def _run(self) -> None:
        while True:
            with self._condition:
                self._is_running = False
                while self._job is None and not self._is_closed:
                    self._condition.wait()
                if self._is_closed:
                    return
                job, self._job = self._job, None
                self._is_running = True
            assert job is not None
            try:
                job(self._has_newer)
            except Exception:
                log.exception("a job of %s failed", self._name)
