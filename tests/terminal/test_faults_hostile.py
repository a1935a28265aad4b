"""Hostile text against the whole program in a real terminal: the raw stream holds no control that the program did not make itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.hostile import ALL, assert_ours, plain, sequences, write_home, write_project
from tests.support.terminal import Terminal, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

F1, F3, F8, F9, F12 = "\x1bOP", "\x1bOR", "\x1b[19~", "\x1b[20~", "\x1b[24~"
DOWN, ESCAPE = "\x1b[B", "\x1b"
# The shape of the mouse pointer and cell sizes are asked by Textual as it likes.
FROM_TEXTUAL = {"\x1b]N\x07", "\x1b]Ndefault\x07", "\x1b]Ntext\x07", "\x1b]Npointer\x07"}


def drive(source: Terminal) -> None:
    """Show every part of the screen once."""
    screen = Display(source)
    screen.shows("36 hits", "index ready")
    place = re.compile(r" (\d+)/36 ")
    for _ in range(36):  # every hit and its preview
        before = place.search(screen.text())
        source.send(DOWN)
        screen.wait(lambda text: place.search(text) != before or "36/36" in text, "another hit")  # noqa: B023
    for keys, wanted, leave in (
        (F1, "Esc closes", F1),
        (F8, "Build the vectors anew", F8),
        (F9, "what to do", F9),
        (F12, "find in history", ESCAPE),
        ("\x07", "what to do", ESCAPE),
        ("\x1be", "to the clipboard", ESCAPE),
    ):
        source.send(keys)
        screen.shows(wanted)
        source.send(leave)
        screen.lacks(wanted)
    source.send("\r")
    screen.shows("was not found")  # the editor, in a toast
    source.send(F9)
    screen.shows("what to do")
    source.send("files not\r")
    screen.shows("Not searched: ", "skipped")
    source.send(ESCAPE)
    screen.lacks("Not searched: ")
    source.send("\x15second")
    screen.shows("1 hit in 1 file", "doc.md › ")
    source.send("\x13")
    screen.shows("find a symbol")
    source.send(ESCAPE)
    screen.lacks("find a symbol")
    source.send(F3)
    screen.shows("+lang")
    source.send(ESCAPE)
    screen.lacks("+lang")
    source.send("\x15\x1b[200~path:" + ALL.replace("\x1b", "") + "( needle\x1b[201~")
    screen.wait(lambda text: "No matches" in text or "╰" in text, "an answer to the pasted text")
    source.send("\x15")
    screen.shows("Recent queries")
    source.send("needle_1")
    screen.shows("7 hits")
    source.send("\t\t")
    screen.shows("2 marked")
    source.send("\x0f")
    assert source.end() == 0


def run_screen(folder: Path, *, is_hostile: bool) -> bytes:
    """All that is written to the terminal: a first run through everything, a second one that begins with what is remembered."""
    tree = write_project(folder, is_hostile=is_hostile)
    environ = write_home(folder / "home", is_hostile=is_hostile)
    words = ["-m", "mgrep_tui", "--mode", "regex", "--no-watch", "--print", str(tree.path)]
    with terminal([*words, "--query", "needle"], size=(120, 40), environ=environ) as source:
        drive(source)
        output = source.output
    with terminal([*words, "--no-restore"], size=(120, 40), environ=environ) as source:
        screen = Display(source)
        screen.shows("Recent queries", "Changed lately", "doc.md")
        for _ in range(12):
            source.send(DOWN)
        screen.shows("needle")
        source.send("\x03")
        assert source.end() == 1
        return output + source.output


def test_no_text_from_outside_steers_the_terminal(tmp_path: Path) -> None:
    """P3, P1: contents, names, branch, headings, configuration, history, editor and errors, in every pane, overlay and toast."""
    ours = sequences(run_screen(tmp_path / "clean", is_hostile=False))
    found = run_screen(tmp_path / "hostile", is_hostile=True)
    assert_ours(found, ours | FROM_TEXTUAL)
    assert b"\x1b]0;" not in found and b"\x1b]52" not in found
    shown = plain(found)
    assert ".mgrep-tui.toml" in shown, "the configuration's faults were in toasts"
    assert "PWNED" in shown, "it is shown, with stand-ins"
    assert "[/b]" in shown and "[@click=app.quit]" in shown, "markup is shown as it stands"
