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
        self._subjects: set[str] = set()

    def deep(self, on_change: Callable[[], None], *subjects: str) -> DeepTier:
        """The one deep tier; `on_change` is called when its state changed, until `leave`. `subjects` name whose code it will see, folders
        or an engine: an endpoint is sent nothing before the user agreed for all that is open."""
        from mgrep_tui.embedding.cache import EmbeddingCache
        from mgrep_tui.embedding.deep import DeepTier

        with self._lock:
            self._listeners.append(on_change)
            self._subjects = {*self._subjects, *subjects}
            if self._deep is None:
                cache = EmbeddingCache(
                    self._folders.shared / "embeddings.sqlite3", self._settings.index.embedding_cache_mb * 1_000_000
                )
                self._deep = DeepTier(
                    self._settings.semantic, cache, is_agreed=self._is_agreed, on_change=self._announce
                )
            return self._deep

    def _is_agreed(self, model_id: str) -> bool:
        from mgrep_tui.embedding.agreement import Agreements

        agreements = Agreements(self._folders.agreements)
        return all(agreements.holds(model_id, subject) for subject in self._subjects)

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
