"""When a key was pressed last: for a moment, whoever works in a thread of the same process leaves the interpreter to the screen.

One interpreter runs one thread at a time. A key passes between threads and through the loop some twenty times until it is seen, and each
time it waits for whoever works meanwhile. Work that another process can do, or that can wait, asks here.
"""

from __future__ import annotations

import time
from collections.abc import Callable

MOMENT_S = 0.3  # longer than between two letters, and until the first hits are seen


class Courtesy:
    """Any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = 0.0

    def key_pressed(self) -> None:
        self._until = self._clock() + MOMENT_S

    @property
    def is_due(self) -> bool:
        """Whether to give way now."""
        return self._clock() < self._until


COURTESY = Courtesy()
"""The one of this program. Where there is no screen nobody is ever given way."""
