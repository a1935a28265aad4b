"""The real program in a real terminal: type, see, open, come back, find what was just written, leave, start again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.terminal import terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    (root / "src" / "upload.py").write_text("import time\n\n\ndef retry(job):\n    return unusual_needle(job)\n")
    (root / "src" / "[id] -x.py").write_text("def other():\n    return unusual_needle\n")
    (root / "README.md").write_text("# Uploads\n\nA failed upload is tried again.\n")
    return root


def environ(tmp_path: Path) -> dict[str, str]:
    editor = tmp_path / "editor.sh"
    editor.write_text(f'#!/bin/sh\nfor word; do echo "$word"; done > {tmp_path}/opened\necho EDITING; read answer\n')
    editor.chmod(0o755)
    return {"MGREP_TUI_HOME": str(tmp_path / "home"), "EDITOR": f"{editor} +{{line}} {{path}}", "VISUAL": ""}


def test_from_the_first_key_to_the_chosen_hit(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["-m", "mgrep_tui", "--mode", "regex", "--print", str(tree)]
    with (
        out.open("wb") as file,
        terminal(arguments, size=(120, 36), environ=environ(tmp_path), stdout=file.fileno()) as screen,
    ):
        screen.expect("what are you looking for?")
        screen.send("unusual_n\\w+")
        screen.expect("2 hits")
        screen.send("\r")
        screen.expect("EDITING")
        opened = (tmp_path / "opened").read_text().splitlines()
        assert opened[0] in ("+2", "+5")
        assert opened[1].startswith(str(tree / "src"))
        screen.send("\n")
        screen.expect("2 hits")
        # Just written, at once found.
        (tree / "src" / "new.py").write_text("very_new_needle = 1\n")
        screen.send("\x15very_new")
        screen.expect("src/", "1 hit")
        screen.send("\x0f")
        assert screen.end() == 0
    assert out.read_bytes() == b"src/new.py:1:1\n"


HINT = "Type what you are looking for."


def test_a_folder_comes_back_as_it_was_left_and_the_hint_only_once(tree: Path, tmp_path: Path) -> None:
    """Query, mode, options, cursor and panes of this folder; another folder begins anew, but is no first start."""
    words = ["-m", "mgrep_tui", str(tree)]
    with terminal(words, size=(120, 36), environ=environ(tmp_path)) as source:
        screen = Display(source)
        screen.shows("F1", HINT)
        source.send("\x12unusual")
        screen.shows("2 hits")
        for keys, told in (("\x1bc", "case counts"), ("\x1bo", "by path"), ("\x1bh", "with hidden files")):
            source.send(keys)
            screen.shows(told)
        source.send("\x1b.\x1b.\x1b[B")
        left = screen.shows("2/2", "def retry")
        source.send("\x03")
        assert source.end() == 0
    with terminal(words, size=(120, 36), environ=environ(tmp_path)) as source:
        screen = Display(source)
        again = screen.shows(
            "2/2", "2 hits", "case counts", "by path", "with hidden files", "def retry", "regular expression"
        )
        assert again.splitlines()[4].index("│") == left.splitlines()[4].index("│")
        assert HINT not in again
        source.send("\x03")
        assert source.end() == 0
    (tmp_path / "other").mkdir()
    with terminal(["-m", "mgrep_tui", str(tmp_path / "other")], size=(120, 36), environ=environ(tmp_path)) as source:
        screen = Display(source)
        text = screen.shows("F1", "what are you looking for?", "meaning")
        assert HINT not in text
        source.send("\x03")
        assert source.end() == 0
    with terminal([*words, "--no-restore"], size=(120, 36), environ=environ(tmp_path)) as source:
        screen = Display(source)
        screen.shows("F1", "what are you looking for?", "Recent queries")
        source.send("\x03")
        assert source.end() == 0


def test_words_find_code_as_soon_as_it_is_indexed(tree: Path, tmp_path: Path) -> None:
    """Typed at once, while the index is being made: the answer comes by itself."""
    arguments = ["-m", "mgrep_tui", "--mode", "semantic", "--query", "failed upload tried again", str(tree)]
    with terminal(arguments, size=(120, 36), environ=environ(tmp_path)) as screen:
        screen.expect("Uploads")
        screen.send("\x11")
        screen.end()


def test_a_file_deleted_behind_the_list_is_marked_gone(tree: Path, tmp_path: Path) -> None:
    """FAULTS L15."""
    arguments = ["-m", "mgrep_tui", "--mode", "regex", "--no-watch", "--query", "unusual_n", str(tree)]
    with terminal(arguments, size=(120, 36), environ=environ(tmp_path)) as screen:
        screen.expect("2 hits")
        for name in ("upload.py", "[id] -x.py"):
            (tree / "src" / name).unlink()
        screen.send("\x1b[1;3B")
        screen.expect("✗ gone", "is gone.")
        screen.send("\x03")
        assert screen.end() == 0
