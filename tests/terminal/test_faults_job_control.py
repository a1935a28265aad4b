"""Ctrl+Z and `fg` as a shell does them, sizes from tiny to huge, and a size that changes while it searches."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.terminal import terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

FAKE = ["-m", "tests.support.fake_program", "retr"]


def test_ctrl_z_gives_the_terminal_back_and_fg_draws_all_again() -> None:
    """P14: twice, and the keys work afterwards."""
    with terminal(["-m", "tests.support.shell_double", *FAKE]) as source:
        Display(source).shows("18 hits")
        for number in (2, 3):
            source.send("\x1a")
            source.expect("STOPPED, the modes are as before")
            assert source.output.count(b"\x1b[?1049l") == number - 1
            source.send("\n")
            screen = Display(source)
            screen._done = len(source.output)  # only what is drawn from now on
            screen.shows("18 hits", "F9")
            source.send("\x1b[B")
            screen.shows(f" {number}/18")
        source.send("\x03")
        assert source.end() == 1


@pytest.mark.parametrize("size", [(20, 5), (1, 1)])
def test_every_size_draws_and_leaves(tmp_path: Path, size: tuple[int, int]) -> None:
    """P14"""
    (tmp_path / "tree").mkdir()
    for number in range(40):
        (tmp_path / "tree" / f"f{number}.py").write_text("needle\n" * 20)
    words = ["-m", "mgrep_tui", "--mode", "regex", "--query", "needle", "--no-watch", str(tmp_path / "tree")]
    with terminal(words, size=size, environ={"MGREP_TUI_HOME": str(tmp_path / "home")}) as source:
        source.expect("")
        source.resize(120, 36)
        for other in ((20, 5), (400, 100), (30, 60), (120, 36)):
            source.resize(*other)
        screen = Display(source)
        screen.shows("800 hits")
        source.send("\x1b[B")
        screen.shows(" 2/800")
        source.send("\x03")
        assert source.end() in (0, 1)
        assert b"Traceback" not in source.output


def test_ctrl_z_without_a_shell_behind_does_not_stop_for_ever() -> None:
    """P14: in a popup of tmux, or as a terminal's own command, nobody could wake the program again."""
    with terminal(FAKE) as source:
        screen = Display(source)
        screen.shows("18 hits")
        source.send("\x1a")
        screen.shows("There is no shell to go back to.")
        source.send("\x1b[B")
        screen.shows(" 2/18")
        source.send("\x03")
        source.end()


def test_what_is_typed_before_the_screen_stands_is_not_lost() -> None:
    """P14: the program's name, Enter, and the query without looking up."""
    with terminal(["-m", "tests.support.fake_program"]) as source:
        source.send("retr")
        screen = Display(source)
        screen.shows("18 hits")
        source.send("y")
        screen.shows("retry")
        source.send("\x03")
        source.end()
