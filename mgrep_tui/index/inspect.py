"""Looking at an index, or removing one, without a worker."""

from __future__ import annotations

import shutil
from pathlib import Path

from mgrep_tui.corpus import git
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import IndexDamagedError, MgrepError
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.health import count_reasons
from mgrep_tui.index.lock import Access, WriterLock
from mgrep_tui.index.status import catalog_values, sizes
from mgrep_tui.index.stores import CATALOG
from mgrep_tui.index.writer import COMPLETE
from mgrep_tui.model import Health, IndexState
from mgrep_tui.settings.paths import Folders


def status_of(root: Root, folders: Folders) -> Health:
    """The health of what is on the disk. Opens nothing for writing and starts nothing; never raises for what is broken."""
    folder = folders.index_of(root.path)
    head = git.head(root)
    values: dict[str, object] = {
        "root": str(root.path),
        "branch": head.branch,
        "commit": head.commit,
        "index_bytes": sizes(folder),
        "watcher": "off",
    }
    try:
        manifest = manifests.load(folder)
        if manifest is None:
            return _health(values, IndexState.OPENING, "there is no index yet")
        segments_files = sum(part.files for part in manifest.segments)
        values.update(
            generation=manifest.generation,
            files_indexed=segments_files,
            text_bytes=sum(part.text_bytes for part in manifest.segments),
            regex_ready=manifest.dispositions is not None,
        )
        if manifest.vectors is not None:
            values["vectors"] = int(manifest.vectors.manifest.get("count", 0))
            values["models"] = (("instant", str(manifest.vectors.manifest.get("model_id", ""))),)
        if (folder / CATALOG).exists():
            catalog = Catalog(folder / CATALOG)
            files = catalog.counts()[0]
            values.update(catalog_values(catalog))
            values.update(
                files_seen=files,
                files_total=files,
                skipped=count_reasons(reason for _, reason, _ in catalog.skipped()),
                keywords_ready=bool(manifest.notes.get(COMPLETE)),
            )
            catalog.close()
    except IndexDamagedError as error:
        return _health({**values, "last_error": error.message}, IndexState.BROKEN, "the next start builds it anew")
    is_complete = bool(manifest.notes.get(COMPLETE))
    return _health(
        values, IndexState.READY if is_complete else IndexState.INDEXING, "" if is_complete else "unfinished"
    )


def clean(folder: Path) -> int:
    """Remove an index folder; how many bytes that freed. Raise `MgrepError` when a copy of the program is using it."""
    if not folder.exists():
        return 0
    lock = WriterLock(folder)
    access = lock.acquire()
    if access is Access.READER:
        raise MgrepError("A copy of the program is using this index.", "Quit it first.")
    freed = sum(size for _, size in sizes(folder))
    lock.release()
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise MgrepError(f"{folder} cannot be removed: {error.strerror}.") from error
    return freed


def _health(values: dict[str, object], state: IndexState, phase: str) -> Health:
    return Health(state=state, phase=phase, **values)  # type: ignore[arg-type]
