"""An index opened as it lies on the disk: nothing is refreshed, nothing is written, no thread is started."""

from __future__ import annotations

import contextlib

from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import IndexDamagedError, ModelError
from mgrep_tui.index import inspect
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.soundness import check_keywords
from mgrep_tui.index.stores import CATALOG, KEYWORDS, open_vectors
from mgrep_tui.model import Health, Skip, SkipReason
from mgrep_tui.retrieval.keywords import KeywordIndex
from mgrep_tui.settings.paths import Folders


class IndexAsIs:
    """What `status` and a search without refreshing see. Any thread."""

    def __init__(self, root: Root, folders: Folders, *, semantic: bool) -> None:
        self._root = root
        self._folders = folders
        self._view = (
            self._open() if semantic else SemanticView(notice="The index for searching by meaning is not open.")
        )

    def _open(self) -> SemanticView:
        """The parts that are sound; the others are left out."""
        folder = self._folders.index_of(self._root.path)
        try:
            manifest = manifests.load(folder)
            if manifest is None or not (folder / CATALOG).exists():
                return SemanticView(notice="There is no index yet.")
            catalog = Catalog(folder / CATALOG)
            chunks = catalog.counts()[2]
        except IndexDamagedError as error:
            return SemanticView(notice=error.message)
        keywords = vectors = model = None
        with contextlib.suppress(IndexDamagedError, OSError):
            check_keywords(folder / KEYWORDS)
            keywords = KeywordIndex(folder / KEYWORDS, writable=False)
        with contextlib.suppress(IndexDamagedError, ModelError):
            model = load_static()
            if manifest.vectors is not None:
                vectors = open_vectors(folder, manifest.vectors, model)
        coverage = min(1.0, len(vectors) / chunks) if vectors is not None and chunks else 0.0
        return SemanticView(catalog, vectors, keywords, model, coverage, keywords is not None)

    def semantic(self) -> SemanticView:
        return self._view

    def health(self) -> Health:
        return inspect.status_of(self._root, self._folders)

    def skipped(self) -> list[Skip]:
        if self._view.catalog is None:
            return []
        reasons = {reason.value: reason for reason in SkipReason}
        return [
            Skip(path, reasons.get(reason, SkipReason.UNREADABLE), detail)
            for path, reason, detail in self._view.catalog.skipped()
        ]
