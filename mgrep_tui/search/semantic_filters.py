"""Which chunks the filters of a query let through, before anything is ranked.

Filters look at files first (a verdict for each file of the catalog) and at chunks only when they name symbols or kinds. Verdicts are kept
until the catalog changes, because the next key rarely changes the filters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import chain

import numpy as np
import numpy.typing as npt

from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.rows import FileRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.filters import ChunkFacts, FileFacts, Filters

Ids = npt.NDArray[np.int64]
GitState = Callable[[], tuple[frozenset[bytes], frozenset[bytes]]]
LOOK_UP_EVERY = 2_000  # verdicts between two looks at the cancel token: some 10 ms
KEPT = 8  # verdicts kept: a few filters while a query is refined


class AllowedChunks:
    """Answers for one catalog. Any thread may ask."""

    def __init__(self, git_state: GitState | None = None) -> None:
        self._git_state = git_state
        self._lock = threading.Lock()
        self._batch = -1
        self._files: list[FileRow] = []
        self._kept: dict[object, Ids] = {}

    def ids(self, catalog: Catalog, filters: Filters, cancel: CancelToken) -> Ids | None:
        """The allowed chunk ids, ascending; None when the filters say nothing about files and chunks. Raises `Cancelled`."""
        if not filters:
            return None
        batch = catalog.batch()
        with self._lock:
            if batch != self._batch:
                self._batch, self._files = batch, catalog.files()
                self._kept.clear()
            files = self._files
            kept = self._kept.get(filters.condition)
        if kept is not None and not filters.needs_git:
            return kept
        allowed = self._judge(catalog, files, filters, cancel)
        with self._lock:
            if batch == self._batch:
                while len(self._kept) >= KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[filters.condition] = allowed
        return allowed

    def _judge(self, catalog: Catalog, files: list[FileRow], filters: Filters, cancel: CancelToken) -> Ids:
        dirty: frozenset[bytes] = frozenset()
        untracked: frozenset[bytes] = frozenset()
        if filters.needs_git and self._git_state is not None:
            dirty, untracked = self._git_state()
        facts: dict[int, FileFacts] = {}
        for place, row in enumerate(files):
            if place % LOOK_UP_EVERY == 0:
                cancel.check()
            fact = facts_of(row, row.path in dirty, row.path in untracked)
            if filters.accepts_file(fact):
                facts[row.file_id] = fact
        if not filters.needs_chunk:
            columns = catalog.all_chunk_columns()
            return columns.chunk_id[np.isin(columns.file_id, np.fromiter(facts, np.int64, len(facts)))]
        allowed = []
        # A chunk is also meant by the name of what is defined in it, unless names are denied: then its own name decides.
        inner = () if filters.denies_names else catalog.inner_names()
        for place, (chunk_id, file_id, kind, symbol, container) in enumerate(chain(catalog.chunk_names(), inner)):
            if place % LOOK_UP_EVERY == 0:
                cancel.check()
            file = facts.get(file_id)
            if file is not None and filters.accepts_chunk(ChunkFacts(file, kind, symbol, container)):
                allowed.append(chunk_id)
        return np.unique(np.array(allowed, np.int64))


def facts_of(row: FileRow, is_dirty: bool = False, is_untracked: bool = False) -> FileFacts:
    """A catalog row as the filters see it."""
    return FileFacts(
        row.path,
        row.language,
        is_dirty=is_dirty,
        is_untracked=is_untracked,
        is_test=row.is_test,
        is_generated=row.is_generated,
        is_vendored=row.is_vendored,
    )
