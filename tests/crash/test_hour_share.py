"""A bounded share of the hour; `python -m tests.crash.hour FOLDER REPOSITORY 3600` is the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.hour import Hour
from tests.support.git_trees import Tree

ROUNDS = 15


@pytest.mark.timeout(400)
def test_edits_switches_and_searches_at_random_end_as_a_fresh_index(tmp_path: Path) -> None:
    """L5"""
    tree = Tree(tmp_path / "repository").init()
    for number in range(40):
        tree.write(f"d{number % 5}/m{number}.py", f"def run_command_{number}():\n    return 'needle {number}'\n")
    tree.commit()
    hour = Hour(tmp_path / "hour", tree.path, seed=3)
    hour.run(300.0, 0.0, ROUNDS)
    found = hour.finish()
    assert not found["wrong"]
    assert found["complete"] and found["same files as fresh"] and found["same chunks as fresh"]
    assert not found["last error"]
