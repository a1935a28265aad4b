"""Composing the health: what the parts of the worker say, put together for the panel and for `status`."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mgrep_tui.corpus import git
from mgrep_tui.corpus.walk import Listing
from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import generations
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.context import Context
from mgrep_tui.index.health import Rate, count_reasons
from mgrep_tui.index.reader import Reading
from mgrep_tui.index.stores import CATALOG, KEYWORDS
from mgrep_tui.index.writer import Writing
from mgrep_tui.model import IndexState

DETAIL_EVERY_S = 2.0  # counting in the catalog and on the disk
DETAIL_SHARE = 20  # takes at most a twentieth of the time
LANGUAGES = 12


class Teller:
    """Belongs to the index worker's thread."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._detailed_at = 0.0
        self._detail_took_s = 0.0
        self._rate = Rate()
        self.listing: Listing | None = None

    def tell(self, side: Writing | Reading | None, watcher: str, *, paused: bool, final: bool = False) -> float:
        """Write the health and announce it. Seconds after which it should be told again, 0 when all is said."""
        context = self._context
        board = context.board
        coverage = context.coverage
        head = git.head(context.root)
        board.put(
            watcher=watcher,
            checked_at=context.sweeper.checked_at,
            branch=head.branch,
            commit=head.commit,
            regex_ready=coverage.covers,
            dirty=coverage.extra_count,
            files_seen=len(coverage.known()) if coverage.is_known else board.health().files_seen,
        )
        if isinstance(side, Writing):
            self._tell_writing(side, paused=paused)
        elif isinstance(side, Reading):
            board.put(
                state=IndexState.READ_ONLY,
                phase="reading the index that another copy writes",
                generation=side.manifest.generation,
                keywords_ready=side.view().keywords_ready,
            )
        every = max(DETAIL_EVERY_S, DETAIL_SHARE * self._detail_took_s)
        left = self._detailed_at + every - time.monotonic()
        if left <= 0 or final:
            self._tell_detail(side)
            left = 0.0
        wait = board.announce()
        return max(wait, left)

    def _tell_writing(self, side: Writing, *, paused: bool) -> None:
        context = self._context
        coverage = context.coverage
        meaning = side.meaning
        grams = side.grams
        seen = len(coverage.known()) if coverage.is_known else 0
        values: dict[str, object] = {}
        phase = "listing the files"
        done, total, rate = 0, seen, 0.0
        state = IndexState.INDEXING
        if grams.job is not None and (meaning is None or not meaning.pending or side.waits_for_base):
            phase = "building the n-gram index" if grams.is_base_job else "adding changed files to the n-gram index"
            done, total = grams.job.done, grams.job.total
            rate = self._rate.note(time.monotonic(), done)
        elif meaning is not None and meaning.pending:
            phase = "reading files for search by meaning"
            done, total = meaning.done
            rate = meaning.rate_per_s
        elif coverage.is_known and side.is_complete:
            state, phase, done = IndexState.READY, "", seen
        elif coverage.is_known:
            phase = "finishing"
            done = seen
        if state is IndexState.READY or grams.job is None:
            self._rate.reset()
        if meaning is not None and meaning.stores is None and meaning.has_failed:
            state, phase = IndexState.BROKEN, "search by meaning is off"
        if paused and state is IndexState.INDEXING:
            state, phase = IndexState.PAUSED, "paused"
        left = max(0, total - done)
        view = side.view()
        values.update(
            state=state,
            phase=phase,
            files_total=total,
            files_pending=left if state is IndexState.INDEXING else 0,
            files_indexed=coverage.indexed_count,
            rate_per_s=rate,
            eta_s=left / rate if rate > 0 and left and state is IndexState.INDEXING else None,
            generation=side.manifest.generation,
            keywords_ready=view.keywords_ready,
            text_bytes=sum(part.text_bytes for part in grams.parts),
        )
        if meaning is not None and meaning.stores is not None:
            stores = meaning.stores
            values.update(chunks=stores.chunk_count, vectors=0 if stores.vectors is None else len(stores.vectors))
        context.board.put(**values)

    def _tell_detail(self, side: Writing | Reading | None) -> None:
        began = time.monotonic()
        view = side.view() if side is not None else None
        catalog = view.catalog if view is not None else None
        values: dict[str, object] = {"index_bytes": sizes(self._context.folder)}
        reasons = [] if self.listing is None else [skip.reason.value for skip in self.listing.skips]
        if catalog is not None:
            try:
                values.update(catalog_values(catalog))
                reasons += [reason for _, reason, _ in catalog.skipped()]
            except IndexDamagedError:
                pass
        values["skipped"] = count_reasons(reasons)
        model = view.model if view is not None else None
        values["models"] = (("instant", model.model_id if model is not None else "not available"),)
        if isinstance(side, Reading) and view is not None:
            values["vectors"] = 0 if view.vectors is None else len(view.vectors)
            values["text_bytes"] = sum(part.text_bytes for part in side.manifest.segments)
            values["files_indexed"] = self._context.coverage.indexed_count
        self._context.board.put(**values)
        self._detailed_at = time.monotonic()
        self._detail_took_s = self._detailed_at - began


def catalog_values(catalog: Catalog) -> dict[str, object]:
    """The fields of the health that the catalog knows. Raise `IndexDamagedError`."""
    _, chunked, chunks = catalog.counts()
    metrics = catalog.metrics()
    return {
        "files_chunked": chunked,
        "chunks": chunks,
        "chunked_bytes": catalog.text_bytes(),
        "languages": metrics.languages[:LANGUAGES],
        "metrics": metrics.rows(),
    }


def sizes(folder: Path) -> tuple[tuple[str, int], ...]:
    """Bytes on disk by part of an index folder."""
    parts = {"catalog": 0, "keywords": 0, "n-grams": 0, "vectors": 0}
    for name in (CATALOG, f"{CATALOG}-wal", f"{CATALOG}-shm"):
        parts["catalog"] += _size(folder / name)
    for path in _files(folder / KEYWORDS):
        parts["keywords"] += _size(path)
    for generation in _files(folder / generations.FOLDER):
        for path in _files(generation):
            parts["vectors" if path.name.startswith("vectors") else "n-grams"] += _size(path)
    return tuple(parts.items())


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _size(path: Path) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
