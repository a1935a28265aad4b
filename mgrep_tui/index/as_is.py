"""An index as it is on the disk: looked at, searched or removed without a worker. Nothing is listed, written or waited for."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mgrep_tui.corpus import git
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.static import StaticModel, shared_static
from mgrep_tui.errors import IndexDamagedError, MgrepError, ModelError
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.health import count_reasons
from mgrep_tui.index.keyword_reading import open_keywords
from mgrep_tui.index.lock import Access, WriterLock
from mgrep_tui.index.manifest import Manifest
from mgrep_tui.index.results import SemanticView
from mgrep_tui.index.status import catalog_values, sizes
from mgrep_tui.index.stores import CATALOG, KEYWORDS, open_vectors
from mgrep_tui.index.writer import ALL, COMPLETE
from mgrep_tui.model import Health, IndexState, Skip, SkipReason
from mgrep_tui.retrieval.keywords import KeywordIndex
from mgrep_tui.retrieval.vectors import VectorStore
from mgrep_tui.settings.paths import Folders


class AsIs:
    """What was published, opened for reading. Never raises for what is broken: that part is missing and `health` says why."""

    def __init__(self, root: Root, folders: Folders, *, semantic: bool = True) -> None:
        """`semantic=False` leaves keywords, vectors and model closed: enough for `health` and `skipped`."""
        self._root = root
        self.folder = folders.index_of(root.path)
        self._error = ""
        self.manifest: Manifest | None = None
        self._catalog: Catalog | None = None
        self._keywords: KeywordIndex | None = None
        self._vectors: VectorStore | None = None
        self._model: StaticModel | None = None
        with self._noting():
            self.manifest = manifests.load(self.folder)
        with self._noting():
            if (self.folder / CATALOG).exists():
                self._catalog = Catalog(self.folder / CATALOG)
        if semantic:
            self._open_semantic()

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except (IndexDamagedError, ModelError, OSError) as error:
            self._error = self._error or str(error)

    def _open_semantic(self) -> None:
        with self._noting():
            self._model = shared_static()
        with self._noting():
            if (self.folder / KEYWORDS / "meta.json").exists():
                self._keywords = open_keywords(self.folder / KEYWORDS)
        with self._noting():
            if self._model is not None and self.manifest is not None and self.manifest.vectors is not None:
                self._vectors = open_vectors(self.folder, self.manifest.vectors, self._model)

    @property
    def is_complete(self) -> bool:
        """The writer had nothing left to do when it published, for search by meaning neither."""
        return self.manifest is not None and self.manifest.notes.get(COMPLETE) == ALL

    def semantic(self) -> SemanticView:
        """The view of search by meaning; its catalog is None when there is no index."""
        coverage = 0.0
        if self._catalog is not None and self._vectors is not None:
            with self._noting():
                chunks = self._catalog.counts()[2]
                coverage = min(1.0, len(self._vectors) / chunks) if chunks else 1.0
        notice = "" if self._catalog is not None else "There is no index yet."
        return SemanticView(
            self._catalog, self._vectors, self._keywords, self._model, coverage, self.is_complete, notice or self._error
        )

    def health(self) -> Health:
        """Everything that the files tell."""
        head = git.head(self._root)
        values: dict[str, object] = {
            "root": str(self._root.path),
            "branch": head.branch,
            "commit": head.commit,
            "index_bytes": sizes(self.folder),
            "watcher": "off",
        }
        manifest = self.manifest
        if manifest is not None:
            values.update(
                generation=manifest.generation,
                files_indexed=sum(part.files for part in manifest.segments),
                text_bytes=sum(part.text_bytes for part in manifest.segments),
                regex_ready=manifest.dispositions is not None,
                keywords_ready=self.is_complete,
            )
            if manifest.vectors is not None:
                values["vectors"] = int(manifest.vectors.manifest.get("count", 0))
                values["models"] = (("instant", str(manifest.vectors.manifest.get("model_id", ""))),)
        if self._catalog is not None:
            with self._noting():
                files = self._catalog.counts()[0]
                values.update(catalog_values(self._catalog))
                values.update(files_seen=files, files_total=files)
                values["skipped"] = count_reasons(reason for _, reason, _ in self._catalog.skipped())
        state, phase = IndexState.READY, ""
        if self._error:
            state, phase = IndexState.BROKEN, "the next start builds the broken part anew"
        elif manifest is None:
            state, phase = IndexState.OPENING, "there is no index yet"
        elif not manifest.notes.get(COMPLETE):
            state, phase = IndexState.INDEXING, "unfinished"
        elif not os.access(self.folder, os.W_OK):
            state, phase = IndexState.READ_ONLY, "its folder cannot be written; it is read as it is"
        return Health(state=state, phase=phase, last_error=self._error, **values)  # type: ignore[arg-type]

    def skipped(self) -> list[Skip]:
        """Files that were looked at and left out. What the rules leave out is not known without listing the tree."""
        found = []
        if self._catalog is not None:
            with self._noting():
                found = [to_skip(*row) for row in self._catalog.skipped()]
        return found

    def close(self) -> None:
        if self._keywords is not None:
            self._keywords.close()
        if self._catalog is not None:
            self._catalog.close()


def open_as_is(root: Root, folders: Folders, *, semantic: bool = True) -> AsIs:
    """Open what is there; takes as long as reading the vectors (0.1 s for 100,000)."""
    return AsIs(root, folders, semantic=semantic)


def to_skip(path: bytes, reason: str, detail: str) -> Skip:
    """A skip as the catalog keeps it."""
    try:
        return Skip(path, SkipReason(reason), detail)
    except ValueError:
        return Skip(path, SkipReason.UNREADABLE, f"{reason} {detail}".strip())


def clean(folder: Path) -> int:
    """Remove an index folder; how many bytes that freed. Raise `MgrepError` when a copy of the program is using it."""
    if not folder.exists():
        return 0
    lock = WriterLock(folder)
    if lock.acquire() is Access.READER:
        raise MgrepError("A copy of the program is using this index.", "Quit it first.")
    freed = sum(size for _, size in sizes(folder))
    lock.release()
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise MgrepError(f"{folder} cannot be removed: {error.strerror}.") from error
    return freed
