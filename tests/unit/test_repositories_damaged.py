"""What is left by a kill, a damaged or full disk, a limit: mended or said, and nobody else's files are touched."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path

import filelock
import pytest

from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories import git_process, git_transfer, limits
from mgrep_tui.settings.config import RepositorySettings
from tests.support.arrivals import World, project
from tests.support.git_trees import Tree


def test_a_checkout_that_was_broken_off_is_ended_without_the_network(world: World) -> None:
    tree = project(world)
    address = world.address("ada/engine")
    kept = world.bring(address)
    (kept.tree / ".git" / "mgrep-tui-checkout").write_text(kept.record.commit)
    (kept.tree / ".git" / "index.lock").touch()
    (kept.tree / "src/main.py").write_text("half")
    world.forge.status = 500
    again = world.bring(address)
    assert (again.tree / "src/main.py").read_text() == (tree.path / "src/main.py").read_text()
    assert git_transfer.unfinished(again.tree) == ""


def test_what_a_refresh_left_undone_is_noted_when_it_is_ended(world: World) -> None:
    """The list went on naming the commit before."""
    tree = project(world)
    address = world.address("ada/engine")
    kept = world.bring(address)
    tree.write("src/main.py", "new\n")
    newest = tree.commit()
    Tree(kept.tree).git("fetch", "-q", "--depth=1", world.forge.url("ada/engine"), "HEAD")
    (kept.tree / ".git" / "mgrep-tui-checkout").write_text(newest)
    again = world.bring(address)
    assert (again.record.commit, (again.tree / "src/main.py").read_text()) == (newest, "new\n")
    assert [each.record.commit for each in world.store.all()] == [newest]


def damage_git(git_dir: Path, what: str) -> None:
    match what:
        case "no git folder":
            shutil.rmtree(git_dir)
        case "packs":
            for pack in (git_dir / "objects" / "pack").glob("*.pack"):
                pack.chmod(0o600)
                pack.write_bytes(pack.read_bytes()[:-30])
        case name:
            (git_dir / name).write_text("[nonsense")


@pytest.mark.parametrize("what", ["no git folder", "HEAD", "config", "shallow", "index", "packs"])
def test_a_damaged_clone_is_brought_anew_and_nobody_elses_repository_is_touched(world: World, what: str) -> None:
    """Git looked for the folder that was gone in those above, found the person's own, and fetched into it."""
    around = Tree(world.home).init()
    around.write("mine.txt", "precious\n")
    around.commit()
    around.write("mine.txt", "not committed\n")
    refs = around.git("for-each-ref")
    tree = project(world)
    address = world.address("ada/engine")
    kept = world.bring(address)
    damage_git(kept.tree / ".git", what)
    world.forge.status = 503
    assert "as of" in world.refresh(world.bring(address), address)[1]
    assert (kept.tree / "src/main.py").exists()
    world.forge.status = 0
    tree.write("src/main.py", "def run():\n    return 3\n")
    newest = tree.commit()
    kept, note = world.refresh(world.bring(address), address)
    assert (note, kept.record.commit) == ("", newest)
    assert (kept.tree / "src/main.py").read_text() == "def run():\n    return 3\n"
    assert Tree(kept.tree).git("status", "--porcelain") == b""
    assert around.git("for-each-ref") == refs
    assert (world.home / "mine.txt").read_text() == "not committed\n"
    assert world.left() == [kept.folder.name]


def test_a_checkout_that_cannot_be_ended_opens_all_the_same(world: World) -> None:
    project(world)
    address = world.address("ada/engine")
    kept = world.bring(address)
    (kept.tree / ".git" / "mgrep-tui-checkout").write_text("0" * 40)
    assert world.bring(address).tree == kept.tree


def test_a_disk_that_takes_nothing_more_is_a_sentence(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    project(world)
    address = world.address("ada/engine")

    def full(*given: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched, pytest.raises(MgrepError, match=r"kept in .*: No space left on device\."):
        patched.setattr(Path, "write_text", full)
        world.bring(address)
    assert world.left() == []
    kept = world.bring(address)
    with monkeypatch.context() as patched:
        patched.setattr(filelock.FileLock, "acquire", full)
        assert "No space left on device" in world.refresh(kept, address)[1]


def test_a_slow_checkout_is_no_dead_transfer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git does on the disk says nothing for as long as it takes."""
    project(world)
    kept = world.bring(world.address("ada/engine"))
    slow = world.home / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text('#!/bin/sh\nfor last; do :; done\ntest "$last" = fetch && exec tail -f /dev/null\nexit 0\n')
    slow.chmod(0o755)
    monkeypatch.setattr(git_process, "SILENCE_S", -1.0)
    monkeypatch.setattr(git_process, "POLL_S", 0.0001)
    environ = {**world.environ, "PATH": f"{slow.parent}:{world.environ['PATH']}"}
    git = git_process.Git(kept.tree, world.address("ada/engine"), environ, CancelToken())
    assert git.run("checkout", is_offline=True) == ""
    with pytest.raises(MgrepError, match="stood still"):
        git.run("fetch")


def test_a_repository_that_is_too_large_is_stopped_with_a_way_out(world: World) -> None:
    tree = world.forge.repository("big/one")
    tree.write("noise.bin", os.urandom(3_000_000))
    tree.commit()
    world.settings = RepositorySettings(max_mb=1)
    with pytest.raises(MgrepError, match=r"larger than 1 MB.*repositories\.max_mb"):
        world.bring(world.address("big/one"))
    assert world.left() == []


def test_a_full_disk_is_said_before_anything_comes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    project(world)
    monkeypatch.setattr(limits, "free_bytes", lambda folder: 1_000_000)
    with pytest.raises(MgrepError, match="has only 1 MB left"):
        world.bring(world.address("ada/engine"))
    assert world.forge.asked == []


def test_too_much_memory_is_stopped_with_a_way_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    project(world)
    monkeypatch.setattr(git_process, "LOOK_S", 0.0)
    monkeypatch.setattr(git_process, "memory_of_session", lambda session: 2_000_000)
    world.settings = RepositorySettings(max_memory_mb=1)
    world.forge.hangs = True
    with pytest.raises(MgrepError, match=r"repositories\.max_memory_mb"):
        world.bring(world.address("ada/engine"))
    world.forge.hang.set()


def test_what_a_killed_process_left_on_the_way_is_swept(world: World) -> None:
    project(world)
    done = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True)
    world.store.base.mkdir(parents=True)
    (world.store.base / f".coming-{done.stdout.strip()}-x").mkdir()
    mine = world.store.base / f".coming-{os.getpid()}-y"
    mine.mkdir()
    world.bring(world.address("ada/engine"))
    assert [name for name in world.left() if name.startswith(".coming")] == [mine.name]


def test_damaged_records_are_no_repositories(world: World) -> None:
    project(world)
    kept = world.bring(world.address("ada/engine"))
    for damage in (
        "{",
        "[]",
        '{"address": 1}',
        '{"address": "ext::sh -c x", "url": "", "commit": "", "way": "", "fetched_at": 0, "opened_at": 0}',
    ):
        (kept.folder / "origin.json").write_text(damage)
        assert world.store.all() == []
    again = world.bring(world.address("ada/engine"))
    assert (again.tree / "src/main.py").exists()
