"""A transformer in a child process of its own: started, talked to with time limits, killed when it hangs."""

from __future__ import annotations

import collections
import contextlib
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np

from mgrep_tui.embedding.frames import read_frame, write_frame
from mgrep_tui.embedding.protocol import Vectors
from mgrep_tui.embedding.transformer import Transformer
from mgrep_tui.errors import ModelError

_log = logging.getLogger(__name__)

START_LIMIT_S = 300.0  # 8.5 to 10 s on an idle machine; from a slow disk or behind twenty other processes, minutes
ANSWER_LIMIT_S = 60.0  # a batch of 32 takes about one second
BATCH = 32
MAX_THREADS = 4  # more do not make batches of 16 quicker
_STDERR_LINES = 20
_RESTART = "Search goes on without it; the next search tries again."

# `-P` keeps the current folder off the path: a repository's own `torch.py` must never be imported. Our package's folder comes last.
_CHILD = "import sys; sys.path.append(sys.argv[1]); from mgrep_tui.embedding.deep_child import run; run()"

_Frame: TypeAlias = "tuple[dict[str, Any], bytes] | None"


class LocalBackend:
    """A `Backend` in a child process."""

    def __init__(
        self,
        transformer: Transformer,
        command: Sequence[str] = (),
        *,
        start_limit_s: float = START_LIMIT_S,
        answer_limit_s: float = ANSWER_LIMIT_S,
    ) -> None:
        """Starts nothing. `command` takes the place of our own child (for tests)."""
        self._transformer = transformer
        self._command = tuple(command) or (sys.executable, "-P", "-c", _CHILD, str(Path(__file__).resolve().parents[2]))
        self._start_limit_s = start_limit_s
        self._answer_limit_s = answer_limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self._frames: queue.SimpleQueue[_Frame] = queue.SimpleQueue()
        self._stderr: collections.deque[str] = collections.deque(maxlen=_STDERR_LINES)
        self._number = 0

    @property
    def title(self) -> str:
        return self._transformer.title

    @property
    def model_id(self) -> str:
        return self._transformer.model_id

    @property
    def reason(self) -> str:
        return self._transformer.reason

    @property
    def batch(self) -> int:
        return BATCH

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.stop()
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise ModelError(f"The deep tier's process could not be started: {error}.", _RESTART) from error
        frames: queue.SimpleQueue[_Frame] = queue.SimpleQueue()
        self._process, self._frames = process, frames
        self._stderr.clear()
        threading.Thread(
            target=_read_frames, args=(cast(BinaryIO, process.stdout), frames), name="deep-frames", daemon=True
        ).start()
        threading.Thread(
            target=self._read_stderr, args=(cast(BinaryIO, process.stderr),), name="deep-stderr", daemon=True
        ).start()
        threads = max(1, min(MAX_THREADS, os.cpu_count() or 1))
        first = {"place": self._transformer.place, "max_pieces": self._transformer.max_pieces, "threads": threads}
        self._ask(first, self._start_limit_s)

    def encode(self, texts: Sequence[str], is_query: bool) -> Vectors:
        self._number += 1
        head, body = self._ask({"id": self._number, "texts": list(texts), "is_query": is_query}, self._answer_limit_s)
        shape = (int(head.get("rows", 0)), int(head.get("dimension", 0)))
        if head.get("id") != self._number or shape[0] != len(texts) or len(body) != shape[0] * shape[1] * 4:
            raise self._broken("gave an answer that does not fit the question")
        vectors = np.frombuffer(body, dtype="<f4").reshape(shape).astype(np.float32)
        if not np.isfinite(vectors).all():
            raise self._broken("gave numbers that are not finite")
        return vectors

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        for stream in (process.stdin,):
            with contextlib.suppress(OSError):
                cast(BinaryIO, stream).close()

    def _ask(self, request: dict[str, Any], limit_s: float) -> tuple[dict[str, Any], bytes]:
        process = self._process
        if process is None:
            raise ModelError("The deep tier's process is not running.", _RESTART)
        try:
            write_frame(cast(BinaryIO, process.stdin), request)
            frame = self._frames.get(timeout=limit_s)
        except (OSError, ValueError):
            frame = None
        except queue.Empty:
            raise self._broken(f"did not answer in {limit_s:.0f} s") from None
        if frame is None:
            raise self._broken(f"ended{self._ending(process)}")
        if "error" in frame[0]:
            self.stop()
            raise ModelError(f"The deep tier's model failed: {frame[0]['error']}", "")
        return frame

    def _broken(self, what: str) -> ModelError:
        """Kill the child; the error that says what it did."""
        self.stop()
        if self._stderr:
            _log.warning("deep tier's process %s; its last words:\n%s", what, "\n".join(self._stderr))
        return ModelError(f"The deep tier's process {what}.", _RESTART)

    def _ending(self, process: subprocess.Popen[bytes]) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(1.0)
            return f" (signal {-code})" if code < 0 else f" (exit code {code})"
        return ""

    def _read_stderr(self, stream: BinaryIO) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            for line in stream:
                self._stderr.append(line.decode("utf-8", "replace").rstrip()[:500])


def _read_frames(stream: BinaryIO, frames: queue.SimpleQueue[_Frame]) -> None:
    with contextlib.suppress(OSError, ValueError), stream:
        while (frame := read_frame(stream)) is not None:
            frames.put(frame)
    frames.put(None)
