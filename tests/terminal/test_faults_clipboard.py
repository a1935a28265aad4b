"""What is copied from a hostile project reaches the terminal as base64 alone, and holds nothing that acts when it is pasted."""

from __future__ import annotations

import base64
import re
import sys
import unicodedata
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.hostile import ESCAPES, assert_ours, sequences, write_home, write_project
from tests.support.terminal import terminal
from tests.terminal.test_faults_hostile import FROM_TEXTUAL

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

F9, DOWN = "\x1b[20~", "\x1b[B"
_COPY = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
COMMANDS = ("copy path:line", "copy the line", "copy the path", "copy a permalink", "copy the snippet")


def run(folder: Path, *, is_hostile: bool) -> bytes:
    tree = write_project(folder, is_hostile=is_hostile)
    evil = ESCAPES[0] + "\x9b31m" if is_hostile else "x"
    tree.git("config", "remote.origin.url", f"https://example.org/owner{evil}/name.git")
    tree.git("config", "user.name", evil)
    environ = {
        **write_home(folder / "home", is_hostile=is_hostile),
        "DISPLAY": "",
        "WAYLAND_DISPLAY": "",
        "WSL_DISTRO_NAME": "",
    }
    words = ["-m", "mgrep_tui", "--mode", "regex", "--no-watch", "--no-restore", "--query", "needle", str(tree.path)]
    with terminal(words, size=(120, 40), environ=environ) as source:
        screen = Display(source)
        screen.shows("36 hits", "index ready")
        for _ in range(4):
            for command in COMMANDS:
                before = source.output.count(b"\x1b]52;c;")
                source.send(F9)
                screen.shows("what to do")
                source.send(command + "\r")
                screen.wait(lambda _: source.output.count(b"\x1b]52;c;") > before, "the copy")  # noqa: B023
                screen.lacks("what to do")
            for _ in range(9):
                source.send(DOWN)
        source.send("\x03")
        source.end()
        return source.output


def test_what_is_copied_cannot_steer_a_terminal(tmp_path: Path) -> None:
    """P3, J1: lines, paths that are no UTF-8, permalinks of a hostile remote; also in the toasts that tell of them."""
    clean = run(tmp_path / "clean", is_hostile=False)
    found = run(tmp_path / "hostile", is_hostile=True)
    copied = [base64.b64decode(each, validate=True) for each in _COPY.findall(found)]
    assert len(copied) == 20
    assert found.count(b"\x1b]52") == len(copied)
    assert_ours(_COPY.sub(b"", found), sequences(_COPY.sub(b"", clean)) | FROM_TEXTUAL)
    for content in copied:
        text = content.decode("utf-8", "replace")
        controls = [char for char in text if unicodedata.category(char) == "Cc" and char not in "\t\n"]
        assert not controls, content
