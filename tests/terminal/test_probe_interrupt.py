"""Ctrl+C before the program answers, and while an index is made: the group of processes gets it, and only the program itself answers."""

from __future__ import annotations

import os
import signal
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


@pytest.mark.parametrize("module", ["argparse", "platformdirs"])
def test_ctrl_c_while_modules_are_loaded_writes_no_traceback(tmp_path: Path, module: str) -> None:
    """P14: in the first tenth of a second one saw the imports of the program. The second of these is loaded when `main` listens already."""
    # In its place stands a module that is never done.
    (tmp_path / f"{module}.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(600)\n")
    environ = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "MGREP_TUI_HOME": ""}
    with terminal(["-m", "mgrep_tui", "status", str(tmp_path)], environ=environ) as source:
        source.expect("loading")
        source.send("\x03")
        assert source.end() in (130, -signal.SIGINT)
        assert "Traceback" not in source.text(), source.text()
