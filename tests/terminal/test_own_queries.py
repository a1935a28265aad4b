"""A person's own query files, from the config folder to the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OWN = (
    ";; inherits: python\n\n"
    "((call function: (identifier) @_register\n"
    "  arguments: (argument_list . (string (string_content) @name))) @rule\n"
    '  (#eq? @_register "register"))\n'
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "home/config/queries").mkdir(parents=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/routes.py").write_text('register("north_gate", handler)\n\n\ndef handler():\n    return 1\n')
    (tmp_path / "tree/move.go").write_text("package move\n\nfunc Move() int { return 1 }\n")
    return tmp_path


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mgrep_tui", *words, str(place / "tree")],
        env={**os.environ, "MGREP_TUI_HOME": str(place / "home")},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_a_query_file_in_the_config_folder_adds_symbols_and_a_changed_one_is_noticed(place: Path) -> None:
    ask = ("search", "--mode", "semantic", "--json", "sym:north_gate")
    assert run(place, *ask).returncode == 1
    (place / "home/config/queries/python.scm").write_text(OWN)
    found = run(place, *ask)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[0])["path"].endswith("routes.py")


def test_a_broken_query_file_is_told_in_a_sentence_and_harms_no_other_language(place: Path) -> None:
    (place / "home/config/queries/go.scm").write_text("(no_such_node) @function\n")
    (place / "home/config/queries/python.scm").write_bytes(b"\xff\xfe no text")
    found = run(place, "search", "--mode", "semantic", "--json", "where is move")
    assert found.returncode == 0, found.stderr
    status = run(place, "status")
    assert "the query file of go does not fit its grammar" in status.stdout
    assert "query file unusable" in status.stdout
    assert "Traceback" not in found.stderr + status.stderr
