"""What has to be started before the screen takes the terminal, so that child processes can be started later.

Apart from the pool: this comes before the first paint, and the pool's library does not need to.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Whatever is started inside gets the null device as its standard error: nothing but our screen writes to the terminal."""
    try:
        saved = os.dup(2)
    except OSError:  # no standard error at all
        yield
        return
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, 2)
        finally:
            os.close(null)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


_is_prepared = threading.Event()


def prepare() -> None:
    """Start multiprocessing's resource tracker, once. The screen calls it in the main thread before it takes `sys.stderr`: later it would
    fail. Without a screen it is enough before the first child process."""
    if sys.platform != "win32" and not _is_prepared.is_set():
        _is_prepared.set()
        with _quiet_stderr():
            resource_tracker.ensure_running()
