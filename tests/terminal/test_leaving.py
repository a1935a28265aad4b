"""Leaving while something is under way: no child stays behind, and the terminal is as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.terminal import terminal

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

CTRL_C = "\x03"


def alive_in_session(leader: int) -> list[str]:
    """What still runs of a session, by its command."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, session = (entry / "stat").read_text().rsplit(") ", 1)[1].split()[:4]
                if int(session) == leader and state != "Z":
                    found.append((entry / "cmdline").read_text().replace("\0", " "))
            except (OSError, ValueError):
                continue
    return found


def after(output: bytes, *marks: bytes) -> bytes:
    """What was written behind these marks, each behind the one before."""
    for mark in marks:
        output = output.partition(mark)[2]
    return output


@pytest.mark.parametrize("moment", ["indexing", "searching", "preview", "palette", "editor"])
def test_leaving_at_any_moment_leaves_no_child_and_the_terminal_as_it_was(moment: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(400):
        (tree / f"module_{number:03d}.py").write_text(f"def needle_{number}():\n    return {number}\n" * 60)
    environ = {
        "MGREP_TUI_HOME": str(tmp_path / "home"),
        "VISUAL": "",
        "EDITOR": "sh -c 'echo EDITING; read answer' {path}",
    }
    words = ["-m", "mgrep_tui", "--mode", "semantic" if moment == "indexing" else "regex", "--no-restore", str(tree)]
    with terminal(words, size=(120, 36), environ=environ) as source:
        before = source.mode()
        screen = Display(source)
        screen.shows("F1")
        if moment == "indexing":
            screen.wait(lambda text: "reading files" in text or "ready" in text, "the index at work")
        elif moment == "searching":
            source.send("(n|e)+.*[0-9]+")
            screen.wait(lambda text: "needle" in text[text.find("─") :], "hits")
        else:
            source.send("needle_7")
            screen.shows("def needle_7", "return")
        if moment == "palette":
            source.send("\x1b[20~")
            screen.shows("Commands")
        if moment == "editor":
            source.send("\r")
            source.expect("EDITING")
            source.send("\n")
            # The screen is taken again, and drawn.
            screen.wait(
                lambda _text: b"needle_7" in after(source.output, b"EDITING", b"\x1b[?1049h"), "the screen again"
            )
        source.send(CTRL_C)
        source.end()
        assert source.mode() == before
        assert b"\x1b[?1049l" in source.output[-4_000:]
        # The children see a pipe end, and take their time under load.
        for _ in range(200):
            if not (left := alive_in_session(source.process.pid)):
                break
            source.read(0.05)
        assert left == []
