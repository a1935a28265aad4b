"""Who may write: two copies at once, a folder that cannot be written, a disk that is full, a child that dies."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgrep_tui.errors import MgrepError
from mgrep_tui.index import clean, feeder, lock, manifest, open_as_is, stores, worker
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import IndexState
from tests.support.index_world import STOP_S, World, assert_stores_agree, wait_until

pytestmark = pytest.mark.timeout(400)

CHILD = Path(__file__).parents[1] / "crash" / "index_child.py"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(worker, "FOLLOW_S", 0.05)
    made = World(tmp_path)
    for number in range(6):
        made.tree.write(f"m{number}.py", f"def function_{number}():\n    return 'needle {number}'\n")
    yield made
    made.close()


def start_copy(world: World, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(world.tree.path), str(world.home), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_second_copy_reads_and_takes_over(world: World) -> None:
    """M1"""
    first = world.complete(semantic=True)
    second = world.start(semantic=True)
    wait_until(lambda: second.health().state is IndexState.READ_ONLY)
    assert second.wait_complete(CancelToken())
    assert world.search(second, "needle 3") == {b"m3.py"}
    world.tree.write("m9.py", "def function_9():\n    return 'needle 9'\n")
    assert world.search(second, "needle 9") == {b"m9.py"}
    first.check(CancelToken())
    wait_until(lambda: (view := second.semantic()).catalog is not None and view.catalog.symbols_named("function_9"))
    wait_until(lambda: (view := second.semantic()).keywords is not None and view.keywords.search("function_9", 1))
    first.stop(STOP_S)
    wait_until(lambda: second.health().state is IndexState.READY, "taking over")
    world.tree.write("m10.py", "def function_10():\n    pass\n")
    second.check(CancelToken())
    wait_until(lambda: (view := second.semantic()).catalog is not None and view.catalog.symbols_named("function_10"))
    assert second.wait_complete(CancelToken())
    assert_stores_agree(second)


def test_what_a_copy_without_meaning_publishes_is_not_all_there_is(world: World) -> None:
    """M1: a search by meaning that started beside one by regular expression believed that, and found nothing."""
    first = world.complete()
    assert manifest.load(world.folder) is not None
    reading = world.start()
    assert reading.wait_complete(CancelToken())
    second = world.start(semantic=True)
    wait_until(lambda: second.health().state is IndexState.READ_ONLY)
    assert not second.semantic().keywords_ready
    reading.stop(STOP_S)
    first.stop(STOP_S)
    assert second.wait_complete(CancelToken())
    assert second.semantic().keywords_ready
    assert_stores_agree(second)
    published = manifest.load(world.folder)
    assert published is not None and published.notes == {"complete": "1"}


def test_two_cold_copies_make_one_index(world: World) -> None:
    """M1"""
    for number in range(3, 6):  # a tree without a segment: no child has to compile kernels first
        (world.tree.path / f"m{number}.py").unlink()
    copies = [start_copy(world, "complete") for _ in range(2)]
    for copy in copies:
        out, _ = copy.communicate(timeout=300)
        assert out.split() == ["open", "complete"]
        assert copy.returncode == 0
    with world.running(semantic=True) as found:
        assert_stores_agree(found)
        assert world.search(found, "needle") == world.scan("needle")


def test_an_index_in_use_is_not_removed(world: World) -> None:
    world.complete()
    with pytest.raises(MgrepError, match="using"):
        clean(world.folder)


def test_a_cache_that_cannot_be_made_is_replaced_for_a_while(world: World) -> None:
    """M5"""
    world.home.write_text("a file where the folder should be")
    found = world.complete(semantic=True)
    assert "temporary" in found.health().last_error
    assert world.search(found, "needle 3") == {b"m3.py"}
    assert_stores_agree(found)
    folder = found.folder
    found.stop(STOP_S)
    assert not folder.exists()
    assert world.home.is_file()


def test_an_index_that_cannot_be_written_is_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """M5"""
    with world.running(semantic=True):
        pass
    monkeypatch.setattr(lock.WriterLock, "acquire", lambda self: lock.Access.UNWRITABLE)
    found = world.complete(semantic=True)
    assert "cannot be written" in found.health().last_error
    world.tree.write("m9.py", "needle 9\n")
    assert world.search(found, "needle") == world.scan("needle")
    view = found.semantic()
    assert view.catalog is not None and view.catalog.symbols_named("function_3")


def test_words_are_found_where_no_lock_file_can_be_made(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """M5: `status` called such an index broken, and search by meaning had lost its words."""
    with world.running(semantic=True):
        pass
    lock_file = world.folder / stores.KEYWORDS / ".tantivy-meta.lock"
    lock_file.unlink(missing_ok=True)
    lock_file.mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(lock.WriterLock, "acquire", lambda self: lock.Access.UNWRITABLE)
    found = open_as_is(world.root, world.folders)
    health = found.health()
    assert health.state is IndexState.READ_ONLY and not health.last_error
    found.close()
    reading = world.complete(semantic=True)
    for view in (found.semantic(), reading.semantic()):
        assert view.keywords is not None and view.keywords.search("function_3", 1)


@pytest.mark.parametrize("place", ["write_whole", "commit", "save"])
def test_a_full_disk_is_said_and_searched_around(world: World, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """M3"""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if place == "write_whole":
            patch.setattr(manifest, "write_whole", full)
        elif place == "commit":
            patch.setattr(stores.KeywordIndex, "commit", full)
        else:
            patch.setattr(stores.VectorStore, "save", full)
        found = world.start(semantic=True)
        assert not found.wait_complete(CancelToken())
        assert "No space left" in found.health().last_error
        assert str(world.folder) in found.health().last_error
        assert world.search(found, "needle 3") == {b"m3.py"}
        found.stop(STOP_S)
    with world.running(semantic=True) as found:
        assert_stores_agree(found)


def test_a_file_that_kills_its_child_is_cut_by_lines(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """N1: the others are taken in; the culprit is remembered by its content."""
    world.tree.write("evil.py", "def kill_the_parser():\n    pass\n")
    monkeypatch.setattr(feeder.ingest, "take", take_or_die)
    with world.running(semantic=True) as found:
        catalog = found.semantic().catalog
        assert catalog is not None
        assert {row.fallback for row in catalog.files()} == {"", "killed or overran the parser"}
        evil = catalog.file(b"evil.py")
        assert evil is not None and evil.fallback and evil.chunk_count == 1
        assert_stores_agree(found)
        assert any("cut by lines" in event for event in found.health().events)
    world.tree.write("copy.py", "def kill_the_parser():\n    pass\n")
    with world.running(semantic=True) as found:
        catalog = found.semantic().catalog
        assert catalog is not None
        copy = catalog.file(b"copy.py")
        assert copy is not None and copy.fallback
        assert not any("cut by lines" in event for event in found.health().events)


_take = feeder.ingest.take


def take_or_die(tasks: tuple[feeder.Task, ...], faults: frozenset[bytes]) -> object:
    """In place of `ingest.take`: dies of one file as long as it may meet a parser."""
    for task in tasks:
        if task.path in (b"evil.py", b"copy.py") and not task.by_lines and not faults:
            os.kill(os.getpid(), 9)
    return _take(tasks, faults)
