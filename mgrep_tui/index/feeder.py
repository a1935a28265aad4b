"""Which files are taken in next, in which batches, and what happens to a batch whose child died.

Pure bookkeeping but for the pool that it feeds. Belongs to the index worker's thread; results arrive on another and go to `deliver`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace

from mgrep_tui.index import ingest
from mgrep_tui.index.ingest import Plan, Task
from mgrep_tui.index.rows import NewFile
from mgrep_tui.jobs.pool import ChildPool
from mgrep_tui.jobs.turns import PARSING, Turns
from mgrep_tui.text import languages, origin

BATCH_FILES = 64
BATCH_BYTES = 400_000  # 0.2 s of work: a batch that dies costs little, and the first words can be searched soon
MAX_BATCHES = 250  # of a child's life, 100 MB of text: a parser was seen to keep 1.9 GB of one file for good
IN_FLIGHT = 2  # batches a child, so that it never waits for us
BASE_LIMIT_S = 20.0  # of a batch, its start-up included; and for each file of it a second
RECENT_S = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file to take in, with what decides its turn. `edited` ones were changed while we watched."""

    path: bytes
    size_bytes: int
    mtime_s: float
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a batch: its files, or why there are none. `culprit` is the content that must not meet a parser again."""

    tasks: tuple[Task, ...]
    files: tuple[NewFile, ...] = ()
    error: BaseException | None = None


def turn(item: Waiting, now_s: float) -> tuple[int, int, bytes]:
    """Sorts files by how soon somebody will ask for them: edited, source, other; shallow before deep; tests, generated, vendored last."""
    path = item.path
    if item.edited:
        rank = 0
    elif origin.is_vendored(path) or origin.is_generated(path, b""):
        rank = 5
    elif origin.is_test_path(path):
        rank = 4
    elif now_s - item.mtime_s < RECENT_S and not _is_fresh_checkout(item, now_s):
        rank = 1
    else:
        rank = 2 if languages.language_of(path) else 3
    return rank, min(path.count(b"/"), 6), path


def _is_fresh_checkout(item: Waiting, now_s: float) -> bool:
    """Within an hour of a clone every file is recent, which says nothing."""
    return now_s - item.mtime_s < 3600


class Feeder:
    """The files that wait, and the children that take them in."""

    def __init__(
        self,
        plan: Plan,
        workers: int,
        known: Callable[[bytes], tuple[bytes, frozenset[bytes]]],
        deliver: Callable[[Delivery], None],
        wake: Callable[[], None],
        turns: Turns = PARSING,
    ) -> None:
        """`known` answers content hash and text hashes of a file; `deliver` is called on the pool's thread, `wake` on any, when it is this
        root's turn to have children: pump then."""
        self._wake = wake
        self._turns = turns
        self._plan = plan
        self._workers = workers
        self._known = known
        self._deliver = deliver
        self._waiting: dict[bytes, Waiting] = {}
        self._order: list[tuple[tuple[int, int, bytes], bytes]] = []
        self._pool: ChildPool | None = None
        self._in_flight: dict[Future[list[NewFile]], tuple[Task, ...]] = {}
        self._again: list[tuple[Task, ...]] = []
        self._is_suspect_out = False
        self.faults: set[bytes] = set()
        self.embeds = plan.embeds

    def add(self, items: Iterable[Waiting], now_s: float) -> None:
        for item in items:
            self._waiting[item.path] = item
            heapq.heappush(self._order, (turn(item, now_s), item.path))

    def forget(self, paths: Iterable[bytes]) -> None:
        for path in paths:
            self._waiting.pop(path, None)

    @property
    def pending(self) -> int:
        """Files that wait or are being taken in."""
        return (
            len(self._waiting)
            + sum(len(tasks) for tasks in self._in_flight.values())
            + sum(len(tasks) for tasks in self._again)
        )

    def pump(self) -> None:
        """Keep the children busy. Raise `RuntimeError` when the pool broke; calling again makes a new one.

        A file that is tried again may kill its child, and with it what waits behind it: such files go one at a time, with nothing else.
        """
        if self._turns.is_over(self):
            if self._in_flight:
                return
            self.close()
        if not self.pending or not self._turns.take(self, self._wake):
            return
        while len(self._in_flight) < (1 if self._again or self._is_suspect_out else self._workers * IN_FLIGHT):
            self._is_suspect_out = bool(self._again)
            tasks = self._again.pop() if self._again else self._next_batch()
            if not tasks:
                return
            self._submit(tasks)

    def _next_batch(self) -> tuple[Task, ...]:
        tasks: list[Task] = []
        size = 0
        while self._order and len(tasks) < BATCH_FILES and size < BATCH_BYTES:
            _, path = heapq.heappop(self._order)
            item = self._waiting.pop(path, None)
            if item is None:
                continue
            content, texts = self._known(path)
            tasks.append(Task(path, content, texts, embeds=self.embeds))
            size += item.size_bytes
        return tuple(tasks)

    def _submit(self, tasks: tuple[Task, ...]) -> None:
        if self._pool is None:
            self._pool = self._children()
        limit = BASE_LIMIT_S + self._plan.chunking.parse_timeout_s + len(tasks)
        try:
            future = self._pool.submit(ingest.take, tasks, frozenset(self.faults), timeout_s=limit)
        except RuntimeError:
            self._again.append(tasks)
            self.restart()
            raise
        self._in_flight[future] = tasks
        future.add_done_callback(self._finished)

    def _finished(self, future: Future[list[NewFile]]) -> None:
        tasks = self._in_flight.get(future, ())
        try:
            self._deliver(Delivery(tasks, tuple(future.result())))
        except CancelledError:
            pass
        except Exception as error:
            self._deliver(Delivery(tasks, error=error))

    def settle(self, delivery: Delivery) -> Task | None:
        """Book a delivery. For a batch that failed, its files are tried again one by one; a single file that failed is the answer."""
        future = next((key for key, tasks in self._in_flight.items() if tasks is delivery.tasks), None)
        if future is None:
            return None  # from children that were ended since; it is done again
        del self._in_flight[future]
        if not self._in_flight:
            self._is_suspect_out = False
        if delivery.error is None:
            return None
        if len(delivery.tasks) > 1:
            self._again += [(task,) for task in delivery.tasks]
            return None
        return delivery.tasks[0]

    def retry_by_lines(self, task: Task) -> bool:
        """Try a file again without its syntax; False when that was tried already."""
        if task.by_lines:
            return False
        self._again.append((replace(task, by_lines=True),))
        return True

    def warm(self) -> None:
        """Start the children before there is work for them."""
        if self._pool is None and not self._turns.is_wanted() and self._turns.take(self, self._wake):
            self._pool = self._children()
            self._pool.warm()

    def _children(self) -> ChildPool:
        return ChildPool(self._workers, initializer=ingest.begin, initargs=(self._plan,), max_tasks=MAX_BATCHES)

    def rest(self) -> None:
        """No work: end the children, so that nothing wakes up any more."""
        if not self._in_flight:
            self.close()

    @property
    def is_working(self) -> bool:
        """Whether it is this root's turn; files that wait for it are not stuck."""
        return self._turns.has(self)

    @property
    def is_in_the_way(self) -> bool:
        """Whether other roots wait for a turn that this one holds."""
        return self._turns.has(self) and self._turns.is_wanted()

    def restart(self) -> None:
        """Kill the children; what they had is to be done again."""
        self._again += list(self._in_flight.values())
        self.close()

    def reset(self) -> None:
        """Kill the children and forget everything that waits."""
        self.close()
        self._waiting.clear()
        self._order.clear()
        self._again.clear()

    def close(self) -> None:
        """Kill the children."""
        self._in_flight.clear()
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        self._turns.give(self)
