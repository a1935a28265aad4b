"""Makes sure that there is a terminal to draw on and a keyboard to read from, whatever standard input and output are connected to.

Textual draws on standard error and reads keys from standard input. Standard output stays free for the chosen hits, and a pipe on
standard input is exchanged for the terminal.
"""

from __future__ import annotations

import os
import sys

from mgrep_tui.errors import MgrepError

_HINT = "Use `mgrep-tui search` where there is none."


def claim_keyboard() -> None:
    """Raises `MgrepError` when there is no terminal. Called once, before the screen starts."""
    if not _is_terminal(2):
        raise MgrepError("The screen needs a terminal on standard error.", _HINT)
    if _is_terminal(0) or sys.platform == "win32":
        return
    try:
        keyboard = os.open("/dev/tty", os.O_RDWR)
    except OSError as error:
        raise MgrepError("The screen needs a terminal to read keys from.", _HINT) from error
    os.dup2(keyboard, 0)
    os.close(keyboard)


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False
