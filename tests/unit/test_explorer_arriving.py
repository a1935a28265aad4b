"""A repository that is opened by its address, through the explorer: on its way, here, refreshed, not to be had."""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mgrep_tui.commands.common import prepare
from mgrep_tui.commands.explorers import Explorers
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Explorer, SearchOptions
from mgrep_tui.explorer.several import SeveralExplorer
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, Hit, IndexState, Mode, Outcome
from mgrep_tui.repositories.store import Store
from mgrep_tui.settings.paths import user_folders
from tests.support.forge import Forge
from tests.support.git_trees import Tree
from tests.support.index_world import wait_until
from tests.support.regex_ways import Collected


class World:
    """A forge, a home, and the explorers that a command would make."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.forge = Forge(folder / "forge")
        self.home = folder / "home"
        (self.home / "config").mkdir(parents=True)
        (self.home / "config" / "config.toml").write_text('[repositories]\nrefresh_s = 0\n[semantic]\ndeep = "off"\n')
        self.store = Store(user_folders({"MGREP_TUI_HOME": str(self.home)}))
        self._open: list[Explorer] = []

    def project(self, name: str) -> Tree:
        tree = self.forge.repository(name)
        tree.write("src/main.py", "def needle():\n    return 1\n")
        tree.commit()
        return tree

    def open(self, *places: str) -> Any:
        arguments = argparse.Namespace(paths=list(places), config=None, log_level=None)
        made = Explorers(prepare(arguments, prefers_git_root=False), semantic=False, watch=False).all()
        self._open.append(made)
        made.start()
        return made

    def close(self) -> None:
        for made in self._open:
            made.close()
        self.forge.close()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MGREP_TUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = World(tmp_path)
    yield made
    made.close()


def ask(explorer: Explorer, text: str) -> tuple[list[Hit], Outcome]:
    """A search as the screen runs it."""
    sink, ended = Collected(), threading.Event()
    found: list[Outcome | None] = []

    def done(outcome: Outcome | None, error: MgrepError | None) -> None:
        assert error is None, error
        found.append(outcome)
        ended.set()

    explorer.search(text, Mode.REGEX, 1, sink, SearchOptions(), done)
    assert ended.wait(60)
    assert found[0] is not None
    return sink.hits, found[0]


def until(explorer: Explorer, holds: Callable[[Health], bool]) -> None:
    wait_until(lambda: holds(explorer.health()), "the health")


def test_it_says_how_far_it_is_and_then_it_is_a_root_like_any_other(world: World) -> None:
    tree = world.project("ada/engine")
    world.forge.hangs = True
    explorer = world.open(world.forge.url("ada/engine"))
    assert world.forge.began.wait(30)
    health = explorer.health()
    assert (health.state, "bringing http://" in health.phase) == (IndexState.OPENING, True)
    hits, outcome = ask(explorer, "needle")
    assert (hits, outcome.is_partial) == ([], True)
    assert "on its way" in outcome.notes[0]
    assert explorer.preview(b"src/main.py", 0, 0, 10, 80, is_coloured=False).notice
    assert explorer.chips("x lang:python", Mode.REGEX)[0].label == "lang:python"
    heard = threading.Event()
    explorer.subscribe(heard.set)
    world.forge.hangs = False
    world.forge.hang.set()
    until(explorer, lambda health: health.state is not IndexState.OPENING)
    assert heard.wait(30)
    explorer._here().wait(CancelToken(), needs_vectors=False)
    hits, _ = ask(explorer, "def needle")
    assert [hit.path for hit in hits] == [b"src/main.py"]
    commit = tree.git("rev-parse", "HEAD").strip().decode()
    assert explorer.permalink(hits[0]) == f"{world.forge.url('ada/engine')}/src/commit/{commit}/src/main.py#L1"
    assert explorer.root_label == "engine"
    assert ask(explorer, "needle repo:ada/engine")[0]
    assert not ask(explorer, "needle repo:other")[0]


def test_what_is_here_opens_at_once_and_is_refreshed_behind_the_screen(world: World) -> None:
    tree = world.project("ada/engine")
    first = world.open(world.forge.url("ada/engine"))
    until(first, lambda health: health.state is not IndexState.OPENING)
    first.close()
    tree.write("src/main.py", "def needle():\n    return 'new'\n")
    tree.commit()
    world.forge.hangs = True
    world.forge.began.clear()
    again = world.open(world.forge.url("ada/engine"))
    assert world.forge.began.wait(30)
    assert [hit.text for hit in ask(again, "return")[0]] == ["    return 1"]
    world.forge.hangs = False
    world.forge.hang.set()
    assert again._ended.wait(30)
    wait_until(lambda: [hit.text for hit in ask(again, "return")[0]] == ["    return 'new'"], "the new text")


def test_without_a_network_what_was_there_opens_and_it_is_said(world: World) -> None:
    world.project("ada/engine")
    first = world.open(world.forge.url("ada/engine"))
    until(first, lambda health: health.state is not IndexState.OPENING)
    first.close()
    world.forge.status = 500
    again = world.open(world.forge.url("ada/engine"))
    assert again._ended.wait(30)
    hits, outcome = ask(again, "needle")
    assert hits
    assert any("as of" in note for note in outcome.notes)


def test_what_cannot_be_had_is_a_sentence(world: World) -> None:
    explorer = world.open(world.forge.url("ada/none"))
    until(explorer, lambda health: health.state is IndexState.BROKEN)
    assert "There is no repository ada/none" in explorer.health().last_error
    assert "There is no repository ada/none" in ask(explorer, "x")[1].notes[0]
    with pytest.raises(MgrepError):
        explorer.snippet(Hit(b"x", 0, 0, ""))


def test_beside_folders_it_keeps_nobody_waiting(world: World) -> None:
    world.project("ada/engine")
    local = Tree(world.folder / "here")
    local.write("a.py", "needle = 1\n")
    world.forge.hangs = True
    explorer = world.open(str(local.path), world.forge.url("ada/engine"))
    assert isinstance(explorer, SeveralExplorer)
    explorer.members[0].wait(CancelToken(), needs_vectors=False)  # type: ignore[attr-defined]
    hits, outcome = ask(explorer, "needle")
    assert [hit.path for hit in hits] == [b"here/a.py"]
    assert "on its way" in outcome.notes[0]
    world.forge.hangs = False
    world.forge.hang.set()
    wait_until(lambda: len(ask(explorer, "needle")[0]) == 2, "both")
    assert {hit.path for hit in ask(explorer, "needle")[0]} == {b"here/a.py", b"engine/src/main.py"}
    assert explorer.repository_of(b"engine/src/main.py") == "engine"
    assert explorer.repository_of(b"other/x") == ""


def test_leaving_while_it_comes_leaves_nothing(world: World) -> None:
    world.project("ada/engine")
    world.forge.hangs = True
    explorer = world.open(world.forge.url("ada/engine"))
    assert world.forge.began.wait(30)
    explorer.close()
    assert explorer._ended.wait(10)
    assert world.store.all() == []
    assert [name for name in os.listdir(world.store.base) if not name.endswith(".lock")] == []
