"""Started with a stream closed, or onto a full disk: as a cron job or a careless script does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of Unix")


def run(folder: Path, redirection: str, *words: str) -> tuple[int, str]:
    """Exit status, and what came on the streams that are left."""
    environ = {**os.environ, "MGREP_TUI_HOME": str(folder / "home")}
    command = f'exec "$0" -m mgrep_tui "$@" {redirection}'
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable, *words], cwd=folder, env=environ, capture_output=True, timeout=120
    )
    return ended.returncode, (ended.stdout + ended.stderr).decode()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("def needle():\n    pass\n")
    return tmp_path


def test_an_index_is_built_with_every_stream_closed(tree: Path) -> None:
    """Its child processes inherit the streams: with none they died, and the index waited for ever."""
    assert run(tree, "<&- >&- 2>&-", "index", "tree") == (0, "")
    status, text = run(tree, "", "status", "--json", "tree")
    assert (status, '"chunks": 1' in text) == (0, True)


@pytest.mark.parametrize(("query", "status"), [("needle", 0), ("absent_word", 1)])
def test_a_closed_output_is_no_fault(tree: Path, query: str, status: int) -> None:
    assert run(tree, ">&-", "search", "--mode", "regex", "--no-index", query, "tree") == (status, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["search", "--mode", "regex", "--no-index", "needle", "tree"], ["status", "tree"]])
def test_a_full_output_is_named(tree: Path, words: list[str]) -> None:
    status, text = run(tree, ">/dev/full", *words)
    assert (status, text) == (2, "mgrep-tui: The output cannot be written: No space left on device.\n")
