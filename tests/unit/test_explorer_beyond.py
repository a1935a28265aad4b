"""Hidden and ignored files join a search in regex mode when asked for, whatever stands in the index."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.explored import WAYS, Explored, ask, index_small_trees

FILES = {
    "seen.py": "needle = 1\n",
    ".env": "needle = 2\n",
    ".github/ci.yml": "needle: 3\n",
    ".gitignore": "build/\n*.log\n",
    "build/out.py": "needle = 4\n",
    "run.log": "needle 5\n",
    ".mgrepignore": "own/\n",
    "own/x.py": "needle = 6\n",
    **{f"more/{number}.py": "nothing\n" for number in range(12)},
}
HIDDEN = {b".env", b".github/ci.yml"}
IGNORED = {b"build/out.py", b"run.log", b"own/x.py"}


@pytest.mark.parametrize("way", WAYS)
def test_what_the_index_leaves_out_is_found_when_asked_for(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_small_trees(monkeypatch)
    explored = Explored(tmp_path)
    subprocess.run(["git", "init", "-q", explored.path], check=True)
    explorer = explored.found_by(way, FILES)
    try:
        for options, beyond in (
            ({}, set()),
            ({"hidden": True}, HIDDEN),
            ({"ignored": True}, IGNORED),
            ({"hidden": True, "ignored": True}, HIDDEN | IGNORED),
            ({}, set()),
        ):
            answer = ask(explorer, "needle", **options)
            paths = [hit.path for hit in answer.hits]
            assert set(paths) == {b"seen.py"} | beyond
            assert len(paths) == len(set(paths)), "each once"
            assert not any(path.startswith(b".git/") for path in paths)
    finally:
        explored.close()
