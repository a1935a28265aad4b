"""The commands on a terminal, with hostile names, arguments, contents and configuration: only our own controls are written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.git_trees import Tree
from tests.support.hostile import BROKEN, ESCAPES, assert_ours, write_home, write_project
from tests.support.terminal import terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

# The line of progress, and what every terminal program writes.
OURS = {"\r", "\n", "\t", "\x1b[K", "\x1b[Nm"}
EVIL = "".join(ESCAPES)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tree, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("hostile")
    yield write_project(folder, is_hostile=True), write_home(folder / "home", is_hostile=True)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["search", "--mode", "regex", "needle", "ROOT"], 0),
        (["search", "needle", "--limit", "9", "--explain", "ROOT"], 0),
        (["search", "--mode", "regex", f"({EVIL}", "ROOT"], 2),
        (["search", "x", f"/no/{EVIL}"], 2),
        (["search", "--queries", f"/no/{EVIL}", "ROOT"], 2),
        (["search", "a", "b", EVIL], 2),
        (["search", f"--x{EVIL}"], 2),
        (["search", "--limit", EVIL, "x"], 2),
        (["index", "ROOT"], 0),
        (["status", "ROOT"], 0),
        (["status", f"--x{EVIL}"], 2),
        (["why", "ROOT/BROKEN", "ROOT"], 0),
        (["why", f"ROOT/no{EVIL}", "ROOT"], 1),
        ([f"--x{EVIL}"], 2),
        (["--mode", EVIL], 2),
        ([f"/no/{EVIL}"], 2),
        (["clean", "ROOT"], 0),
    ],
)
def test_commands_write_only_their_own_controls(
    project: tuple[Tree, dict[str, str]], words: list[str], status: int
) -> None:
    """P3"""
    tree, environ = project
    broken = os.fsdecode(b"n3" + BROKEN[3] + b".py")
    words = [word.replace("ROOT", str(tree.path)).replace("BROKEN", broken) for word in words]
    with terminal(["-m", "mgrep_tui", *words], environ=environ, size=(200, 40)) as source:
        assert source.end() == status, source.output
        assert_ours(source.output, OURS)
        assert b"Traceback" not in source.output


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_of_another_encoding_gets_escapes(project: tuple[Tree, dict[str, str]], encoding: str) -> None:
    """P3, D3: what cannot be written is no fault of the program."""
    tree, environ = project
    words = ["-m", "mgrep_tui", "search", "--mode", "regex", "needle", str(tree.path)]
    with terminal(words, environ={**environ, "PYTHONIOENCODING": encoding}, size=(200, 40)) as source:
        assert source.end() == 0, source.output
        assert source.output.count(b"needle") >= 36
        assert b"\x1b]" not in source.output and b"\x9b" not in source.output


@pytest.mark.parametrize("query", ["x*", "()", "|", "(a+)+$", "foo(", "\\"])
def test_odd_patterns_leave_the_screen_awake(project: tuple[Tree, dict[str, str]], query: str) -> None:
    """B1, B7, C1: the screen takes the next query."""
    tree, environ = project
    words = ["-m", "mgrep_tui", "--mode", "regex", "--query", query, "--no-watch", "--no-restore", str(tree.path)]
    with terminal(words, environ=environ, size=(100, 30)) as source:
        screen = Display(source)
        screen.shows("regular expression")
        source.send("\x15second")
        screen.shows("1 hit in 1 file")
        source.send("\x03")
        source.end()
        assert b"Traceback" not in source.output


@pytest.mark.parametrize("answer", ["\n", "n\n", "\x03"])
def test_a_home_folder_is_asked_about_first(tmp_path: Path, answer: str) -> None:
    """H5: nothing is made before the answer, and Ctrl+C ends it cleanly."""
    (tmp_path / "folk" / "a").mkdir(parents=True)
    environ = {"HOME": str(tmp_path / "folk"), "MGREP_TUI_HOME": str(tmp_path / "home")}
    with terminal(["-m", "mgrep_tui", str(tmp_path / "folk")], environ=environ) as source:
        source.expect("This is your home folder", "[y/N]")
        source.send(answer)
        assert source.end() == (130 if answer == "\x03" else 1)
        assert b"Traceback" not in source.output and b"\x1b[?1049h" not in source.output
    assert not list((tmp_path / "home").rglob("roots/*"))


def test_a_large_tree_without_git_is_asked_about_first(tmp_path: Path) -> None:
    """H5: with its count, by the limit of the configuration; a tree in git is not."""
    tree = Tree(tmp_path / "tree")
    for number in range(30):
        tree.write(f"f{number}.py", "needle\n")
    config = tmp_path / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[index]\nask_above_files = 20\n")
    environ = {"MGREP_TUI_HOME": str(tmp_path / "home")}
    words = ["-m", "mgrep_tui", "--mode", "regex", "--query", "needle", "--no-watch", str(tree.path)]
    with terminal(words, environ=environ) as source:
        source.expect("more than 20 files", "[y/N]")
        source.send("y\n")
        Display(source).shows("30 hits")
        source.send("\x03")
        source.end()
    tree.init()
    with terminal(words, environ={"MGREP_TUI_HOME": str(tmp_path / "home")}) as source:
        Display(source).shows("30 hits")
        source.send("\x03")
        source.end()
        assert b"[y/N]" not in source.output
