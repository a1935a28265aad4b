"""Child processes for work that is heavy or can die: one task's crash or overrun harms that task alone.

A pool is pebble's `ProcessPool` with what our children need on top: they are spawned, niced, quiet on the terminal, and end by themselves
when our process is gone, even when it was killed. pebble's own threads look around ten times a second while a pool is open, so a pool is
opened when there is work and closed when it is done: an idle program has no pool.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing import connection
from typing import Any, TypeVar

from mgrep_tui.jobs.tracker import prepare

__all__ = ["ChildPool", "is_child_fault", "prepare"]

T = TypeVar("T")

NICENESS = 10  # measured: a niced child leaves the time from key to screen as it is without one
# A child whose native code never returns cannot see that its parent is gone; an alarm ends it this long after its limit.
ORPHAN_GRACE_S = 30
STOP_JOIN_S = 0.25


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _start_child(initializer: Callable[..., None] | None, initargs: tuple[Any, ...]) -> None:
    """First code in a child: quiet, niced, bound to its parent's life."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
    if sys.platform != "win32":
        os.nice(NICENESS)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _run_limited(limit_s: float, function: Callable[..., T], args: tuple[Any, ...]) -> T:
    """Run the task with a last resort: when nobody is left to kill an overrun child, the kernel's alarm does."""
    if sys.platform == "win32":
        return function(*args)
    signal.alarm(int(limit_s) + ORPHAN_GRACE_S)
    try:
        return function(*args)
    finally:
        signal.alarm(0)


@contextlib.contextmanager
def _interrupts_kept_out() -> Iterator[None]:
    """Ctrl+C reaches the whole group of processes; a child that was just starting wrote a traceback. Threads and processes that are
    started in here, and theirs, never see it: they end with our process."""
    if sys.platform == "win32":
        yield
        return
    prepare()  # what is started here for all children lets the signal through again when it is started within
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ChildPool:
    """Some child processes that run tasks. `submit` and `close` from one thread; results arrive on pebble's thread.

    A future fails with `TimeoutError` when its task overran, with `pebble.ProcessExpired` when its child died; `is_child_fault` tells both.
    """

    def __init__(
        self,
        workers: int,
        *,
        initializer: Callable[..., None] | None = None,
        initargs: tuple[Any, ...] = (),
        max_tasks: int = 0,
    ) -> None:
        """With `max_tasks` a child is replaced after so many tasks, and with it whatever native code did not give back."""
        # Late: it brings asyncio along, and most starts find nothing to be done.
        from pebble import ProcessPool

        self.workers = workers
        self._pool = ProcessPool(
            max_workers=workers,
            max_tasks=max_tasks,
            context=multiprocessing.get_context("spawn"),
            initializer=_start_child,
            initargs=(initializer, initargs),
        )

    def submit(self, function: Callable[..., T], *args: Any, timeout_s: float) -> Future[T]:
        """Run a module-level function in a child. Raise `RuntimeError` when the pool is broken or closed."""
        with _interrupts_kept_out():
            future: Future[T] = self._pool.schedule(_run_limited, args=(timeout_s, function, args), timeout=timeout_s)
        return future

    def warm(self) -> Future[None]:
        """Have a child started and its initializer run, so that the first task need not wait."""
        return self.submit(_nothing, timeout_s=60.0)

    def pids(self) -> tuple[int, ...]:
        return tuple(self._pool._pool_manager.worker_manager.workers)

    def close(self) -> None:
        """Kill the children and forget what they were doing. Returns at once; what is left of the pool ends on its own thread."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        for pid in self.pids():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        ending = threading.Thread(target=self._join, name="pool-ending", daemon=True)
        ending.start()
        ending.join(STOP_JOIN_S)

    def _join(self) -> None:
        with contextlib.suppress(Exception):
            self._pool.join()


def is_child_fault(error: BaseException) -> bool:
    """Whether a task's error means that it killed or overran its child."""
    from pebble import ProcessExpired

    return isinstance(error, (TimeoutError, ProcessExpired))


def _nothing() -> None:
    return None
