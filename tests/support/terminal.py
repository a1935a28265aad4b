"""A program in a real pseudo-terminal: what it writes byte by byte, keys to it, its size, its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 40.0
# What would make the program look at something else than its terminal.
_NOT_INHERITED = frozenset({"NO_COLOR", "COLUMNS", "LINES", "TMUX", "SSH_TTY", "SSH_CONNECTION"})
# What Textual itself sends: CSI and OSC sequences, DCS, and single-character escapes.
_CONTROL = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|P[^\x1b]*\x1b\\|[ -/]*[0-~])")


class Terminal:
    """The master side. Reads only while it waits for something."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self.output = b""
        self.seen = 0  # `output` before this was looked at by `expect`

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def send(self, keys: str | bytes) -> None:
        os.write(self._master, keys.encode() if isinstance(keys, str) else keys)

    def hang_up(self) -> None:
        """The window is closed, the connection lost."""
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, self._master)
        os.close(nothing)

    def mode(self) -> list[object]:
        """The terminal's attributes, to compare before and after."""
        return termios.tcgetattr(self._master)

    def read(self, timeout_s: float = 0.05) -> bool:
        """Take over what was written; False when nothing came."""
        ready, _, _ = select.select([self._master], [], [], timeout_s)
        if not ready:
            return False
        try:
            part = os.read(self._master, 65_536)
        except OSError:  # EIO: the other side is closed
            return False
        self.output += part
        return bool(part)

    def text(self, start: int = 0) -> str:
        """What was written since `start`, without control sequences."""
        return _CONTROL.sub(b"", self.output[start:]).decode("utf-8", "replace")

    def expect(self, *wanted: str) -> None:
        """Wait until all of these were written since the last `expect`."""
        deadline = time.monotonic() + PATIENCE_S
        while not all(word in self.text(self.seen) for word in wanted):
            assert time.monotonic() < deadline, f"{wanted} did not come; the last: {self.text(self.seen)[-2_000:]!r}"
            assert self.read() or self.process.poll() is None, f"it ended; the last: {self.text(self.seen)[-2_000:]!r}"
        self.seen = len(self.output)

    def end(self) -> int:
        """Wait for the end of the program, reading all it writes; its exit status."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            self.read()
            assert time.monotonic() < deadline, "it did not end"
        while self.read(0.05):
            pass
        return self.process.returncode


@contextlib.contextmanager
def terminal(
    arguments: Sequence[str],
    *,
    size: tuple[int, int] = (100, 30),
    environ: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    stdin: int | None = None,
    stdout: int | None = None,
) -> Iterator[Terminal]:
    """Run Python with `arguments` as the leader of a session whose terminal is ours. `stdin` and `stdout` may lead elsewhere."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    environment = {
        **{name: value for name, value in os.environ.items() if name not in _NOT_INHERITED},
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        **(environ or {}),
    }

    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=slave if stdin is None else stdin,
        stdout=slave if stdout is None else stdout,
        stderr=slave,
        env=environment,
        cwd=cwd,
        preexec_fn=take_terminal,  # no threads yet in the child
        close_fds=True,
        pass_fds=(),
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)
