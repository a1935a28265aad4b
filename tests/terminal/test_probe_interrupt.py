"""Ctrl+C while an index is made: the group of processes gets it, and only the program itself answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.terminal import terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


def test_ctrl_c_while_children_start_writes_no_traceback(tmp_path: Path) -> None:
    """P14: a child that was just starting wrote one, and the tracker of its semaphores a warning."""
    (tmp_path / "tree").mkdir()
    for number in range(300):
        (tmp_path / "tree" / f"m{number}.py").write_text(f"def needle_{number}():\n    return {number}\n" * 30)
    environ = {"MGREP_TUI_HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    with terminal(["-m", "mgrep_tui", "index", str(tmp_path / "tree")], environ=environ) as source:
        source.expect("300 files")
        source.send("\x03")
        assert source.end() == 130
        assert "Traceback" not in source.text() and "Warning" not in source.text(), source.text()
