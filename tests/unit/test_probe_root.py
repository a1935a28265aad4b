"""The opened folder itself goes away, and comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgrep_tui.errors import UnreadableError
from mgrep_tui.model import Mode
from tests.support.explored import Explored, ask


@pytest.mark.parametrize("mode", list(Mode))
def test_a_root_that_is_gone_is_said_and_not_searched(tmp_path: Path, mode: Mode) -> None:
    """L15, O1: neither "no matches" nor a fault of the program; when the folder is back it is searched again."""
    explored = Explored(tmp_path).write({"a.py": "def needle(): pass\n"})
    explorer = explored.open(semantic=mode is Mode.SEMANTIC)
    try:
        assert ask(explorer, "needle", mode).hits
        explored.path.rename(tmp_path / "away")
        with pytest.raises(UnreadableError, match="gone or cannot be read"):
            ask(explorer, "needle", mode)
        (tmp_path / "away").rename(explored.path)
        assert ask(explorer, "needle", mode).hits
    finally:
        explored.close()
