"""The reading side of an index: another copy writes it, or nobody can. What is published is followed; nothing is ever written."""

from __future__ import annotations

import os

from mgrep_tui.embedding.static import StaticModel
from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import generations
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.context import Context
from mgrep_tui.index.keyword_reading import can_follow, open_keywords
from mgrep_tui.index.manifest import Manifest
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.stores import CATALOG, KEYWORDS, open_vectors
from mgrep_tui.index.writer import ALL, COMPLETE, REGEX
from mgrep_tui.retrieval.keywords import KeywordIndex
from mgrep_tui.retrieval.vectors import VectorStore

ATTEMPTS = 3  # a generation can be replaced between reading CURRENT and opening its files


class Reading:
    """Belongs to the index worker's thread; `view` may be called from any."""

    def __init__(self, context: Context, *, semantic: bool, model: StaticModel | None) -> None:
        self._context = context
        self._semantic = semantic
        self._model = model
        self.manifest = Manifest()
        self._seen: tuple[object, ...] = ()
        self._keywords_seen: tuple[object, ...] = ()
        self._catalog: Catalog | None = None
        self._keywords: KeywordIndex | None = None
        self._vectors: VectorStore | None = None
        self._coverage = 0.0
        self.followed_at = 0.0

    @property
    def is_complete(self) -> bool:
        """The writer has published all there is, as far as it concerns this copy."""
        return self.manifest.notes.get(COMPLETE) in ((ALL,) if self._semantic else (ALL, REGEX))

    def follow(self) -> bool:
        """Open what was published since the last look. Whether coverage was restored, so that the disk is to be compared again."""
        self._follow_keywords()
        mark = _mark(self._context.folder / manifests.NAME)
        if mark == self._seen:
            return False
        for _ in range(ATTEMPTS):
            try:
                manifest = manifests.load(self._context.folder) or Manifest()
                segments, disposition = generations.open_segments(self._context.folder, manifest)
                vectors = self._vectors
                if self._semantic and manifest.vectors is not None and manifest.vectors != self.manifest.vectors:
                    vectors = self._open_vectors(manifest)
            except IndexDamagedError as error:
                self._context.board.say(error.message, once=True)
                continue
            changed = manifest.segments != self.manifest.segments or manifest.dispositions != self.manifest.dispositions
            self.manifest, self._vectors, self._seen = manifest, vectors, mark
            if changed and segments:
                self._context.coverage.restore(segments, disposition)
            self._measure()
            return changed
        self._seen = mark
        return False

    def _open_vectors(self, manifest: Manifest) -> VectorStore | None:
        if self._model is None or manifest.vectors is None:
            return None
        try:
            return open_vectors(self._context.folder, manifest.vectors, self._model)
        except IndexDamagedError as error:
            self._context.board.say(error.message, once=True)
            return self._vectors

    def _follow_keywords(self) -> None:
        """The keyword index is published by its own commits."""
        folder = self._context.folder
        mark = _mark(folder / KEYWORDS / "meta.json")
        if not self._semantic or mark == self._keywords_seen:
            return
        self._keywords_seen = mark
        try:
            if self._catalog is None and (folder / CATALOG).exists():
                self._catalog = Catalog(folder / CATALOG)
            if self._keywords is not None and can_follow(folder / KEYWORDS):
                self._keywords.reload()
            elif mark:
                self._keywords = open_keywords(folder / KEYWORDS)
            self._measure()
        except (IndexDamagedError, OSError) as error:
            self._keywords = None
            self._keywords_seen = ()
            self._context.board.say(str(error), once=True)

    def _measure(self) -> None:
        if self._catalog is None or self._vectors is None:
            self._coverage = 0.0
            return
        try:
            chunks = self._catalog.counts()[2]
        except IndexDamagedError:
            self._catalog = None
            return
        self._coverage = min(1.0, len(self._vectors) / chunks) if chunks else 1.0

    def view(self) -> SemanticView:
        """What a search by meaning searches now. Any thread."""
        catalog, keywords = self._catalog, self._keywords
        notice = "" if catalog is not None else "Another copy of the program is building the index."
        return SemanticView(
            catalog,
            self._vectors,
            keywords,
            self._model,
            self._coverage,
            keywords is not None and self.is_complete,
            notice,
        )

    def close(self) -> None:
        """Let go of everything."""
        if self._keywords is not None:
            self._keywords.close()
        self._catalog = self._keywords = self._vectors = None


def _mark(path: os.PathLike[str]) -> tuple[object, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ino, status.st_size
