"""One thread that does what it is told, in order, and some things at a later time. It sleeps when there is nothing to do."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

Call = Callable[[], None]


class Loop:
    """`post` and `stop` may be called from any thread; `at` and `drop` in the loop's own thread only."""

    def __init__(self, name: str, on_error: Callable[[BaseException], None]) -> None:
        """`on_error` hears, in the loop's thread, of every exception that a call let out; the loop goes on."""
        self._inbox: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._timers: dict[str, tuple[float, Call]] = {}
        self._on_error = on_error
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether what is posted will be called: a thread that was told to end may live a little longer."""
        return self._thread.is_alive() and not self._stopping

    def post(self, call: Call) -> None:
        """Have it called soon, after everything that was posted before."""
        self._inbox.put(call)

    def at(self, name: str, delay_s: float, call: Call, *, sooner: bool = True) -> None:
        """Have it called once after a delay. A timer of the same name is replaced; with `sooner` only by an earlier one."""
        due = time.monotonic() + delay_s
        present = self._timers.get(name)
        if sooner and present is not None and present[0] <= due:
            return
        self._timers[name] = (due, call)

    def drop(self, name: str) -> None:
        self._timers.pop(name, None)

    def stop(self, timeout_s: float) -> bool:
        """End after the call that is running; what is still waiting is not called. Whether the thread has ended in time."""
        self._stopping = True
        self._inbox.put(None)
        if threading.current_thread() is not self._thread and self._thread.ident is not None:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping:
            call = self._next()
            if call is None:
                continue
            try:
                call()
            except BaseException as error:
                self._on_error(error)

    def _next(self) -> Call | None:
        """The next call; None when it is time to look again."""
        now = time.monotonic()
        due = sorted((when, name) for name, (when, _) in self._timers.items() if when <= now)
        if due:
            # What is due waits behind what was posted, or a busy timer would keep the inbox shut.
            try:
                return self._inbox.get_nowait()
            except queue.Empty:
                return self._timers.pop(due[0][1])[1]
        soonest = min((when for when, _ in self._timers.values()), default=None)
        try:
            return self._inbox.get(timeout=None if soonest is None else max(0.0, soonest - now))
        except queue.Empty:
            return None
