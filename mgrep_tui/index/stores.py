"""The stores behind search by meaning, kept in step: catalog, keyword index, vectors.

The catalog leads. Each batch of files is one transaction there; then its chunks go into the keyword index and the vectors. Both carry the
number of the last batch that they hold for good (the keyword index in its commit's payload, the vectors in the manifest), together with the
catalog's id. At the start, files of later batches are fed again to the store that lacks them; a store of another catalog, of another
version, or damaged is emptied and filled anew. So a crash at any moment costs work, never truth.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mgrep_tui.embedding.static import StaticModel
from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.ledger import Ledger
from mgrep_tui.index.manifest import Manifest, Part, VectorPart
from mgrep_tui.index.rows import NewFile, StoredChunk
from mgrep_tui.index.soundness import SUMS, check_keywords, clear_leftovers, note_keywords
from mgrep_tui.retrieval.keywords import KeywordIndex, KeywordRow
from mgrep_tui.retrieval.vectors import VectorManifest, VectorStore
from mgrep_tui.text.sanitize import display_path

CATALOG = "catalog.sqlite3"
KEYWORDS = "keywords"
VECTORS = "vectors.usearch"
COMMIT_EVERY_S = 1.0
COMMIT_SHARE = 8  # committing takes at most an eighth of the time
# 430 bytes of memory each (the vector and its links): more would not leave the screen within its 300 MB. Chunks beyond are found by words.
VECTOR_LIMIT = 300_000
SMALL_VECTORS = 50_000  # 20 MB, 0.1 s


@dataclass(slots=True)
class Stores:
    """The open stores of the one writer: belongs to the index worker's thread.

    `catalog`, `keywords` and `vectors` may be searched from any.
    """

    folder: Path
    ledger: Ledger
    catalog: Catalog
    keywords: KeywordIndex
    vectors: VectorStore | None
    notes: list[str]
    keywords_batch: int
    vectors_batch: int
    redo_keywords: set[bytes] = field(default_factory=set)
    redo_vectors: set[bytes] = field(default_factory=set)
    chunk_count: int = 0
    _uncommitted: bool = False
    _unsaved: bool = False
    _committed_at: float = 0.0
    _commit_took_s: float = 0.0

    # --- taking in

    def take(self, files: Sequence[NewFile]) -> None:
        """Put a batch of files into all three. Raise `OSError` or `IndexDamagedError`."""
        by_path = {file.path: file for file in files}
        written = self.ledger.write(files)
        self.chunk_count += len(written.added) - len(written.removed)
        again_words = [item for item in written.kept if item.path in self.redo_keywords]
        again_vectors = [item for item in written.kept if item.path in self.redo_vectors]
        self._forget(written.removed)
        self._add_words([*written.added, *again_words])
        self._add_vectors([*written.added, *again_vectors], by_path)
        self.redo_keywords.difference_update(by_path)
        self.redo_vectors.difference_update(by_path)

    def drop(self, paths: Sequence[bytes]) -> None:
        """Forget files that are gone."""
        removed = self.ledger.drop(paths)
        self.chunk_count -= len(removed)
        self.redo_keywords.difference_update(paths)
        self.redo_vectors.difference_update(paths)
        self._forget(removed)

    def _forget(self, ids: Sequence[int]) -> None:
        if ids:
            self.keywords.remove(ids)
            self._uncommitted = True
            if self.vectors is not None:
                self.vectors.remove(np.array(ids, np.int64))
                self._unsaved = True

    def _add_words(self, chunks: Sequence[StoredChunk]) -> None:
        self.keywords.replace(
            KeywordRow(item.chunk_id, item.chunk.text, item.chunk.symbol, item.chunk.container, display_path(item.path))
            for item in chunks
            if item.fresh >= 0
        )
        self._uncommitted = True

    def _add_vectors(self, chunks: Sequence[StoredChunk], files: dict[bytes, NewFile]) -> None:
        if self.vectors is None:
            return
        ids = []
        vectors = []
        for item in chunks:
            made = files[item.path].vectors
            if item.fresh >= 0 and made is not None:
                ids.append(item.chunk_id)
                vectors.append(made[item.fresh])
        ids = ids[: max(0, VECTOR_LIMIT - len(self.vectors))]
        if ids:
            self.vectors.add(np.array(ids, np.int64), np.asarray(vectors[: len(ids)], np.float32))
        self._unsaved = True

    # --- making it last

    @property
    def wants_commit(self) -> bool:
        return self._uncommitted

    @property
    def wants_save(self) -> bool:
        return self._unsaved and self.vectors is not None

    def commit_is_due(self, now: float) -> bool:
        """Whether enough time has passed since the last commit, measured by `time.monotonic`."""
        return self._uncommitted and now - self._committed_at >= max(COMMIT_EVERY_S, COMMIT_SHARE * self._commit_took_s)

    def commit(self) -> None:
        """Make the words of all batches so far searchable and lasting. About 0.1 s. Raise `OSError` or `IndexDamagedError`."""
        began = time.monotonic()
        if not self.redo_keywords:
            self.keywords.commit(f"{self.ledger.catalog_id}:{self.ledger.batch}")
            self.keywords_batch = self.ledger.batch
        else:  # files of earlier batches are still missing: the number must not claim them
            self.keywords.commit(f"{self.ledger.catalog_id}:{self.keywords_batch}")
        note_keywords(self.folder / KEYWORDS)
        self._uncommitted = False
        self._committed_at = time.monotonic()
        self._commit_took_s = self._committed_at - began

    def save_vectors(self, folder: Path, path: str) -> VectorPart | None:
        """Write the vectors to `folder/path`. None when there is no model. Raise `OSError`."""
        if self.vectors is None:
            return None
        made = self.vectors.save(folder / path)
        if not self.redo_vectors:
            self.vectors_batch = self.ledger.batch
        self._unsaved = False
        part = Part(path, made.size_bytes, made.checksum, manifests.seal_of(folder / path))
        return VectorPart(part, made.as_dict(), self.ledger.catalog_id, self.vectors_batch)

    def trim(self) -> None:
        """Forget the dropped ids that both stores are past."""
        self.ledger.forget_removed(min(self.keywords_batch, self.vectors_batch))

    @property
    def is_full(self) -> bool:
        """No more vectors are kept."""
        return self.vectors is not None and len(self.vectors) >= VECTOR_LIMIT

    def rest(self) -> None:
        """Nothing to do: give back the memory of the keyword writer, 100 MB. Raise `IndexDamagedError`."""
        if not self._uncommitted:
            self.keywords.close()

    @property
    def is_small(self) -> bool:
        """Whether saving the vectors is a matter of moments."""
        return self.vectors is None or len(self.vectors) < SMALL_VECTORS

    @property
    def keywords_ready(self) -> bool:
        return not self._uncommitted and not self.redo_keywords

    def coverage(self) -> float:
        """The share of chunks that have vectors."""
        if self.vectors is None:
            return 0.0
        return 1.0 if not self.chunk_count else min(1.0, len(self.vectors) / self.chunk_count)

    def close(self) -> None:
        """Let go; what was not committed is dropped and will be made again."""
        with contextlib.suppress(IndexDamagedError, OSError):
            self.keywords.close()
        self.ledger.close()


def open_stores(
    folder: Path, versions: str, published: Manifest | None, model: StaticModel | None, *, is_sealed: bool
) -> Stores:
    """Open all three, mending what is broken. `is_sealed` says that the catalog was closed well and not touched since.

    Raise `OSError` when the disk does not let us.
    """
    notes: list[str] = []
    ledger = _open_ledger(folder, versions, notes, is_sealed=is_sealed)
    try:
        keywords, keywords_batch = _open_keywords(folder / KEYWORDS, ledger, notes)
        vectors, vectors_batch = _open_vectors(folder, published, ledger, model, notes)
        catalog = Catalog(ledger.path)
        stores = Stores(
            folder, ledger, catalog, keywords, vectors, notes, keywords_batch, vectors_batch,
            redo_keywords=ledger.after(keywords_batch),
            redo_vectors=ledger.after(vectors_batch) if vectors is not None else set(),
            chunk_count=catalog.counts()[2],
        )  # fmt: skip
        stale_words, stale_vectors = ledger.removed_after(keywords_batch), ledger.removed_after(vectors_batch)
        if stale_words:
            keywords.remove(stale_words)
            stores._uncommitted = True
        if vectors is not None and stale_vectors:
            vectors.remove(np.array(stale_vectors, np.int64))
            stores._unsaved = True
    except BaseException:
        ledger.close()
        raise
    return stores


def _open_ledger(folder: Path, versions: str, notes: list[str], *, is_sealed: bool) -> Ledger:
    ledger = Ledger(folder / CATALOG, versions)
    if not is_sealed and not ledger.was_rebuilt and ledger.batch:
        try:
            ledger.check()
        except IndexDamagedError as error:
            ledger.close()
            ledger.throw_away()
            ledger = Ledger(folder / CATALOG, versions)
            ledger.was_rebuilt = error.message
    if ledger.was_rebuilt:
        notes.append(f"The catalog is made anew: {ledger.was_rebuilt.rstrip('.')}.")
    return ledger


def _open_keywords(folder: Path, ledger: Ledger, notes: list[str]) -> tuple[KeywordIndex, int]:
    reason = ""
    try:
        check_keywords(folder)
        clear_leftovers(folder)
        keywords = KeywordIndex(folder)
        catalog_id, _, batch = keywords.payload.partition(":")
        if catalog_id == ledger.catalog_id and batch.isdigit() and int(batch) <= ledger.batch:
            return keywords, int(batch)
        if not keywords.payload and not ledger.batch and not len(keywords):
            return keywords, 0
        if keywords.payload and not ledger.was_rebuilt and ledger.batch:
            reason = "it belongs to another catalog"
        keywords.close()
    except IndexDamagedError as error:
        reason = error.message.rstrip(".")
    if reason:
        notes.append(f"The keyword index is made anew: {reason}.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_name(SUMS).unlink(missing_ok=True)
    return KeywordIndex(folder), 0


def _open_vectors(
    folder: Path, published: Manifest | None, ledger: Ledger, model: StaticModel | None, notes: list[str]
) -> tuple[VectorStore | None, int]:
    if model is None:
        return None, 0
    part = published.vectors if published is not None else None
    if part is not None and part.catalog_id == ledger.catalog_id and part.batch <= ledger.batch:
        try:
            return open_vectors(folder, part, model), part.batch
        except IndexDamagedError as error:
            notes.append(f"The vectors are made anew: {error.message.rstrip('.')}.")
    return VectorStore(model.dimension, model.model_id), 0


def open_vectors(folder: Path, part: VectorPart, model: StaticModel) -> VectorStore:
    """The published vectors. Raise `IndexDamagedError`."""
    return VectorStore.open(folder / part.part.path, VectorManifest.from_dict(part.manifest), model_id=model.model_id)
