"""What watchdog's hints become (on systems other than Linux), what must not be heard, and what is said when it cannot hear."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.index import tending
from mgrep_tui.index.watch import Hints, Watcher
from mgrep_tui.jobs.cancel import CancelToken
from tests.support.index_world import World, wait_until


class Heard:
    def __init__(self, path: Path) -> None:
        self.paths: set[bytes] = set()
        self.sweeps = 0
        self.watcher = Watcher(open_root(path), self._take)
        self.watcher.start()
        wait_until(lambda: self.watcher.state != "off", "watching")

    def _take(self, hints: Hints) -> None:
        self.paths |= hints.paths
        self.sweeps += hints.is_everything


@pytest.fixture
def heard(tmp_path: Path) -> Iterator[Heard]:
    (tmp_path / "a.txt").write_text("a")
    found = Heard(tmp_path)
    yield found
    found.watcher.stop()


def test_changes_are_heard_and_reads_are_not(heard: Heard, tmp_path: Path) -> None:
    assert heard.watcher.state == "watching"
    (tmp_path / "a.txt").read_text()
    os.listdir(tmp_path)
    (tmp_path / "b.txt").write_text("b")
    wait_until(lambda: b"b.txt" in heard.paths)
    assert b"a.txt" not in heard.paths
    os.replace(tmp_path / "b.txt", tmp_path / "a.txt")
    wait_until(lambda: b"a.txt" in heard.paths, "both ends of a rename")


def test_the_innards_of_git_are_not_heard(heard: Heard, tmp_path: Path) -> None:
    (tmp_path / ".git/objects").mkdir(parents=True)
    (tmp_path / ".git/objects/x").write_text("x")
    (tmp_path / "end.txt").write_text("x")
    wait_until(lambda: b"end.txt" in heard.paths)
    assert not any(path.startswith(b".git/objects/") for path in heard.paths)


def test_lost_events_ask_for_a_sweep(heard: Heard) -> None:
    heard.watcher._lost()
    wait_until(lambda: heard.sweeps)
    assert "lost" in heard.watcher.state
    heard.watcher.look_over()
    assert heard.watcher.state == "watching"


def test_a_change_is_taken_in_without_any_search(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.tree.write("a.py", "needle\n")
    with world.running(watch=True) as worker:
        wait_until(lambda: worker.health().watcher == "watching")
        world.tree.write("new/b.py", "needle\n")
        wait_until(lambda: b"new/b.py" in worker.snapshot().extra, "the watcher's hint")
        (world.tree.path / "a.py").unlink()
        wait_until(lambda: b"a.py" not in worker.snapshot().extra)


def test_other_systems_take_hints_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """L7: where there is no inotify, watchdog tells where to look, and a check lists the tree."""
    monkeypatch.setattr(tending.inotify, "is_available", lambda: False)
    world = World(tmp_path)
    world.tree.write("a.py", "needle\n")
    world.tree.write("b.py", "other\n")
    with world.running(watch=True) as worker:
        wait_until(lambda: worker.health().watcher == "watching")
        stat = worker._coverage.stat(b"a.py")
        world.tree.write("a.py", "needle edited\n")
        wait_until(lambda: worker._coverage.stat(b"a.py") != stat, "the hint")
        world.tree.write("new/c.py", "needle\n")
        wait_until(lambda: b"new/c.py" in worker._coverage.known(), "a listing")
        (world.tree.path / "b.py").unlink()
        wait_until(lambda: b"b.py" not in worker._coverage.known())
        assert not worker._tending.is_current(CancelToken())
        assert world.search(worker, "needle") == {b"a.py", b"new/c.py"}
