"""The embedded engine as its user sees it: a child process, started when needed, told to stop a statement, and replaced when it dies.

One process at a time has the folder, under a lock file; a second one is told who. What was acknowledged before a kill is there after it:
inserts are whole parts on disk.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import marshal
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import FileLock, Timeout

from mgrep_tui.clickhouse.address import DATABASE
from mgrep_tui.clickhouse.connection import ARROW, ARROW_SETTINGS, POLL_S, SEARCH, WORK, Limits
from mgrep_tui.clickhouse.errors import CANCELLED_CODES, MISSING_HINT, EngineError, error_of
from mgrep_tui.clickhouse.values import Parameters, texts
from mgrep_tui.errors import Cancelled
from mgrep_tui.jobs.cancel import CancelToken

START_LIMIT_S = 60.0
STOP_LIMIT_S = 2.0
"""A statement that does not end so long after it was told to is ended with its process."""
LEAST_FREE_BYTES = 20_000_000
WRITTEN = 3  # bytes of disk that one byte of an insertion may take meanwhile
TABLES = "tables"  # below the folder, beside the lock


class _Process:
    """One life of the child. Answers wait in one queue a statement."""

    def __init__(self, folder: Path) -> None:
        package = str(Path(__file__).parents[2])
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); from mgrep_tui.clickhouse.embedded_child import main; main()"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", code, package, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._writing = threading.Lock()
        self._answers: dict[int, queue.SimpleQueue[tuple[Any, ...]]] = {}
        self.is_dead = False
        ready = self.listen(0)
        threading.Thread(target=self._read, name="engine", daemon=True).start()
        try:
            head = ready.get(timeout=START_LIMIT_S)
        except queue.Empty:
            head = (0, "dead")
        if head[1] != "ready":
            self.kill()
            if head[1] == "failed" and "ModuleNotFoundError" in head[3]:
                raise EngineError("The embedded engine is not installed.", MISSING_HINT)
            raise EngineError("The embedded engine did not start.", head[3][:300] if head[1] == "failed" else "")

    @property
    def pid(self) -> int:
        return self._process.pid

    def listen(self, number: int) -> queue.SimpleQueue[tuple[Any, ...]]:
        answers: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._answers[number] = answers
        if self.is_dead:
            answers.put((number, "dead"))
        return answers

    def forget(self, number: int) -> None:
        self._answers.pop(number, None)

    def send(self, head: tuple[Any, ...], body: bytes | pa.Buffer = b"") -> None:
        data = marshal.dumps(head)
        stream = self._process.stdin
        assert stream is not None
        with self._writing, contextlib.suppress(OSError, ValueError):  # it died; the missing answer tells
            stream.write(len(data).to_bytes(4, "little") + len(body).to_bytes(8, "little") + data)
            stream.write(body)
            stream.flush()

    def _read(self) -> None:
        output = self._process.stdout
        assert output is not None
        with contextlib.suppress(OSError, ValueError, EOFError):
            while len(sizes := output.read(12)) == 12:
                head = marshal.loads(output.read(int.from_bytes(sizes[:4], "little")))
                length = int.from_bytes(sizes[4:], "little")
                body = output.read(length) if length else b""
                waiting = self._answers.get(head[0])
                if waiting is not None:
                    waiting.put((*head, body))
        self.is_dead = True
        for number, waiting in list(self._answers.items()):
            waiting.put((number, "dead"))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def end(self) -> None:
        """Let it end by itself for a moment: it has everything on disk."""
        with self._writing, contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()


class EmbeddedConnection:
    """An engine in a folder. Any thread may use it, several at once."""

    database = DATABASE
    cluster = ""

    def __init__(self, folder: Path) -> None:
        """Take the folder's lock and start the engine. Raises `EngineError`."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EngineError(f"The engine's folder cannot be made: {error.strerror}.") from error
        self._folder = folder
        self._lock = FileLock(folder / "lock", blocking=False)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise EngineError(
                f"Another program has this engine open{_owner_of(folder)}.",
                "An embedded engine serves one program at a time; for several, use a server.",
            ) from error
        except OSError as error:
            raise EngineError(f"The engine's folder cannot be locked: {error.strerror}.") from error
        with contextlib.suppress(OSError):
            (folder / "owner").write_text(str(os.getpid()), "ascii")
        self._numbers = itertools.count(1)
        self._starting = threading.Lock()
        self._process: _Process | None = None
        self._is_closed = False
        try:
            self._alive()
            self.run(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The child's process id; 0 when there is none now."""
        process = self._process
        return process.pid if process is not None and not process.is_dead else 0

    def _alive(self) -> _Process:
        with self._starting:
            if self._is_closed:
                raise EngineError("The engine is closed.")
            if self._process is None or self._process.is_dead:
                if self._process is not None:
                    self._process.kill()
                self._process = _Process(self._folder / TABLES)
            return self._process

    def batches(
        self,
        sql: str,
        parameters: Parameters | None = None,
        *,
        limits: Limits = SEARCH,
        cancel: CancelToken | None = None,
    ) -> Iterator[pa.RecordBatch]:
        settings = {**limits.settings(), **ARROW_SETTINGS}
        pieces = self.pieces(sql, texts(parameters or {}), ARROW, settings, cancel)
        try:
            stream = _Stream(pieces)
            # The library writes a stream for every block of the answer, one after the other.
            while stream.has_more():
                with pa.ipc.open_stream(stream) as reader:
                    for batch in reader:
                        if batch.num_rows:
                            yield batch
        except pa.ArrowInvalid as error:
            raise EngineError("The engine's answer broke off.") from error
        finally:
            pieces.close()

    def pieces(
        self,
        sql: str,
        parameters: dict[str, str],
        shape: str,
        settings: dict[str, int | float],
        cancel: CancelToken | None = None,
    ) -> Generator[bytes]:
        """The answer as the engine writes it in the format `shape`; an empty `shape` for a statement without one.

        Closing the iterator stops the statement. Raises as `batches`.
        """
        process = self._alive()
        number = next(self._numbers)
        answers = process.listen(number)
        marked = ", ".join(f"{name} = {value!r}" for name, value in settings.items())
        if shape:
            sql = f"{sql} SETTINGS {marked + ', ' if marked else ''}log_comment = 'mgrep-{number}'"
        process.send((number, "query", sql, parameters, shape))
        is_ended = False
        try:
            while True:
                try:
                    head = answers.get(timeout=POLL_S) if cancel is not None else answers.get()
                except queue.Empty:
                    assert cancel is not None
                    cancel.check()
                    continue
                if head[1] == "data":
                    process.send((number, "more"))
                    yield head[2]
                    continue
                is_ended = True
                if head[1] == "end":
                    return
                if cancel is not None:
                    cancel.check()
                if head[1] == "error" and head[2] in CANCELLED_CODES:
                    raise Cancelled
                raise error_of(head[2], head[3]) if head[1] == "error" else _died()
        finally:
            if is_ended:
                process.forget(number)
            else:
                self._stop(process, number, answers)

    def _stop(self, process: _Process, number: int, answers: queue.SimpleQueue[tuple[Any, ...]]) -> None:
        """Stop a statement whose answer nobody wants; in the background, since whoever asked has no more time for it."""
        process.send((number, "stop"))

        def wait() -> None:
            try:
                while answers.get(timeout=STOP_LIMIT_S)[1] == "data":
                    pass
            except queue.Empty:
                process.kill()
            finally:
                process.forget(number)

        threading.Thread(target=wait, name="engine-stop", daemon=True).start()

    def _check_room(self, size_bytes: int = 0) -> None:
        """On a full disk the engine waits without an end for room to delete in."""
        free = shutil.disk_usage(self._folder).free
        if free < LEAST_FREE_BYTES + WRITTEN * size_bytes:
            raise EngineError(
                f"The engine's disk is full: {free / 1e6:,.0f} MB are left.", "Make room, and push again."
            )

    def run(self, sql: str, parameters: Parameters | None = None, *, limits: Limits = WORK) -> None:
        if sql.startswith("DELETE"):
            self._check_room()
        for _ in self.pieces(sql, texts(parameters or {}), "", {}):
            pass

    def insert(self, table: str, rows: pa.Table) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        self.insert_raw(f"INSERT INTO {table} ({', '.join(rows.column_names)})", ARROW, sink.getvalue())

    def insert_raw(self, sql: str, shape: str, body: bytes | pa.Buffer) -> None:
        """Insert what is already in the format `shape`; `sql` ends before `FORMAT`."""
        self._check_room(len(body))
        process = self._alive()
        number = next(self._numbers)
        answers = process.listen(number)
        try:
            process.send((number, "insert", sql, shape), body)
            head = answers.get()
        finally:
            process.forget(number)
        if head[1] != "end":
            raise error_of(head[2], head[3]) if head[1] == "error" else _died()

    def close(self) -> None:
        """End the child and let the folder go."""
        with self._starting:
            self._is_closed = True
            if self._process is not None:
                self._process.end()
        self._lock.release()


class _Stream(io.RawIOBase):
    """The pieces of an answer as a file that Arrow reads."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._left = memoryview(b"")
        self._pieces = pieces

    def has_more(self) -> bool:
        """Whether there is anything left to read; waits for it."""
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return False
            self._left = memoryview(piece)
        return True

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = []
        while size and self.has_more():
            part = self._left[:size] if size > 0 else self._left
            self._left = self._left[len(part) :]
            found.append(part)
            if size > 0:
                size -= len(part)
        return b"".join(found)


def _died() -> EngineError:
    return EngineError("The embedded engine's process ended.", "Asking again starts it anew.")


def _owner_of(folder: Path) -> str:
    try:
        owner = (folder / "owner").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
    return f" (process {owner})" if owner.isdigit() else ""
