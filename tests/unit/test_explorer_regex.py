"""Regex mode through a whole explorer that stays open, as the screen has it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.second import SECOND
from tests.support.explored import Explored
from tests.support.regex_ways import Collected

CODE = "class Store:\n    def save(self, row):\n        needle = row\n        return needle\n"


@pytest.fixture
def explored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Explored]:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    made = Explored(tmp_path).write({"store.py": CODE, "notes.txt": "needle\n"})
    yield made
    made.close()


def hits_of(explorer: LocalExplorer, text: str) -> Collected:
    sink = Collected()
    explorer.answer(text, Mode.REGEX, SearchOptions(), sink, CancelToken())
    return sink


@pytest.mark.skipif(sys.platform == "win32", reason="there is no second process")
def test_the_second_process_lives_as_long_as_what_stays_open(explored: Explored) -> None:
    explorer = explored.open(watch=True)
    other = explored.open(watch=True)
    pid = SECOND.pid
    assert pid is not None
    explorer.close()
    assert SECOND.pid == pid, "somebody else has it still"
    other.close()
    assert SECOND.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_one_answer_needs_no_second_process(explored: Explored) -> None:
    explored.open(watch=False)
    assert SECOND.pid is None


def test_a_hit_says_in_which_function_it_is(explored: Explored) -> None:
    explorer = explored.open(semantic=True, watch=True)
    explorer.wait(CancelToken(), needs_vectors=True)
    told = {(hit.path, hit.line): (hit.container, hit.symbol, hit.kind) for hit in hits_of(explorer, "needle").hits}
    assert told == {
        (b"store.py", 2): ("Store", "save", "method"),
        (b"store.py", 3): ("Store", "save", "method"),
        (b"notes.txt", 0): ("", "", ""),
    }
    # Lines have moved, and the index may not know yet: nothing is said that could be wrong.
    (explored.path / "store.py").write_text("\n" * 40 + CODE)
    explorer.pause()
    for hit in hits_of(explorer, "needle").hits:
        assert hit.path == b"notes.txt" or hit.line >= 42
        assert hit.symbol in ("", "save")
