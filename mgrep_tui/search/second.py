"""A second process that looks into candidates beside the search's own: one process of Python runs one thread of its own code at a time.

It is started once, in advance, and serves all roots. Frames go both ways over a pair of sockets, all in `marshal`:

    begin   (search, (root, pattern, options, max_file_bytes, most_lines, is_ranked))
    task    (search, ticket, [(path, stat, blocks), …])
    answer  (search, ticket, {number: found} or None, [number, …])

with the answers of `Looker.look`; None says that it failed, and the asker does it by itself. What belongs to an older search is dropped.
Where the system has no such sockets, there is no second process.
"""

from __future__ import annotations

import gc
import logging
import marshal
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mgrep_tui.corpus.root import open_root
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.looking import Looker, Ranked
from mgrep_tui.search.matcher import compile_pattern

log = logging.getLogger(__name__)

TASKS_AHEAD = 2
MAX_TASK_BYTES = 30_000
"""Tasks that wait always fit into the socket, so that sending never blocks while the other side does the same."""
BUFFER_BYTES = 1 << 18
LEAST_BUFFER_BYTES = (TASKS_AHEAD + 1) * MAX_TASK_BYTES
PATIENCE_MS = 4
"""A share takes a millisecond or two. Who has nothing else to do waits so long, then does it too: the machine is busy, or a file hangs."""
STOP_S = 0.1
RARELY = 200_000
"""New values before cycles are looked for: rows have none, and the usual 700 cost a twentieth of the time."""

Order = tuple[bytes, str, dict[str, Any], int, int, bool]
"""What is looked for: root, pattern, the arguments of `compile_pattern`, and those of `Looker`."""


class SecondProcess:
    """The process, for all roots of a program. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held by the search that uses it, or by who starts or ends it
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._search = 0
        self._users = 0
        self.unanswered = 0  # tasks of all searches, the lock's holder's to count

    def start(self) -> None:
        """Have it from now on; it takes its time in the background. To every call belongs a `stop`."""
        with self._lock:
            self._users += 1
            is_running = self._process is not None and self._process.poll() is None
            if not is_running and sys.platform != "win32" and (os.cpu_count() or 1) > 1:
                self._drop_pipe()
                self._pipe = self._started()

    def stop(self) -> None:
        """The last one ends it."""
        process = self._process
        self._users -= 1
        if self._users or process is None:
            return
        process.kill()  # a search that has it gets to know, and goes on by itself
        process.wait()
        self._process = None
        if self._lock.acquire(timeout=STOP_S):
            self._drop_pipe()
            self._lock.release()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def _started(self) -> Connection | None:
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                end.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
        with theirs:
            if ours.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) < LEAST_BUFFER_BYTES:
                ours.close()
                return None
            package = str(Path(__file__).parents[2])
            code = "import sys; sys.path.insert(0, sys.argv[1]); from mgrep_tui.search.second import main; main()"
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-c", code, package, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError as error:
                log.warning("no second process: %s", error)
                ours.close()
                return None
        return Connection(ours.detach())

    def _drop_pipe(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        self._pipe = None
        self.unanswered = 0

    def take(self, order: Order) -> Lease | None:
        """Have it for one search; None when another one has it, or when it does not run."""
        if not self._lock.acquire(blocking=False):
            return None
        if self._pipe is not None:
            self._search += 1
            lease = Lease(self, self._pipe, self._search)
            # What older searches left unanswered comes first.
            for _ in lease.answers():
                pass
            if lease.has_room and lease.send((self._search, order)):
                return lease
            lease.close()
            return None
        self._lock.release()
        return None

    def give_back(self, pipe: Connection, is_broken: bool) -> None:
        """A lease has ended."""
        if is_broken and pipe is self._pipe:
            log.warning("the second process of regex mode ended")
            self._drop_pipe()
        self._lock.release()


SECOND = SecondProcess()
"""The one of this program."""

Given = Sequence[Candidate]


class Lease:
    """The second process for the time of one search, in one thread. Close it."""

    def __init__(self, owner: SecondProcess, pipe: Connection, search: int) -> None:
        self.is_broken = False
        self._owner = owner
        self._pipe = pipe
        self._search = search
        self._given: dict[int, Given] = {}
        self._next = 0
        # One for all questions: `Connection.poll` makes a new one each time, which costs as much as reading two files.
        self._poll = select.poll()
        self._poll.register(pipe.fileno(), select.POLLIN)

    def close(self) -> None:
        self._owner.give_back(self._pipe, self.is_broken)

    @property
    def has_room(self) -> bool:
        return self._owner.unanswered < TASKS_AHEAD and not self.is_broken

    @property
    def is_waiting(self) -> bool:
        return bool(self._given)

    def send(self, frame: Any) -> bool:
        """Whether it went out."""
        data = marshal.dumps(frame)
        if len(data) > MAX_TASK_BYTES:
            return False
        try:
            self._pipe.send_bytes(data)
        except (OSError, ValueError):
            self.is_broken = True
        return not self.is_broken

    def give(self, candidates: Given) -> bool:
        """Whether they were taken; not when they are too many in bytes, or the process is gone."""
        plain = [
            (path, stat and tuple(stat), blocks and [tuple(block) for block in blocks])
            for path, stat, blocks in candidates
        ]
        if not self.send((self._search, self._next, plain)):
            return False
        self._owner.unanswered += 1
        self._given[self._next] = candidates
        self._next += 1
        return True

    def answers(self) -> Iterator[tuple[Given, dict[int, Ranked] | None, list[int]]]:
        """The answers that are there: the candidates, and what `Looker.look` says of them; None when it could not."""
        try:
            while self._owner.unanswered and not self.is_broken and self._poll.poll(0):
                search, ticket, found, closely = marshal.loads(self._pipe.recv_bytes())
                self._owner.unanswered -= 1
                if search == self._search and ticket in self._given:
                    yield self._given.pop(ticket), found, closely
        except (OSError, EOFError, ValueError):
            self.is_broken = True
        if self.is_broken:
            while self._given:
                yield self._given.popitem()[1], None, []

    def wait(self, patience_ms: float = PATIENCE_MS) -> bool:
        """Sleep a little; whether there is an answer."""
        return bool(self._poll.poll(patience_ms))

    def take_back(self) -> Given:
        """What was given last and is not answered yet. An answer that comes all the same is dropped."""
        return self._given.popitem()[1]


def main() -> None:
    """The second process: answer until the other end is closed."""
    gc.set_threshold(RARELY)
    pipe = Connection(int(sys.argv[2]))
    looker: Looker | None = None
    try:
        while True:
            search, *rest = marshal.loads(pipe.recv_bytes())
            if len(rest) == 1:
                if looker is not None:
                    looker.close()
                looker = _looker(rest[0])
                current = search
            elif search == current:
                ticket, plain = rest
                pipe.send_bytes(marshal.dumps((search, ticket, *_look(looker, plain))))
    except (EOFError, OSError):
        return


def _looker(order: Order) -> Looker | None:
    root, pattern, options, max_file_bytes, most_lines, is_ranked = order
    try:
        return Looker(
            open_root(Path(os.fsdecode(root))),
            compile_pattern(pattern, **options),
            max_file_bytes,
            most_lines=most_lines,
            is_ranked=is_ranked,
        )
    except Exception:
        return None  # whatever it is, the asker meets it too, and can say so


def _look(looker: Looker | None, plain: Sequence[tuple[Any, ...]]) -> tuple[dict[int, Ranked] | None, list[int]]:
    if looker is None:
        return None, []
    try:
        found, closely = looker.look([Candidate._make(candidate) for candidate in plain])
    except Exception:
        return None, []
    return found, list(closely)
