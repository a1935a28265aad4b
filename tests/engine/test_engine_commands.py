"""The command line of a shared engine, and what a base install says about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.engines import commit, git, tree

FILES = {
    "src/load.py": "def load_settings(path):\n    return parse(path)\n",
    "README.md": "# Settings\n\nHow they are loaded.\n",
}
# What the extra brings cannot be imported, as where it was not installed.
BARE = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("chdb", "pyarrow", "clickhouse_connect"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from mgrep_tui.cli import main
main(sys.argv[1:])
"""


def run(
    home: Path, *words: str, code: str = "from mgrep_tui.cli import main; main()"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "MGREP_TUI_HOME": str(home)},
        check=False,
    )


def test_push_search_and_status(tmp_path: Path) -> None:
    folder, engine, home = tree(tmp_path / "project", FILES), str(tmp_path / "engine"), tmp_path / "home"
    made = commit(folder)
    done = run(home, "push", "--engine", engine, str(folder))
    assert done.returncode == 0 and f"project main {made[:12]}: 2 files" in done.stdout, done.stderr
    found = run(home, "search", "--engine", engine, "--mode", "regex", r"def \w+\(")
    assert (found.returncode, found.stdout) == (0, "project/src/load.py:1:1:def load_settings(path):\n"), found.stderr
    tree(folder, {"src/load.py": "def read_settings(path):\n    return parse(path)\n"})
    found = run(home, "search", "--engine", engine, "--mode", "regex", "--json", r"def \w+\(", str(folder))
    assert json.loads(found.stdout)["text"] == "def read_settings(path):", found.stderr
    found = run(home, "search", "--engine", engine, "--mode", "regex", "nothing of the kind")
    assert (found.returncode, found.stdout) == (1, "")
    git(folder, "checkout", "-q", "--", ".")
    told = json.loads(run(home, "status", "--engine", engine, "--json").stdout)
    assert [(one["repository"], one["branch"], one["commit"], one["searched"]) for one in told["commits"]] == [
        ("project", "main", made, True)
    ]
    assert told["bytes"] > 0 and told["unfinished"] == 0 and told["commits"][0]["lag_s"] >= 0
    gone = run(home, "push", "--engine", engine, "--remove", "project")
    assert gone.returncode == 0 and "Forgot project" in gone.stdout, gone.stderr


def test_a_repository_is_pushed_by_its_address(tmp_path: Path) -> None:
    folder, engine, home = tree(tmp_path / "project", FILES), str(tmp_path / "engine"), tmp_path / "home"
    made = commit(folder)
    done = run(home, "push", "--engine", engine, f"file://{folder}", f"file://{tmp_path}/nothing")
    assert f"{made[:12]}: 2 files" in done.stdout, done.stderr
    # The other one is said, and holds nothing up.
    assert done.returncode == 2 and "nothing" in done.stderr and "Traceback" not in done.stderr
    found = run(home, "search", "--engine", engine, "--mode", "regex", r"def \w+\(")
    assert found.stdout.endswith("project/src/load.py:1:1:def load_settings(path):\n"), found.stdout + found.stderr


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    for words in (
        ("push", "--engine", str(tmp_path / "engine"), str(tmp_path)),
        ("search", "--engine", str(tmp_path / "engine"), "words"),
        ("status", "--engine", "http://localhost:1"),
    ):
        done = run(tmp_path / "home", *words, code=BARE)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and "mgrep-tui[clickhouse]" in done.stderr, done.stderr
    assert not (tmp_path / "engine").exists()


def test_an_engine_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = run(home, "search", "--engine", "http://127.0.0.1:9/code", "words")
    assert (done.returncode, done.stdout) == (2, "") and "does not answer" in done.stderr
    done = run(home, "search", "--engine", "https://me:hunter2@localhost/code", "words")
    assert done.returncode == 2 and "hunter2" not in done.stderr
    done = run(home, "search", "--engine", str(tmp_path / "empty"), "words")
    assert done.returncode == 2 and "mgrep-tui push" in done.stderr
