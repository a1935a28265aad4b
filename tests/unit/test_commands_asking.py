"""Whether somebody is asked before a folder is indexed."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from mgrep_tui.commands.asking import may_index
from mgrep_tui.commands.common import Context
from mgrep_tui.commands.targets import Targets
from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import MgrepError
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders
from tests.support.git_trees import Tree


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def context(home: Path, above: int = 200_000) -> Context:
    settings = replace(Settings(), index=replace(Settings().index, ask_above_files=above))
    folders = user_folders({"MGREP_TUI_HOME": str(home)})
    return Context(Targets(()), settings, folders, (), home / "config.toml", {})


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> io.StringIO:
    said = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(text))
    monkeypatch.setattr("sys.stderr", said)
    return said


@pytest.mark.parametrize(
    ("typed", "allowed"), [("y\n", True), ("YES\n", True), ("\n", False), ("", False), ("no\n", False)]
)
def test_the_home_folder_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, allowed: bool
) -> None:
    """H5"""
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to("real")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    said = answer(monkeypatch, typed)
    assert may_index(context(tmp_path / "cache"), open_root(tmp_path / "home")) is allowed
    assert "This is your home folder" in said.getvalue()


def test_where_nobody_can_be_asked_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """H5: a question from a script in the home folder began to index all of it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(MgrepError, match="nobody can be asked"):
        may_index(context(tmp_path / "cache"), open_root(tmp_path))
    with pytest.raises(MgrepError, match="whole disk"):
        may_index(context(tmp_path / "cache"), open_root(Path("/")))


def test_what_was_indexed_before_is_not_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = context(tmp_path / "cache")
    place.folders.index_of(open_root(tmp_path).path).mkdir(parents=True)
    assert may_index(place, open_root(tmp_path))


def test_a_very_large_folder_is_asked_for_unless_git_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """H5"""
    tree = Tree(tmp_path / "tree")
    for number in range(9):
        tree.write(f"m{number}")
    said = answer(monkeypatch, "\n")
    assert may_index(context(tmp_path / "cache", 10), open_root(tree.path))
    assert not may_index(context(tmp_path / "cache", 5), open_root(tree.path))
    assert "not in git and has more than 5 files" in said.getvalue()
    tree.git("init")
    assert may_index(context(tmp_path / "cache", 5), open_root(tree.path))
