"""Which chunks get the deep model's vectors before anybody asks: of files that were shown, then of their folders, then of everything.

For `semantic.deep = "background"`, one thread a root. Chunks are read again from disk and given to the deep tier in small groups, behind
every query; the embedding cache alone remembers what is done. It rests when everything has a vector, when the cache is full, when paused
and when the model fails; a change of the index wakes it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.text import embedding_text
from mgrep_tui.errors import Cancelled, IndexDamagedError, ModelError
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.rows import FileRow
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.semantic_showing import chunk_of
from mgrep_tui.search.semantic_text import ChunkReader

log = logging.getLogger(__name__)

GROUP = 32  # chunks at a time: a pause and a query wait for one group at most, about a second
LOOKED = 200  # files that were shown lately
TELL_S = 2.0  # between two announcements of progress
RETRY_S = 60.0  # after the model failed


class Deep(Protocol):
    """What is needed of the deep tier."""

    @property
    def available(self) -> bool: ...

    @property
    def is_full(self) -> bool:
        """Whether the cache takes no more without dropping what is in it."""
        ...

    def unknown(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of the texts' hashes that have no vector yet."""
        ...

    def embed(self, texts: Sequence[str], *, cancel: CancelToken | None = None) -> Any:
        """Compute and keep the vectors, behind every query. Raises `ModelError` and `Cancelled`."""
        ...


class Filling:
    """Fills the cache for one root. Methods may be called from any thread; `run` belongs to one."""

    def __init__(
        self,
        root: Root,
        limit_bytes: int,
        deep: Deep,
        view: Callable[[], SemanticView],
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Starts nothing. `view` answers what the index holds now; `on_change` is called when `done` or `state` changed."""
        self._root = root
        self._limit_bytes = limit_bytes
        self._deep = deep
        self._view = view
        self._on_change = on_change
        self._closed = CancelToken()
        self._awake = threading.Event()
        self._allowed = threading.Event()
        self._allowed.set()
        self._lock = threading.Lock()
        self._looked: OrderedDict[bytes, None] = OrderedDict()
        self._told_at = 0.0
        self.done = 0
        self.state = ""

    # --- life

    def start(self) -> None:
        threading.Thread(target=self._work, name="deep-filling", daemon=True).start()

    def stop(self) -> None:
        """End soon; nothing is waited for."""
        self._closed.cancel()
        self._allowed.set()
        self._awake.set()

    def pause(self) -> None:
        self._allowed.clear()

    def resume(self) -> None:
        self._allowed.set()

    def wake(self) -> None:
        """The index has changed."""
        self._awake.set()

    def look_at(self, paths: Iterable[bytes]) -> None:
        """The user sees these files: they are next, the last ones named first."""
        with self._lock:
            for path in paths:
                self._looked[path] = None
                self._looked.move_to_end(path)
            while len(self._looked) > LOOKED:
                self._looked.popitem(last=False)

    # --- work

    def _work(self) -> None:
        while not self._closed.is_cancelled:
            self._awake.clear()
            rest_s: float | None = None
            try:
                self.run()
            except Cancelled:
                return
            except ModelError as error:
                self._enter(f"waits: {error.message}")
                rest_s = RETRY_S
            except (IndexDamagedError, OSError):
                log.exception("filling the deep vectors")
                rest_s = RETRY_S
            self._awake.wait(rest_s)

    def run(self) -> None:
        """Give vectors to everything that the index holds now and that lacks one. Raises `Cancelled` and `ModelError`."""
        view = self._view()
        if view.catalog is None or not view.keywords_ready or not self._deep.available:
            return
        catalog = view.catalog
        missing = self._count(catalog)
        while missing:
            self._may_go_on()
            if self._deep.is_full:
                self._enter("the cache is full (index.embedding_cache_mb)")
                return
            self._enter("computing the vectors of all chunks")
            path = self._next(missing)
            self._fill(catalog, missing.pop(path))
        self._enter("all chunks have vectors")

    def _count(self, catalog: Catalog) -> dict[bytes, FileRow]:
        """The files with chunks that lack a vector, tests and what nobody wrote here last; `done` is set anew."""
        files = sorted(
            catalog.files(), key=lambda file: (file.is_test or file.is_generated or file.is_vendored, file.path)
        )
        missing = {}
        done = 0
        for file in files:
            self._closed.check()
            hashes = [row.text_hash for row in catalog.chunks_of(file.path)]
            unknown = self._deep.unknown(hashes)
            done += sum(key not in unknown for key in hashes)
            if unknown:
                missing[file.path] = file
        self.done = done
        return missing

    def _next(self, missing: dict[bytes, FileRow]) -> bytes:
        """A file that was shown, the last one first; else one beside those; else the first."""
        with self._lock:
            looked = list(reversed(self._looked))
        for path in looked:
            if path in missing:
                return path
        if looked:
            by_folder: dict[bytes, bytes] = {}
            for path in missing:
                by_folder.setdefault(os.path.dirname(path), path)
            for path in looked:
                beside = by_folder.get(os.path.dirname(path))
                if beside is not None:
                    return beside
        return next(iter(missing))

    def _fill(self, catalog: Catalog, file: FileRow) -> None:
        rows = catalog.chunks_of(file.path)
        unknown = self._deep.unknown([row.text_hash for row in rows])
        texts: dict[str, int] = defaultdict(int)
        with Reader(self._root) as reader:
            chunks = ChunkReader(reader, {file.path: file.stat}, self._limit_bytes)
            for row in rows:
                text = chunks.read(row) if row.text_hash in unknown else None
                if text is not None:
                    texts[embedding_text(row.path, chunk_of(row, text.text))] += 1
        distinct = list(texts)
        for start in range(0, len(distinct), GROUP):
            self._may_go_on()
            group = distinct[start : start + GROUP]
            self._deep.embed(group, cancel=self._closed)
            self.done += sum(texts[text] for text in group)
            self._tell()

    def _may_go_on(self) -> None:
        """Wait while paused. Raises `Cancelled`."""
        if not self._allowed.is_set():
            self._enter("paused")
            self._allowed.wait()
        self._closed.check()

    def _enter(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self._on_change()

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._told_at > TELL_S:
            self._told_at = now
            self._on_change()
