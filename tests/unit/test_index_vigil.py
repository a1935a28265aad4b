"""A check without a listing: when it may be trusted, when not, and what it says."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgrep_tui.corpus import deciders, mounts
from mgrep_tui.index import IndexWorker, tending, vigil, watched
from mgrep_tui.index.inotify import Inotify, parse
from mgrep_tui.index.vigil import Vigil
from mgrep_tui.jobs.cancel import CancelToken
from tests.differential import moves
from tests.support.index_world import World, wait_until

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's"),
]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for module in (vigil, tending):
        monkeypatch.setattr(module, "REST", 1)
        monkeypatch.setattr(module, "REST_LEAST_S", 0.01)
    monkeypatch.setattr(deciders, "is_settled", lambda stat, taken_ns: stat.ctime_ns < taken_ns - 20_000_000)
    made = World(tmp_path)
    made.tree.write("src/a.py", "needle\n")
    made.tree.write("src/b.py", "other\n")
    made.tree.write(".gitignore", "*.log\nbuild/\n")
    made.tree.write("build/out.py", "built\n")
    made.tree.init().commit()
    yield made
    made.close()


def watch_of(worker: IndexWorker) -> Vigil:
    found = worker._tending._watch
    assert found is not None
    return found


def proved(worker: IndexWorker) -> bool:
    """Whether no listing is needed now; where one is, as git's index was written a moment before the last, a check makes it."""
    if watch_of(worker).is_current(CancelToken()):
        return True
    worker.check(CancelToken())
    return False


def ready(world: World) -> IndexWorker:
    """A worker that needs no listing."""
    worker = world.complete(watch=True)
    wait_until(lambda: proved(worker), "a baseline")
    return worker


def listings(worker: IndexWorker) -> int:
    return worker._sweeper._begun


class Listings:
    """Counts the listings of a block."""

    def __init__(self, worker: IndexWorker) -> None:
        self._worker = worker
        self._begun = listings(worker)

    def __call__(self) -> int:
        return listings(self._worker) - self._begun


def test_a_check_of_a_quiet_tree_lists_nothing(world: World) -> None:
    worker = ready(world)
    count = Listings(worker)
    checked = worker.check(CancelToken())
    assert not checked.changed and not checked.deleted and checked.files == 2
    assert count() == 0
    assert worker.health().watcher == "watching"


@pytest.mark.parametrize("how", ["edit", "replace", "delete", "same size and time"])
def test_a_known_file_is_looked_at_alone(world: World, how: str) -> None:
    """L1, L7: what is written is found by the next check, without a listing."""
    worker = ready(world)
    count = Listings(worker)
    file = world.tree.path / "src/a.py"
    status = file.stat()
    if how == "edit":
        file.write_text("needle edited\n")
    elif how == "replace":
        world.tree.write("src/.a.tmp", "edited\n")
        os.replace(world.tree.path / "src/.a.tmp", file)
    elif how == "delete":
        file.unlink()
    else:
        file.write_text("edited\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert world.search(worker, "edited") == world.scan("edited")
    assert world.search(worker, "needle") == world.scan("needle")
    assert count() == 0


def test_a_new_file_in_a_folder_made_a_moment_ago_is_found(world: World) -> None:
    """L11"""
    worker = ready(world)
    for number in range(30):
        world.tree.write(f"n{number}/x/y/f.py", f"needle {number}\n")
        assert world.search(worker, f"needle {number}") == {b"n%d/x/y/f.py" % number}
        world.tree.write(f"n{number}/x/y/f.py", f"later {number}\n")
        assert world.search(worker, f"later {number}") == {b"n%d/x/y/f.py" % number}


def test_what_the_rules_leave_out_asks_for_no_listing(world: World) -> None:
    worker = ready(world)
    count = Listings(worker)
    world.tree.write("src/debug.log", "x\n")
    world.tree.write("build/deep/er/out.py", "x\n")
    world.tree.write("src/.hidden", "x\n")
    worker.check(CancelToken())
    world.tree.write("src/debug.log", "more\n")
    worker.check(CancelToken())
    assert count() == 0


def test_what_git_tracks_below_an_ignored_folder_is_watched(world: World) -> None:
    """K7"""
    world.tree.git("add", "-f", "build/out.py")
    worker = ready(world)
    world.tree.write("build/out.py", "needle built\n")
    assert world.search(worker, "needle built") == {b"build/out.py"}


def test_what_git_tracks_and_was_gone_comes_back_below_an_ignored_folder(world: World) -> None:
    """K7"""
    world.tree.git("add", "-f", "build/out.py")
    moved = world.tree.path.with_name("moved")
    (world.tree.path / "build").rename(moved)
    worker = ready(world)
    moved.rename(world.tree.path / "build")
    assert world.search(worker, "built") == {b"build/out.py"}
    (world.tree.path / "build/out.py").unlink()
    worker.check(CancelToken())
    wait_until(lambda: proved(worker), "a baseline again")
    world.tree.write("build/out.py", "built again\n")
    assert world.search(worker, "built again") == {b"build/out.py"}


@pytest.mark.parametrize("what", ["git rm --cached", "git add -f", "rules", "exclude", "excludes file", "own rules"])
def test_what_decides_from_outside_counts_as_movement(world: World, what: str) -> None:
    """K5, K7: the files are as they were, but which of them are searched is not."""
    world.tree.write("src/kept.log", "needle log\n")
    world.tree.git("add", "-f", "src/kept.log")
    world.tree.write("excludes", "b.py\n")
    world.tree.commit()
    world.tree.git("rm", "-q", "--cached", "src/b.py")
    worker = ready(world)
    if what == "git rm --cached":
        world.tree.git("rm", "-q", "--cached", "src/kept.log")
    elif what == "git add -f":
        world.tree.git("add", "-f", "build/out.py")
    elif what == "rules":
        world.tree.write(".gitignore", "b.py\n")
    elif what == "exclude":
        world.tree.write(".git/info/exclude", "b.py\n")
    elif what == "excludes file":
        world.tree.git("config", "core.excludesFile", str(world.tree.path / "excludes"))
    else:
        world.tree.write("src/.ignore", "*\n")
    worker.check(CancelToken())
    assert not moves.difference(world, worker)
    wait_until(lambda: proved(worker), "a baseline again")
    assert not moves.difference(world, worker)


def test_a_folder_that_becomes_a_repository_counts(world: World) -> None:
    """K9"""
    world.tree.write("lib/c.py", "x\n")
    worker = ready(world)
    world.tree.git("init", "-q", "lib")
    world.tree.write("lib/.gitignore", "c.py\n")
    worker.check(CancelToken())
    assert not moves.difference(world, worker)
    wait_until(lambda: proved(worker), "a baseline again")
    world.tree.git("-C", "lib", "add", "-f", "c.py")
    worker.check(CancelToken())
    assert not moves.difference(world, worker)


def test_a_file_with_a_name_elsewhere_is_looked_at(world: World, tmp_path: Path) -> None:
    """A write through a name outside of the root causes no event inside."""
    os.link(world.tree.path / "src/a.py", tmp_path / "elsewhere.py")
    worker = ready(world)
    count = Listings(worker)
    (tmp_path / "elsewhere.py").write_text("needle elsewhere\n")
    assert world.search(worker, "elsewhere") == {b"src/a.py"}
    assert count() == 0


def test_a_write_through_a_memory_map_is_found_when_it_is_closed(world: World) -> None:
    import mmap

    worker = ready(world)
    with (world.tree.path / "src/a.py").open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    mapped[:6] = b"mapped"
    mapped.close()
    assert world.search(worker, "mapped") == {b"src/a.py"}


def test_lost_events_are_made_good(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """L9: the queue ran over; what was in it is unknown."""
    worker = ready(world)
    watch = watch_of(worker)
    assert watch._watched is not None
    queue = watch._watched.queue
    with watch._lock:
        world.tree.write("lost/c.py", "needle lost\n")
        queue.read()  # nobody hears of it
        monkeypatch.setattr(queue, "read", lambda: parse(b"\xff\xff\xff\xff\x00\x40\x00\x00" + bytes(8)))
        assert not watch._is_current(CancelToken(), [])
        assert "events were lost" in watch.state
    assert world.search(worker, "needle lost") == {b"lost/c.py"}
    wait_until(lambda: proved(worker), "a baseline again")
    world.tree.write("lost/c.py", "needle again\n")
    assert world.search(worker, "needle again") == {b"lost/c.py"}
    assert watch.state == "watching"


def test_without_watches_it_runs_and_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """L9: no queue is left for this user."""

    def none_left(self: Inotify) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(Inotify, "__init__", none_left)
    worker = world.complete(watch=True)
    wait_until(lambda: "too many open files" in worker.health().watcher)
    assert "checked when you search" in worker.health().watcher
    assert not watch_of(worker).is_whole
    world.tree.write("c.py", "needle\n")
    assert world.search(worker, "needle") == {b"src/a.py", b"c.py"}


def test_folders_for_which_no_watch_is_left_are_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """L9: a folder that could not be watched is deaf, so the disk is listed at every check."""
    add = Inotify.add

    def few(self: Inotify, path: bytes) -> int:
        if path.endswith(b"/src"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return add(self, path)

    monkeypatch.setattr(Inotify, "add", few)
    worker = world.complete(watch=True)
    wait_until(lambda: "but for 1 folders: the limit of watches" in worker.health().watcher)
    count = Listings(worker)
    world.tree.write("src/a.py", "needle edited\n")
    assert world.search(worker, "edited") == {b"src/a.py"}
    assert count() >= 1
    assert not watch_of(worker).is_current(CancelToken())


def test_a_network_mount_is_polled(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine writes there, and no event tells of it."""
    monkeypatch.setattr(mounts, "LOCAL", frozenset())
    monkeypatch.setattr(tending, "POLL_S", 0.05)
    monkeypatch.setattr(tending, "POLL_SHARE", 1)
    worker = world.complete(watch=True)
    wait_until(lambda: worker.health().watcher.startswith("polling"))
    watch = watch_of(worker)
    assert watch._watched is not None
    monkeypatch.setattr(watch._watched.queue, "read", list)
    assert not watch.is_current(CancelToken())
    world.tree.write("far.py", "needle\n")
    wait_until(lambda: b"far.py" in worker._coverage.known(), "the next poll")


def test_the_kinds_of_file_systems_are_read_from_the_table() -> None:
    table = (
        b"27 1 254:0 / / rw - ext4 /dev/vda rw\n"
        b"30 27 0:40 / /home/me/far\\040away rw shared:1 - nfs4 host:/x rw\n"
        b"31 27 0:41 / /home/me/src/cache rw - tmpfs none rw\n"
        b"32 27 0:42 / /over rw - overlay overlay rw\n"
    )
    assert mounts.foreign(table, [b"/home/me/src"]) == ""
    assert mounts.foreign(table, [b"/home/me/far away/src"]) == "nfs4"
    assert mounts.foreign(table, [b"/home/me"]) == "nfs4"
    assert mounts.foreign(table, [b"/over/a"]) == "overlay"
    assert mounts.foreign(table, [b"/home/me/src", b"/over"]) == "overlay"
    assert mounts.foreign(b"", [b"/x"]) == "unknown"


def test_a_root_that_is_moved_away_is_not_trusted(world: World, tmp_path: Path) -> None:
    worker = ready(world)
    world.tree.path.rename(tmp_path / "moved")
    world.tree.path.mkdir()
    world.tree.write("c.py", "needle\n")
    assert not watch_of(worker).is_current(CancelToken())


def test_a_folder_with_two_names_is_not_trusted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bind mount inside the tree: the kernel names one of the two in its events."""
    book = watched.Watched(os.fsencode(world.tree.path) + b"/")
    monkeypatch.setattr(book.queue, "add", lambda path: 1)
    monkeypatch.setattr(book, "_is_same", lambda first, second: True)
    assert book.add(b"src") and not book.has_alias
    assert book.add(b"build") and book.has_alias
    book.close()


def test_our_own_folders_inside_the_root_do_not_wake_us(world: World) -> None:
    """An index below the root was indexed, which wrote to the index, which was indexed: for ever."""
    world.home = world.tree.path / "home"
    worker = world.complete(semantic=True, watch=True)
    wait_until(lambda: proved(worker), "a baseline")
    assert sorted(worker._coverage.known()) == [b"src/a.py", b"src/b.py"]
    count, generation = Listings(worker), worker.health().generation
    (world.home / "log").mkdir(exist_ok=True)
    for _ in range(5):
        (world.folders.log / "mgrep-tui.log").write_text("a line\n")
        (world.folder / "catalog.sqlite3-wal").touch()
        assert watch_of(worker).is_current(CancelToken())
    assert count() == 0 and worker.health().generation == generation


def test_stopping_ends_the_thread_and_its_queue(world: World) -> None:
    worker = ready(world)
    watch = watch_of(worker)
    before = len(os.listdir("/proc/self/fd"))
    watch.stop()
    watch._thread.join(10)
    assert not watch._thread.is_alive()
    assert len(os.listdir("/proc/self/fd")) <= before - 4  # queue, table of mounts, both ends of a pipe
    assert not watch.is_current(CancelToken())


def test_checks_of_many_threads_agree(world: World) -> None:
    worker = ready(world)
    wrong: list[str] = []

    def check(number: int) -> None:
        for turn in range(10):
            text = f"needle {number} {turn}\n"
            world.tree.write(f"t{number}/f.py", text)
            worker.check(CancelToken())
            stat = worker._coverage.stat(f"t{number}/f.py".encode())
            if stat is None or stat.mtime_ns != (world.tree.path / f"t{number}/f.py").stat().st_mtime_ns:
                wrong.append(text)

    threads = [threading.Thread(target=check, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_share_of_random_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m tests.differential.moves FOLDER STEPS SEED` is the long run."""
    for module in (vigil, tending):
        monkeypatch.setattr(module, "REST", module.REST)
        monkeypatch.setattr(module, "REST_LEAST_S", module.REST_LEAST_S)
    monkeypatch.setattr(deciders, "is_settled", deciders.is_settled)
    checks, quick = moves.run(tmp_path, 40, 11)
    assert 0 < quick < checks
