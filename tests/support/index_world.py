"""A tree, its index and the naive answer beside it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from mgrep_tui.corpus.read import read_file, searchable
from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.errors import MgrepError, UnreadableError
from mgrep_tui.index import IndexWorker
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.ngram.plan import plan_literal
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders, user_folders
from tests.support.git_trees import Tree

DEADLINE_S = 150.0  # of a machine that does twenty other things
STOP_S = 60.0  # a worker that ends late keeps the lock, and the next one would only read


def wait_until(condition: Callable[[], object], what: str = "the condition") -> None:
    """Wait for a condition; fail when it does not come about in a minute."""
    until = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"{what} did not come about")
        time.sleep(0.01)


class InlineChild:
    """In place of a child that waits for a build; `waiting` counts those that were not closed."""

    waiting = 0

    def __init__(self) -> None:
        InlineChild.waiting += 1

    def close(self) -> None:
        InlineChild.waiting -= 1


class InlineJob:
    """In place of `SegmentJob`: builds in this process, at once, so that a test need not start a child for every segment."""

    def __init__(
        self,
        root: Root,
        entries: list[Any],
        out_path: Path,
        *,
        memory_mb: int,
        limit_bytes: int,
        kernels: Path,
        child: InlineChild | None = None,
    ) -> None:
        from mgrep_tui.ngram.build import build_segment

        self.total = self.done = len(entries)
        self.future: Future[Any] = Future()
        try:
            self.future.set_result(build_segment(root, entries, out_path, limit_bytes=limit_bytes, threads=1))
        except MgrepError as error:
            self.future.set_exception(error)
        if child is not None:
            child.close()

    @staticmethod
    def warm_child(kernels: Path) -> InlineChild:
        return InlineChild()

    def close(self) -> None:
        pass


class World:
    """A tree below `path/tree`, a home for indexes below `path/home`."""

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        self.tree = Tree(path / "tree")
        self.home = path / "home"
        self.settings = settings or Settings()
        self.workers: list[IndexWorker] = []

    @property
    def root(self) -> Root:
        return open_root(self.tree.path)

    @property
    def folders(self) -> Folders:
        return user_folders({"MGREP_TUI_HOME": str(self.home)})

    @property
    def folder(self) -> Path:
        return self.folders.index_of(self.root.path)

    def start(self, *, semantic: bool = False, watch: bool = False) -> IndexWorker:
        worker = IndexWorker(self.root, self.settings, self.folders, semantic=semantic, watch=watch)
        self.workers.append(worker)
        worker.start()
        return worker

    def complete(self, *, semantic: bool = False, watch: bool = False) -> IndexWorker:
        """A worker that has done all there is to do."""
        worker = self.start(semantic=semantic, watch=watch)
        assert worker.wait_complete(CancelToken())
        return worker

    @contextlib.contextmanager
    def running(self, *, semantic: bool = False, watch: bool = False) -> Iterator[IndexWorker]:
        worker = self.complete(semantic=semantic, watch=watch)
        try:
            yield worker
        finally:
            worker.stop(STOP_S)

    def close(self) -> None:
        for worker in self.workers:
            worker.stop(STOP_S)

    def scan(self, needle: str) -> set[bytes]:
        """The files that hold the text, by reading all of them."""
        found = set()
        for entry in list_files(self.root, self.settings.corpus).entries:
            if self._holds(entry.path, needle):
                found.add(entry.path)
        return found

    def search(self, worker: IndexWorker, needle: str, between: Callable[[], None] = lambda: None) -> set[bytes]:
        """The same through the index: candidates, then the check. `between` happens after the snapshot was taken."""
        while True:
            snapshot = worker.snapshot()
            between()
            if not snapshot.covers:
                worker.check(CancelToken(), snapshot)
                return self.scan(needle)
            plan = plan_literal(needle)
            found = {item.path for item in snapshot.candidates(plan) if self._candidate_holds(item, needle)}
            check = worker.check(CancelToken(), snapshot)
            if not check.is_complete:
                continue
            found -= check.deleted
            for path in check.changed:
                found.discard(path)
                if self._holds(path, needle):
                    found.add(path)
            return found

    def _candidate_holds(self, item: Any, needle: str) -> bool:
        """A candidate is believed as a search would: blocks only while its stat is the same."""
        try:
            raw = read_file(self.root, item.path, 1 << 30)
        except UnreadableError:
            return False
        if item.blocks is None or item.stat != raw.stat:
            seen = searchable(raw.data)
            return seen is not None and needle.encode() in seen.data
        return any(
            needle.encode() in raw.data[part.start_byte : part.start_byte + part.length_bytes] for part in item.blocks
        )

    def _holds(self, path: bytes, needle: str) -> bool:
        try:
            seen = searchable(read_file(self.root, path, 1 << 30).data)
        except UnreadableError:
            return False
        return seen is not None and needle.encode() in seen.data

    def chunks(self) -> set[tuple[bytes, int, int, bytes]]:
        """Everything in the catalog, without its ids."""
        catalog = Catalog(self.folder / "catalog.sqlite3")
        return {
            (chunk.path, chunk.first_line, chunk.last_line, chunk.text_hash)
            for file in catalog.files()
            for chunk in catalog.chunks_of(file.path)
        }


def assert_stores_agree(worker: IndexWorker) -> None:
    """Catalog, keywords and vectors hold the same chunks."""
    view = worker.semantic()
    assert view.catalog is not None and view.keywords is not None and view.vectors is not None
    ids = view.catalog.all_chunk_columns().chunk_id.tolist()
    assert view.vectors.ids().tolist() == ids
    assert len(view.keywords) == len(ids)
