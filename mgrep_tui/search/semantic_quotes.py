"""Which chunks hold the quoted texts and patterns that a query demands, found before anything is ranked.

The n-gram index names the files that can hold them; when these are few, their chunks are read and judged, so that a single chunk that holds
the text is found wherever the ranking would have put it. When they are many, chunks of other files are ruled out and the rest is judged as
it is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt

from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.filters import And, Condition, Filters, HasText
from mgrep_tui.search.semantic_showing import holds
from mgrep_tui.search.semantic_text import ChunkReader

Ids = npt.NDArray[np.int64]
FilesWith = Callable[[Sequence[HasText]], Collection[bytes] | None]
READ_FILES = 1_000  # of which every chunk is judged: some tenths of a second
KEPT = 4  # answers kept: the query's other words change with every key, the quoted ones rarely


def demanded(condition: Condition) -> tuple[HasText, ...]:
    """The texts and patterns that every accepted chunk holds."""
    if isinstance(condition, HasText):
        return (condition,)
    if isinstance(condition, And):
        return tuple(part for part in condition.parts if isinstance(part, HasText))
    return ()


class QuotedChunks:
    """Answers for one root. Any thread may ask. `files_with` names all files that can hold the texts, None when it cannot tell."""

    def __init__(self, root: Root, limit_bytes: int, files_with: FilesWith | None) -> None:
        self._root = root
        self._limit_bytes = limit_bytes
        self._files_with = files_with
        self._lock = threading.Lock()
        self._kept: dict[object, tuple[Ids, bool]] = {}

    def ids(
        self, catalog: Catalog, filters: Filters, allowed: Ids | None, cancel: CancelToken
    ) -> tuple[Ids | None, bool]:
        """Those of the allowed chunks that can hold what is demanded, and whether all of them were judged. Raises `Cancelled`."""
        texts = demanded(filters.condition)
        if not texts or self._files_with is None:
            return allowed, False
        paths = self._files_with(texts)
        if paths is None:
            return allowed, False
        key = (catalog.batch(), filters.condition, frozenset(paths))
        with self._lock:
            kept = self._kept.get(key)
        if kept is None:
            kept = self._judge(catalog, filters, allowed, paths, cancel)
            with self._lock:
                while len(self._kept) >= KEPT:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[key] = kept
        return kept

    def _judge(
        self, catalog: Catalog, filters: Filters, allowed: Ids | None, paths: Collection[bytes], cancel: CancelToken
    ) -> tuple[Ids, bool]:
        files = [file for file in catalog.files() if file.path in paths]
        columns = catalog.all_chunk_columns()
        ids = columns.chunk_id[np.isin(columns.file_id, np.fromiter((file.file_id for file in files), np.int64))]
        ids = np.unique(ids) if allowed is None else np.intersect1d(ids, allowed)
        if len(files) > READ_FILES:
            return ids, False
        rows = sorted(catalog.chunks(ids.tolist()).values(), key=lambda row: row.path)
        held = []
        with Reader(self._root) as reader:
            chunks = ChunkReader(reader, {file.path: file.stat for file in files}, self._limit_bytes)
            last = b""
            for row in rows:
                cancel.check()
                if row.path != last:
                    chunks.forget(last)
                    last = row.path
                text = chunks.read(row)
                if text is not None and holds(filters, row, text):
                    held.append(row.chunk_id)
        return np.unique(np.array(held, np.int64)), True
