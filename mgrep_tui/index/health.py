"""What the index says about itself: kept by the worker, read by anybody at any moment, announced at most five times a second."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from mgrep_tui.model import Health

ANNOUNCE_S = 0.2
EVENTS = 20
RATE_WINDOW_S = 8.0


class Board:
    """The health as last written. All methods may be called from any thread, but one thread writes at a time."""

    def __init__(self, root: str) -> None:
        self._health = Health(root=root)
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._events: deque[str] = deque(maxlen=EVENTS)
        self._said: set[str] = set()
        self._announced_at = 0.0
        self._is_news = False

    def health(self) -> Health:
        return self._health

    def put(self, **values: Any) -> None:
        """Change some fields of the health."""
        with self._lock:
            changed = replace(self._health, **values)
            if changed != self._health:
                self._health = changed
                self._is_news = True

    def say(self, event: str, *, once: bool = False) -> None:
        """Add a sentence to the events; with `once` only if it was not said before."""
        with self._lock:
            if once and event in self._said:
                return
            self._said.add(event)
            stamp = time.strftime("%H:%M:%S")
            self._events.appendleft(f"{stamp} {event}")
            self._health = replace(self._health, events=tuple(self._events))
            self._is_news = True

    def fail(self, error: str) -> None:
        """A sentence for the last error, which is an event too."""
        if error:
            self.say(error)
        self.put(last_error=error)

    def subscribe(self, callback: Callable[[], None]) -> None:
        with self._lock:
            self._callbacks.append(callback)

    def announce(self, *, now: bool = False) -> float:
        """Tell the subscribers if there is news and the last time was long enough ago. Seconds to wait for it, 0 when nothing waits."""
        with self._lock:
            if not self._is_news:
                return 0.0
            left = self._announced_at + ANNOUNCE_S - time.monotonic()
            if left > 0 and not now:
                return left
            self._is_news = False
            self._announced_at = time.monotonic()
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback()
        return 0.0


class Rate:
    """How many a second lately, and how long the rest will take."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def reset(self) -> None:
        self._points.clear()

    def note(self, now: float, done: int) -> float:
        """`done` so far, at `now` (`time.monotonic`): the rate over the last seconds."""
        self._points.append((now, done))
        while self._points[0][0] < now - RATE_WINDOW_S and len(self._points) > 2:
            self._points.popleft()
        began, before = self._points[0]
        return (done - before) / (now - began) if now - began > 0.05 else 0.0


def count_reasons(reasons: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Reasons and how often, most first."""
    return tuple(sorted(Counter(reasons).items(), key=lambda item: (-item[1], item[0])))
