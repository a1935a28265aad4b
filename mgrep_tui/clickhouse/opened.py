"""What is behind an explorer once its engine is open: the connection, both searches, what is published, and the tree on top."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from mgrep_tui.clickhouse import schema
from mgrep_tui.clickhouse.address import Address
from mgrep_tui.clickhouse.connecting import connect
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.heads import Heads, Published, heads_of, published
from mgrep_tui.clickhouse.here import HereChunks
from mgrep_tui.clickhouse.lines import LineSearch
from mgrep_tui.clickhouse.meaning import MeaningSearch
from mgrep_tui.clickhouse.overlay import DiskWatch, Overlay, base_of
from mgrep_tui.clickhouse.showing import Files
from mgrep_tui.clickhouse.tree import remote_of
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import MgrepError, ModelError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.search.query import Query
from mgrep_tui.search.semantic_showing import Deep
from mgrep_tui.settings.config import Settings

BELIEVED_S = 10.0
"""How long the list of what is published is believed: somebody may push while we look."""


class Opened:
    """Everything of an engine that is open. Any thread may use it."""

    def __init__(
        self,
        address: Address,
        settings: Settings,
        environ: Mapping[str, str],
        queries: Path,
        root: Root | None,
        name: str,
        deep: Deep | None = None,
    ) -> None:
        """Connect, and see what is there. `deep` may rescore the best answers. Raises `EngineError`."""
        self._settings = settings
        self._root = root
        self._name = name
        self._lock = threading.Lock()
        self._read_at = 0.0
        self._last: Heads | None = None
        self.every: list[Published] = []
        self.base: Published | None = None
        self.disk: DiskWatch | None = None
        self.connection = connect(address, environ)
        try:
            schema.check(self.connection)
            try:
                model = load_static()
            except ModelError:
                model = None
            makes = None if root is None else HereChunks(settings, queries)
            self.lines = LineSearch(self.connection, settings, makes)
            self.meaning = MeaningSearch(self.connection, model, deep, makes)
            self.files = Files(self.connection)
            self._refresh()
        except BaseException:
            self.connection.close()
            raise

    def close(self) -> None:
        self.meaning.close()
        with contextlib.suppress(MgrepError):
            self.connection.close()

    def _refresh(self) -> None:
        every = published(self.connection)
        if not every:
            raise EngineError(
                "Nothing has been published to this engine yet.",
                "mgrep-tui push --engine ADDRESS publishes a repository.",
            )
        base, disk = None, self.disk
        if self._root is not None:
            base = base_of(self._root, every, remote_of(self._root), self._name)
            if base is None:
                raise EngineError(
                    f"This engine has nothing of {self._root.path.name}.",
                    "Push it first, or leave the folder out to search everything.",
                )
            if self.base is None or base.state != self.base.state:
                disk = DiskWatch(self.connection, self._root, base, self._settings)
        self.every, self.base, self.disk, self._read_at = every, base, disk, time.monotonic()

    def heads(self) -> Heads:
        """The commits that a search looks at, as of `BELIEVED_S` ago at most."""
        with self._lock:
            if time.monotonic() - self._read_at > BELIEVED_S:
                self._refresh()
            return self.known_heads()

    def known_heads(self) -> Heads:
        """The same from memory."""
        return heads_of(self.every, None if self.base is None else self.base.state)

    def heads_for(self, query: Query) -> Heads:
        """The commits that this query looks at. Raises `QueryError` when it names one that is not published."""
        heads = self.heads().with_named(self.every, query)
        self._last = heads
        return heads

    def place_of(self, path: bytes) -> tuple[Published, bytes] | None:
        """The commit and the path in it of a hit's path: of the last query, or of any that is searched."""
        last = self._last
        found = last.place_of(path) if last is not None else None
        return found or self.known_heads().place_of(path)

    def overlay(self, cancel: CancelToken) -> Overlay | None:
        """What the disk says instead; None without a tree."""
        return self.disk.look(cancel) if self.disk is not None else None

    def is_changed(self, path: bytes) -> bool:
        """Whether the last look found that file different here; from memory."""
        return self.disk is not None and self.disk.is_changed(path)
