"""Starting an editor so that the terminal always comes back. What to start is decided in `presets`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from mgrep_tui.editor.presets import EditorCommand
from mgrep_tui.errors import MgrepError


def find_program(command: EditorCommand) -> EditorCommand:
    """The command with its program as a full path, since it is started in another folder, where a relative one would be a program of the
    tree. Raises `MgrepError` when it is not there: to be called before the screen is given up."""
    program = os.path.expanduser(os.fsdecode(command.argv[0]))
    found = shutil.which(program)
    if found is None:
        raise MgrepError(f"The editor '{program}' was not found.", "Set $VISUAL, $EDITOR or `editor.command`.")
    return EditorCommand((os.fsencode(os.path.abspath(found)), *command.argv[1:]), command.is_terminal, command.name)


def linked_program(program: str) -> str:
    """The path of the program that a name stands for, links followed; the name itself when there is none."""
    found = shutil.which(os.path.expanduser(program))
    return program if found is None else os.path.realpath(found)


def run_in_terminal(command: EditorCommand, folder: Path) -> int:
    """Run in the foreground and return its exit status; the caller has given the screen up.

    The editor gets the terminal itself on all three streams, whatever ours are connected to. Ctrl+C reaches editor and program
    alike, so for the time being a handler that does nothing stands in (not "ignore", which the editor would inherit). Raises
    `MgrepError`, never `OSError`.
    """
    try:
        with _interrupts_ignored(), _terminal() as terminal:
            return subprocess.call(command.argv, cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal)
    except OSError as error:
        raise MgrepError(f"'{command.name}' could not be started: {error.strerror}.") from error


def start_detached(command: EditorCommand, folder: Path) -> None:
    """Start an editor that has a window of its own, and do not wait. Raises `MgrepError`."""
    try:
        subprocess.Popen(
            command.argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise MgrepError(f"'{command.name}' could not be started: {error.strerror}.") from error


@contextmanager
def _terminal() -> Iterator[int | None]:
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        yield None
        return
    try:
        yield terminal
    finally:
        os.close(terminal)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    def nothing(_signal: int, _frame: FrameType | None) -> None:
        return None

    before = signal.signal(signal.SIGINT, nothing)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
