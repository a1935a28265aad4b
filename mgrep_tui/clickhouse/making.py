"""Chunks, symbols and vectors of files that an engine does not know: made by the children that make the local index.

What git has and the work tree has not is laid out below a temporary folder under its own path, so that the children read it like any file.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from mgrep_tui.clickhouse.tree import TreeFile
from mgrep_tui.corpus.root import Root
from mgrep_tui.index import ingest, rows
from mgrep_tui.index.ingest import Plan, Task
from mgrep_tui.index.rows import NewFile
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import ChildPool, is_child_fault
from mgrep_tui.search.filters import FileFacts
from mgrep_tui.settings.config import Settings
from mgrep_tui.text import languages, origin

BATCH_FILES = 64
BATCH_BYTES = 400_000
MAX_BATCHES = 250  # of a child's life, as in the local index
BASE_LIMIT_S = 20.0
LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Made:
    """A file with all that is to be written of it; without `needs_text` the engine has its text already."""

    number: int
    file: NewFile
    text: bytes
    needs_text: bool = True


Wanted = tuple[TreeFile, int, bool]


class Making:
    """The children, while files are made. Belongs to one thread; use it in a `with`."""

    def __init__(self, root: Root, settings: Settings, queries: Path | None) -> None:
        self._root = root
        self._settings = settings
        self._queries = queries
        self._pools: dict[bool, ChildPool] = {}
        self._objects: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pool in self._pools.values():
            pool.close()
        if self._objects is not None:
            self._objects.cleanup()

    def made(self, wanted: Iterable[Wanted], cancel: CancelToken) -> Iterator[Made]:
        """The files in any order, each once. Raises `Cancelled`."""
        waiting: deque[tuple[list[Wanted], Future[list[NewFile]]]] = deque()
        for some in _portions(wanted):
            cancel.check()
            waiting.append((some, self._submit(some)))
            if len(waiting) > 2 * self._workers:
                yield from self._finished(*waiting.popleft(), cancel)
        while waiting:
            yield from self._finished(*waiting.popleft(), cancel)

    @property
    def _workers(self) -> int:
        return self._settings.index.workers

    def _submit(self, some: list[Wanted], *, by_lines: bool = False) -> Future[list[NewFile]]:
        is_object = some[0][0].is_object
        if is_object:
            for file, _, _ in some:
                self._lay_out(file)
        tasks = tuple(Task(file.path, by_lines=by_lines) for file, _, _ in some)
        limit_s = BASE_LIMIT_S + len(some) * (1.0 + self._settings.chunking.parse_timeout_s)
        return self._pool(is_object).submit(ingest.take, tasks, frozenset(), timeout_s=limit_s)

    def _pool(self, is_object: bool) -> ChildPool:
        pool = self._pools.get(is_object)
        if pool is None:
            settings = self._settings
            plan = Plan(
                Root(Path(self._objects.name)) if is_object and self._objects is not None else self._root,
                settings.chunking,
                settings.corpus.max_file_bytes,
                self._queries,
            )
            pool = self._pools[is_object] = ChildPool(
                self._workers, initializer=ingest.begin, initargs=(plan,), max_tasks=MAX_BATCHES
            )
        return pool

    def _lay_out(self, file: TreeFile) -> None:
        """Write a file of git's below the temporary folder. A path that would leave it is not in any tree that git lists."""
        if self._objects is None:
            self._objects = tempfile.TemporaryDirectory(prefix="mgrep-push-")
        place = os.path.join(os.fsencode(self._objects.name), file.path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        assert file.seen is not None
        with open(place, "wb") as stream:
            stream.write(file.seen.data)

    def _finished(self, some: list[Wanted], future: Future[list[NewFile]], cancel: CancelToken) -> Iterator[Made]:
        try:
            files = future.result()
        except Exception as error:
            if not is_child_fault(error):
                raise
            files = self._one_by_one(some, cancel)
        cancel.check()
        for (file, number, needs_text), new in zip(some, files, strict=True):
            assert file.seen is not None
            if new.is_gone or (new.content_hash != file.content and not file.is_object):
                # It was changed while we read: the text that was read is published, uncut.
                new = NewFile(file.path, language=languages.language_of(file.path, file.seen.data[:4096]))
            language, flags = facts_of(file)
            new = replace(
                new,
                content_hash=file.content,
                language=new.language or language,
                flags=flags,
                text_bytes=len(file.seen.data),
            )
            yield Made(number, new, file.seen.data, needs_text)

    def _one_by_one(self, some: list[Wanted], cancel: CancelToken) -> list[NewFile]:
        """The files of a batch that killed or overran its child: the one at fault without its syntax, or at last without chunks."""
        found: list[NewFile] = []
        for wanted in some:
            cancel.check()
            for by_lines in (False, True):
                try:
                    found += self._submit([wanted], by_lines=by_lines).result()
                    break
                except Exception as error:
                    if not is_child_fault(error):
                        raise
            else:
                found.append(NewFile(wanted[0].path, content_hash=wanted[0].content))
        return found


def facts_of(file: TreeFile) -> tuple[str, int]:
    """Language and flags of a file, as the local index has them."""
    data = file.seen.data if file.seen is not None else b""
    head = data[:4096]
    flags = 0
    if origin.is_test_path(file.path):
        flags |= rows.TEST
    if origin.is_generated(file.path, head):
        flags |= rows.GENERATED
    if origin.is_vendored(file.path):
        flags |= rows.VENDORED
    if origin.is_minified(data):
        flags |= rows.MINIFIED
    return languages.language_of(file.path, head), flags


def flags_of(facts: FileFacts) -> int:
    """What regex mode knows of a file, as the bits of `index.rows`."""
    return rows.TEST * facts.is_test | rows.GENERATED * facts.is_generated | rows.VENDORED * facts.is_vendored


def _portions(wanted: Iterable[Wanted]) -> Iterator[list[Wanted]]:
    """Batches for one child each; files from the disk and from git never in one."""
    some: list[Wanted] = []
    held = 0
    for one in wanted:
        if some and (
            len(some) >= BATCH_FILES
            or held + one[0].size_bytes > BATCH_BYTES
            or some[0][0].is_object != one[0].is_object
        ):
            yield some
            some, held = [], 0
        some.append(one)
        held += one[0].size_bytes
    if some:
        yield some
