"""The worker end to end on small trees: what was written is found, what is gone is not, and the next start knows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mgrep_tui.corpus.root import Root
from mgrep_tui.index import IndexWorker, clean, manifest, open_as_is
from mgrep_tui.index import grams as grams_module
from mgrep_tui.index.writer import Writing
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, IndexState
from tests.support.index_world import InlineChild, InlineJob, World, assert_stores_agree, wait_until

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def with_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments already for a handful of files, built without a child."""
    monkeypatch.setattr(grams_module, "STALE_FILES", 3)
    monkeypatch.setattr(grams_module, "REBUILD_FILES", 8)
    monkeypatch.setattr(grams_module, "SegmentJob", InlineJob)
    monkeypatch.setattr(grams_module, "SETTLE_NS", 20_000_000)
    settled = lambda stat, taken_ns: stat.ctime_ns < taken_ns - 20_000_000  # noqa: E731
    monkeypatch.setattr("mgrep_tui.index.coverage.is_settled", settled)
    monkeypatch.setattr("mgrep_tui.index.grams.is_settled", settled)


def fill(world: World, count: int = 12, word: str = "needle") -> None:
    for number in range(count):
        world.tree.write(f"src/m{number}.py", f"def f{number}():\n    return '{word} {number}'\n")


@pytest.mark.parametrize("watch", [False, True])
class TestFreshness:
    def test_a_file_written_before_the_search_is_found(self, world: World, with_segments: None, watch: bool) -> None:
        """L1"""
        fill(world)
        with world.running(watch=watch) as worker:
            world.tree.write("src/new.py", "new_token_1\n")
            assert world.search(worker, "new_token_1") == {b"src/new.py"}
            world.tree.write("src/m3.py", "new_token_2\n")
            assert world.search(worker, "new_token_2") == {b"src/m3.py"}
            assert world.search(worker, "needle 3") == set()

    def test_same_size_and_same_time_is_seen(self, world: World, with_segments: None, watch: bool) -> None:
        fill(world)
        file = world.tree.path / "src/m5.py"
        with world.running(watch=watch) as worker:
            before = file.stat()
            file.write_text(file.read_text().replace("needle", "noodle"))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert file.stat().st_size == before.st_size
            assert world.search(worker, "noodle 5") == {b"src/m5.py"}

    def test_a_rename_over_a_file_is_seen(self, world: World, with_segments: None, watch: bool) -> None:
        """L7"""
        fill(world)
        with world.running(watch=watch) as worker:
            world.tree.write("src/.m7.tmp", "replaced\n")
            os.replace(world.tree.path / "src/.m7.tmp", world.tree.path / "src/m7.py")
            assert world.search(worker, "replaced") == {b"src/m7.py"}
            assert world.search(worker, "needle 7") == set()

    def test_new_folders_are_seen_at_once(self, world: World, with_segments: None, watch: bool) -> None:
        """L11"""
        fill(world)
        with world.running(watch=watch) as worker:
            for number in range(20):
                world.tree.write(f"n{number}/x/y/f.py", "needle in a new folder\n")
            assert len(world.search(worker, "new folder")) == 20

    def test_a_change_after_the_snapshot_is_joined(self, world: World, with_segments: None, watch: bool) -> None:
        fill(world)
        with world.running(watch=watch) as worker:
            found = world.search(worker, "late", between=lambda: world.tree.write("src/m1.py", "late\n"))
            assert found == {b"src/m1.py"}

    def test_the_worker_moving_on_does_not_lose_a_change(self, world: World, with_segments: None, watch: bool) -> None:
        """The worker may have seen and settled a change between a search's snapshot and its check."""
        fill(world)
        with world.running(watch=watch) as worker:

            def change_and_let_it_settle() -> None:
                world.tree.write("src/m1.py", "late\n")
                worker.check(CancelToken())
                world.tree.write("src/m2.py", "later\n")
                worker.check(CancelToken())

            assert world.search(worker, "late", between=change_and_let_it_settle) == {b"src/m1.py", b"src/m2.py"}

    def test_deleted_files_are_gone(self, world: World, with_segments: None, watch: bool) -> None:
        """L15"""
        fill(world)
        with world.running(watch=watch) as worker:
            (world.tree.path / "src/m4.py").unlink()
            assert world.search(worker, "needle 4") == set()


class TestSettling:
    def test_a_touched_file_is_answered_by_its_segment_again(self, world: World, with_segments: None) -> None:
        fill(world)
        with world.running() as worker:
            wait_until(lambda: not worker.snapshot().extra, "settling")
            os.utime(world.tree.path / "src/m4.py")
            worker.check(CancelToken())
            assert worker.snapshot().extra == (b"src/m4.py",)
            wait_until(lambda: not worker.snapshot().extra, "settling after a touch")
            assert world.search(worker, "needle 4") == {b"src/m4.py"}

    def test_many_changed_files_become_an_overlay_and_then_a_base(self, world: World, with_segments: None) -> None:
        fill(world, 30)
        with world.running() as worker:
            wait_until(lambda: not worker.snapshot().extra, "the base")
            for round_number in range(1, 4):
                for number in range(5):
                    world.tree.write(f"src/m{number}.py", f"round {round_number} of {number}\n")
                worker.check(CancelToken())
                wait_until(lambda: len(worker.snapshot().extra) < 3, "an overlay")  # fewer are left to the scan
                assert len(world.search(worker, f"round {round_number}")) == 5
            assert len(worker.snapshot().segments) >= 1
            assert world.search(worker, "needle 29") == {b"src/m29.py"}

    def test_the_way_back_to_a_branch_builds_nothing(
        self, world: World, with_segments: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """L5: each switch of branches built the whole base again."""
        built = []

        class Counted(InlineJob):
            def __init__(self, root: Root, entries: list[Entry], *args: Any, **keywords: Any) -> None:
                built.append(len(entries))
                super().__init__(root, entries, *args, **keywords)

        def switch(branch: str, count: int) -> None:
            fill(world, 12, branch)
            worker.check(CancelToken())
            assert len(world.search(worker, branch)) == count
            wait_until(lambda: len(worker.snapshot().extra) < 3, "settling")

        monkeypatch.setattr(grams_module, "SegmentJob", Counted)
        fill(world, 30)
        with world.running() as worker:
            wait_until(lambda: not worker.snapshot().extra, "the base")
            for _ in range(2):
                switch("other", 12)
                switch("needle", 30)
            assert len(built) == 2, built  # the base, and an overlay for the other branch
        assert InlineChild.waiting == 0

    def test_the_next_start_answers_from_what_was_published(self, world: World, with_segments: None) -> None:
        fill(world)
        with world.running() as worker:
            wait_until(lambda: not worker.snapshot().extra, "the base")
            wait_until(lambda: worker.health().state is IndexState.READY)
        worker = world.start()
        wait_until(lambda: worker.snapshot().covers)
        assert world.search(worker, "needle 11") == {b"src/m11.py"}

    def test_files_deleted_while_not_running_are_gone(self, world: World, with_segments: None) -> None:
        """L3"""
        fill(world)
        with world.running():
            pass
        for number in range(6):
            (world.tree.path / f"src/m{number}.py").unlink()
        world.tree.write("src/m7.py", "other\n")
        with world.running() as worker:
            assert world.search(worker, "needle") == world.scan("needle")


class TestMeaning:
    def test_all_three_stores_hold_the_tree(self, world: World) -> None:
        fill(world)
        with world.running(semantic=True) as worker:
            assert_stores_agree(worker)
            view = worker.semantic()
            assert view.coverage == 1.0 and view.keywords_ready
            assert view.keywords is not None and view.catalog is not None
            found = view.keywords.search("needle 3", 3)
            assert view.catalog.chunks([found[0][0]])[found[0][0]].path.startswith(b"src/m")

    def test_an_unchanged_chunk_keeps_its_id(self, world: World) -> None:
        body = "".join(
            f"def part{n}(x):\n" + "".join(f"    x += {n} * {i}\n" for i in range(60)) + "\n\n" for n in range(5)
        )
        world.tree.write("a.py", body)
        with world.running(semantic=True) as worker:
            catalog = worker.semantic().catalog
            assert catalog is not None
            before = {chunk.text_hash: chunk.chunk_id for chunk in catalog.chunks_of(b"a.py")}
            assert len(before) >= 5
            world.tree.write("a.py", body.replace("x += 2 * 7\n", "x += 2 * 7000\n"))
            worker.check(CancelToken())
            wait_until(lambda: catalog.batch() > 1)
            wait_until(lambda: worker.health().state is IndexState.READY)
            after = {chunk.text_hash: chunk.chunk_id for chunk in catalog.chunks_of(b"a.py")}
            shared = before.keys() & after.keys()
            assert len(shared) == len(before) - 1
            assert all(before[key] == after[key] for key in shared)
            assert not set(after.values()) - {before[key] for key in shared} & set(before.values())
            assert_stores_agree(worker)

    def test_what_changed_while_not_running_is_taken_in(self, world: World) -> None:
        fill(world)
        with world.running(semantic=True):
            pass
        world.tree.write("src/m1.py", "def entirely_new():\n    pass\n")
        (world.tree.path / "src/m2.py").unlink()
        with world.running(semantic=True) as worker:
            catalog = worker.semantic().catalog
            assert catalog is not None
            assert [row.path for row in catalog.symbols_named("entirely_new")] == [b"src/m1.py"]
            assert catalog.file(b"src/m2.py") is None
            assert_stores_agree(worker)

    def test_a_quiet_start_does_nothing_again(self, world: World) -> None:
        fill(world)
        with world.running(semantic=True):
            pass
        before = manifest.load(world.folder)
        with world.running(semantic=True) as worker:
            wait_until(lambda: worker.health().state is IndexState.READY)
        assert manifest.load(world.folder) == before

    def test_files_that_cannot_be_chunked_are_counted(self, world: World) -> None:
        """G3"""
        fill(world, 2)
        world.tree.write("lib.o", b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 8)
        with world.running(semantic=True) as worker:
            wait_until(lambda: dict(worker.health().skipped).get("binary") == 1)
            assert [skip.path for skip in worker.skipped()] == [b"lib.o"]

    def test_names_that_are_not_text_are_kept(self, world: World) -> None:
        """J1"""
        world.tree.write(b"caf\xe9.py", "def needle():\n    pass\n")
        with world.running(semantic=True) as worker:
            catalog = worker.semantic().catalog
            assert catalog is not None
            assert catalog.symbols_named("needle")[0].path == b"caf\xe9.py"
        with world.running(semantic=True) as worker:
            assert world.search(worker, "needle") == {b"caf\xe9.py"}


class TestAlone:
    def test_stop_is_quick_while_it_works(self, world: World) -> None:
        fill(world, 200)
        worker = world.start(semantic=True)
        wait_until(lambda: worker.health().files_seen)
        began = time.monotonic()
        worker.stop()
        assert time.monotonic() - began < 5  # 0.3 s on a machine of its own

    def test_wait_is_cancelled(self, world: World) -> None:
        from mgrep_tui.errors import Cancelled

        worker = world.start()
        cancel = CancelToken()
        cancel.cancel()
        with pytest.raises(Cancelled):
            worker.wait_complete(cancel)

    def test_an_index_can_be_looked_at_without_a_worker(self, world: World) -> None:
        fill(world)
        with world.running(semantic=True):
            pass
        found = open_as_is(world.root, world.folders)
        assert found.health().state is IndexState.READY
        assert found.health().files_seen == 12
        assert found.semantic().coverage == 1.0
        found.close()
        assert clean(world.folder) > 0
        assert open_as_is(world.root, world.folders).health().phase == "there is no index yet"

    def test_nothing_is_written_into_the_tree(self, world: World) -> None:
        fill(world)
        before = sorted(path.relative_to(world.tree.path) for path in world.tree.path.rglob("*"))
        with world.running(semantic=True, watch=True):
            pass
        assert sorted(path.relative_to(world.tree.path) for path in world.tree.path.rglob("*")) == before

    def test_an_empty_folder_is_ready(self, world: World) -> None:
        """O1"""
        with world.running(semantic=True) as worker:
            wait_until(lambda: worker.health().state is IndexState.READY)
            assert world.search(worker, "anything") == set()

    def test_the_worker_announces_itself(self, world: World) -> None:
        fill(world)
        calls: list[IndexState] = []
        worker = IndexWorker(world.root, world.settings, world.folders, semantic=False, watch=False)
        world.workers.append(worker)
        worker.subscribe(lambda: calls.append(worker.health().state))
        worker.start()
        wait_until(lambda: IndexState.READY in calls)


def test_what_got_complete_after_the_last_publication_is_published(world: World) -> None:
    """Waiting for the index never ended: the last step came just after a publication, and none followed."""
    world.tree.write("a.py", "def a():\n    pass\n")
    with world.running(semantic=True) as worker:
        side = worker._side
        assert isinstance(side, Writing)
        side._published_complete = False
        worker._moved()
        assert worker.wait_complete(CancelToken())
        assert side.is_published


def test_an_index_whose_tree_is_not_listed_yet_is_not_called_complete(world: World) -> None:
    """A question on a large tree stayed without hits: it was asked before anything was known to be missing."""
    world.tree.write("a.py", "def a():\n    pass\n")
    with world.running(semantic=True) as worker:
        side = worker._side
        assert isinstance(side, Writing)
        assert worker.semantic().keywords_ready
        side._has_begun = False
        assert not worker.semantic().keywords_ready


def test_a_search_before_there_is_a_segment_lists_nothing_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key on a large tree listed it anew for as long as its first index was being made."""
    fill(world)
    worker = world.start()
    monkeypatch.setattr(worker._coverage, "cover_by_scan", lambda: None)  # as if it were large, and nothing built yet
    worker.check(CancelToken())
    snapshot = worker.snapshot()
    assert snapshot.covers and not snapshot.segments and len(snapshot.extra) == 12
    assert world.search(worker, "needle 3") == {b"src/m3.py"}
    world.tree.write("src/new.py", "needle 3\n")
    assert world.search(worker, "needle 3") == {b"src/m3.py", b"src/new.py"}
