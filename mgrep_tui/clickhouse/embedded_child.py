"""The embedded engine's process: ClickHouse as a library, its statements and answers over two pipes.

Frames, both ways: length of the head and of the body (4 and 8 bytes, little endian), the head in `marshal`, the body as bytes. A head is a
tuple that begins with the number of the statement it belongs to and what it says:

    in   (n, "query", sql, parameters, format)   (n, "insert", sql, format) + body   (n, "more")   (n, "stop")
    out  (n, "data") + body   (n, "end")   (n, "error", code, text)   (0, "ready")   (0, "failed", code, text)

Every statement has a thread and a session; an answer waits after `AHEAD` pieces until somebody has taken some ("more"). The end of the
input ends the process, so that it never outlives its parent.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import re
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

AHEAD = 16
SPOOLED = "inserting-"  # begins the names of files beside the tables that hold what is being inserted
CODE = re.compile(r"Code: (\d+)")


class _Statement:
    """One statement that runs."""

    def __init__(self) -> None:
        self.room = threading.Semaphore(AHEAD)
        self.is_stopped = False


class _Engine:
    """The sessions and the statements that run on them."""

    def __init__(self, folder: str, output: BinaryIO) -> None:
        # The library is half a gigabyte: in this process only.
        from chdb import session

        self._folder = os.path.dirname(os.path.abspath(folder))
        for name in os.listdir(self._folder):
            if name.startswith(SPOOLED):  # of a process that was killed
                os.unlink(os.path.join(self._folder, name))
        self._make: Callable[[], Any] = lambda: session.Session(folder)  # type: ignore[no-untyped-call]
        self._idle = [self._make()]
        self._lock = threading.Lock()
        self._output = output
        self._writing = threading.Lock()
        self._running: dict[int, _Statement] = {}

    def send(self, head: tuple[Any, ...], body: bytes = b"") -> None:
        data = marshal.dumps(head)
        with self._writing:
            self._output.write(len(data).to_bytes(4, "little") + len(body).to_bytes(8, "little") + data)
            self._output.write(body)
            self._output.flush()

    def take(self, head: tuple[Any, ...], body: bytes) -> None:
        number, what = head[0], head[1]
        if what in ("query", "insert"):
            statement = _Statement()
            self._running[number] = statement
            threading.Thread(target=self._run, args=(number, statement, head, body), daemon=True).start()
            return
        running = self._running.get(number)
        if running is None:
            return
        if what == "more":
            running.room.release()
        else:
            running.is_stopped = True
            running.room.release()
            threading.Thread(target=self._kill, args=(number,), daemon=True).start()

    def _session(self) -> Any:
        with self._lock:
            return self._idle.pop() if self._idle else self._make()

    def _run(self, number: int, statement: _Statement, head: tuple[Any, ...], body: bytes) -> None:
        session = None
        is_good = False
        try:
            session = self._session()
            if head[1] == "insert":
                self._insert(number, session, head, body)
            else:
                self._answer(number, statement, session, head)
            is_good = not statement.is_stopped
            self.send((number, "end"))
        except Exception as error:
            text = str(error)
            code = CODE.search(text)
            self.send((number, "error", int(code[1]) if code else 0, text[:2_000]))
        finally:
            self._running.pop(number, None)
            if session is not None:
                self._give_back(session, is_good)

    def _give_back(self, session: Any, is_good: bool) -> None:
        """A session whose last statement broke off was seen to answer the next one with nothing."""
        if not is_good:
            session.cleanup()
            return
        with self._lock:
            self._idle.append(session)

    def _insert(self, number: int, session: Any, head: tuple[Any, ...], body: bytes) -> None:
        """By way of a file: the library's own insertion was seen to report as done what a full disk had refused."""
        _, _, sql, shape = head
        place = os.path.join(self._folder, f"{SPOOLED}{number}")
        try:
            with open(place, "wb") as file:
                file.write(body)
            session.query(f"{sql} SELECT * FROM file({{place:String}}, '{shape}')", "Null", params={"place": place})
        finally:
            with contextlib.suppress(OSError):
                os.unlink(place)

    def _answer(self, number: int, statement: _Statement, session: Any, head: tuple[Any, ...]) -> None:
        _, _, sql, parameters, shape = head
        if not shape:
            session.query(sql, "Null", params=parameters)
            return
        answer = session.send_query(sql, shape, params=parameters)
        try:
            while not statement.is_stopped:
                piece = answer.fetch()
                if piece is None:
                    return
                content = piece.bytes()
                if not content:
                    return
                statement.room.acquire()
                self.send((number, "data"), content)
        finally:
            answer.close()

    def _kill(self, number: int) -> None:
        """End a statement at the engine, wherever it is; it carries its number as a mark."""
        session = self._session()
        try:
            session.query(
                "KILL QUERY WHERE Settings['log_comment'] = {mark:String} ASYNC",
                "Null",
                params={"mark": f"mgrep-{number}"},
            )
            self._give_back(session, True)
        except Exception:
            self._give_back(session, False)


def main() -> None:
    """Serve until the input ends. The folder is the last argument."""
    source, output = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)  # the library may print
    try:
        engine = _Engine(sys.argv[-1], output)
    except Exception as error:
        text = str(error)
        code = CODE.search(text)
        data = marshal.dumps((0, "failed", int(code[1]) if code else 0, f"{type(error).__name__}: {text[:2_000]}"))
        output.write(len(data).to_bytes(4, "little") + (0).to_bytes(8, "little") + data)
        output.flush()
        os._exit(1)
    engine.send((0, "ready"))
    while len(sizes := source.read(12)) == 12:
        head = source.read(int.from_bytes(sizes[:4], "little"))
        length = int.from_bytes(sizes[4:], "little")
        body = source.read(length) if length else b""
        if len(body) < length:
            break
        engine.take(marshal.loads(head), body)
    os._exit(0)
