"""How a worker learns that nobody wants its result any more."""

from __future__ import annotations

import threading

from mgrep_tui.errors import Cancelled


class CancelToken:
    """A flag that one thread sets and a worker looks at, at least every 50 ms. Safe from any thread; once set it stays set."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if the token is set."""
        if self._event.is_set():
            raise Cancelled

    def wait(self, timeout_s: float) -> bool:
        """Sleep until cancelled or until the time is over; True when cancelled."""
        return self._event.wait(timeout_s)
