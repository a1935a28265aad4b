"""The screen where the locale is not UTF-8: over ssh and in containers it often is not, and the terminal is all the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.terminal import terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.mark.parametrize(
    "environ",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=["ascii", "latin-1"],
)
def test_the_screen_is_drawn_in_utf_8_whatever_the_locale(tmp_path: Path, environ: dict[str, str]) -> None:
    """P10: lines and marks came as \\u2500, and all columns were wrong."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("needle = '日本 é'\n", encoding="utf-8")
    words = ["-m", "mgrep_tui", "--mode", "regex", "--query", "needle", "--no-watch", str(tmp_path / "tree")]
    with terminal(words, environ={"MGREP_TUI_HOME": str(tmp_path / "home"), **environ}) as source:
        screen = Display(source)
        screen.shows("1 hit", "日", "é'", "──")
        assert b"\\u" not in source.output and b"\\x" not in source.output
        source.send("\x03")
        source.end()
