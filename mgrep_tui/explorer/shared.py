"""What all open roots share: one deep tier with one cache of embeddings. Made at the first need, closed when the last root leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders

if TYPE_CHECKING:
    from mgrep_tui.embedding.deep import DeepTier


class SharedModels:
    """Safe from any thread."""

    def __init__(self, settings: Settings, folders: Folders) -> None:
        self._settings = settings
        self._folders = folders
        self._lock = threading.Lock()
        self._deep: DeepTier | None = None
        self._listeners: list[Callable[[], None]] = []

    def deep(self, on_change: Callable[[], None]) -> DeepTier:
        """The one deep tier; `on_change` is called when its state changed, until `leave`."""
        from mgrep_tui.embedding.cache import EmbeddingCache
        from mgrep_tui.embedding.deep import DeepTier

        with self._lock:
            self._listeners.append(on_change)
            if self._deep is None:
                cache = EmbeddingCache(
                    self._folders.shared / "embeddings.sqlite3", self._settings.index.embedding_cache_mb * 1_000_000
                )
                self._deep = DeepTier(self._settings.semantic, cache, on_change=self._announce)
            return self._deep

    def leave(self, on_change: Callable[[], None]) -> None:
        """One root needs it no more; after the last one it is closed."""
        with self._lock:
            if on_change in self._listeners:
                self._listeners.remove(on_change)
            deep = None if self._listeners else self._deep
            if deep is not None:
                self._deep = None
        if deep is not None:
            deep.close()

    def _announce(self) -> None:
        for listener in tuple(self._listeners):
            listener()
