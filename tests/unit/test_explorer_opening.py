"""Which command opens hits in the editor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mgrep_tui.editor.presets import Place
from mgrep_tui.errors import GoneError
from mgrep_tui.explorer.opening import editor_command
from mgrep_tui.settings.config import EditorSettings, Settings

SETTINGS = Settings(editor=EditorSettings(command=sys.executable))


def place(path: Path) -> Place:
    return Place(os.fsencode(path), 3, 2)


def test_enter_on_a_hit_whose_file_is_gone_opens_no_empty_file(tmp_path: Path) -> None:
    """FAULTS L15."""
    with pytest.raises(GoneError, match="not there any more"):
        editor_command([place(tmp_path / "gone.py")], SETTINGS, {}, tmp_path)


def test_of_several_hits_those_that_are_there_are_opened(tmp_path: Path) -> None:
    kept = tmp_path / "kept.py"
    kept.write_text("x\n")
    command = editor_command([place(tmp_path / "gone.py"), place(kept)], SETTINGS, {}, tmp_path)
    assert os.fsencode(kept) in command.argv
    assert not any(b"gone.py" in word for word in command.argv)
