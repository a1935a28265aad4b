"""A child process that answers one question after the other, and can be killed at any moment."""

from __future__ import annotations

import marshal
import queue
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import Any

from mgrep_tui.jobs.cancel import CancelToken

POLL_S = 0.02


class Child:
    """The process and a thread that reads its answers, since not every system can wait for a pipe with a limit.

    Frames go both ways, each with its length in 4 bytes before it, in `marshal`.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="child", daemon=True).start()

    def _listen(self) -> None:
        output = self._process.stdout
        assert output is not None
        while len(head := output.read(4)) == 4:
            size = int.from_bytes(head, "little")
            data = output.read(size)
            if len(data) < size:
                break
            self._answers.put(marshal.loads(data))
        self._answers.put(None)
        output.close()

    def send(self, value: Any) -> None:
        data = marshal.dumps(value)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(len(data).to_bytes(4, "little") + data)
            self._process.stdin.flush()
        except OSError:
            pass  # it died; the missing answer tells

    @property
    def has_answered(self) -> bool:
        """Whether an answer is there."""
        return not self._answers.empty()

    def receive(self, limit_s: float, cancel: CancelToken) -> Any:
        """The next answer; None when the process died, the time is over or the search was cancelled."""
        end = time.monotonic() + limit_s
        while (left := end - time.monotonic()) > 0 and not cancel.is_cancelled:
            try:
                return self._answers.get(timeout=min(left, POLL_S))
            except queue.Empty:
                continue
        return None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except OSError:
            pass
