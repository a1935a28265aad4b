"""Textual's driver of the terminal, put right in six points. Not for Windows, which has another."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import threading
from collections.abc import Iterable

from textual import events
from textual.app import App
from textual.drivers import _writer_thread, linux_driver
from textual.message import Message

from mgrep_tui.ui.alt_keys import AltParser

_PAINTED_ON = 2  # standard error, as Textual has it
# Writes that wait for a slow terminal: a frame. With Textual's 30 a held cursor is 13 s behind on a link of 30 kB a second.
_WAITING_WRITES = 3


class _GoneError(Exception):
    """The terminal has hung up."""


class Writer(_writer_thread.WriterThread):
    """Writes to the terminal in a thread of its own, all of it. Once the terminal is gone what comes is let fall: Textual's thread ends
    there, its queue fills, and whoever writes next waits for ever."""

    def run(self) -> None:
        is_gone = False
        while (text := self._queue.get()) is not None:
            with contextlib.suppress(OSError, ValueError):
                if not is_gone:
                    is_gone = True
                    _write_all(self._file.fileno(), text)
                    is_gone = False


def _write_all(descriptor: int, text: str) -> None:
    """Write to a terminal, whatever it takes at once. With `PYTHONUNBUFFERED` Python's own stream loses the rest where a signal comes in
    between, and a terminal that another program left non-blocking refuses what does not fit. Raises `OSError` once it is gone."""
    left = memoryview(text.encode("utf-8", "backslashreplace"))
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


class TerminalDriver(linux_driver.LinuxDriver):
    """It asks the terminal that it paints on for its size: Textual asks standard output, which may be a file or a pipe
    (`vim $(mgrep-tui --print)`), and then takes 80 × 24. It reads Alt keys as plain terminals send them. What is typed before the screen
    stands is kept for it, where Textual lets it fall. On a slow link frames are left out, where Textual sends all of them. And it ends when
    the terminal goes away (a closed window, a lost connection), where Textual waits or spins."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ):
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._early: list[Message] | None = []  # None once the screen takes keys
        self._early_lock = threading.Lock()

    def start_application_mode(self) -> None:
        # Textual has no place to say this either, hence its release is pinned.
        _writer_thread.MAX_QUEUED_WRITES = _WAITING_WRITES  # type: ignore[misc]
        linux_driver.WriterThread = Writer  # type: ignore[attr-defined]
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def write(self, data: str) -> None:
        # A terminal that went away while an editor had it cannot be taken back: nobody takes what is written.
        if self._writer_thread is not None and self._writer_thread.is_alive():
            super().write(data)

    def process_message(self, message: Message) -> None:
        """In the input's thread."""
        with self._early_lock:
            if self._early is not None and isinstance(message, events.Key | events.Paste):
                self._early.append(message)
                return
        super().process_message(message)

    def take_keys(self) -> None:
        """From now on keys arrive at once, after those that came before."""
        with self._early_lock:
            early, self._early = self._early or [], None
            for message in early:
                super().process_message(message)

    def _get_terminal_size(self) -> tuple[int, int]:
        try:
            width, height = os.get_terminal_size(_PAINTED_ON)
        except OSError:
            width, height = shutil.get_terminal_size()
        return width or 80, height or 24

    def _sigcont_application(self, *_: object) -> None:
        # Whoever loses the terminal is told to go on as well, without having been stopped.
        if self._must_signal_resume:
            super()._sigcont_application()

    def run_input_thread(self) -> None:
        poll = select.poll()
        poll.register(self.fileno, 0)

        class Parser(AltParser):
            def tick(self) -> Iterable[Message]:
                """After each look at the input, which is for ever "there" and empty once the terminal is gone."""
                if any(found & select.POLLHUP for _, found in poll.poll(0)):
                    raise _GoneError
                return super().tick()

        # Textual has no place to name the parser, hence its release is pinned.
        linux_driver.XTermParser = Parser  # type: ignore[attr-defined]
        try:
            super().run_input_thread()
        except (_GoneError, OSError):
            self._loop.call_soon_threadsafe(self._app.exit)
