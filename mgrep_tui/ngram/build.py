"""Build one segment from a list of files. To be called in a child process: it loads numba and uses two threads.

The segment appears under its name only when it is whole: temporary names, fsync, rename; the lookup file last.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, Skip
from mgrep_tui.ngram.grams import CAP, KEY_BITS
from mgrep_tui.ngram.layout import (
    DOCUMENTS_MAGIC,
    FORMAT,
    POSTINGS_MAGIC,
    SUFFIXES,
    Header,
    pack_header,
    pack_part_header,
)

if TYPE_CHECKING:
    from mgrep_tui.ngram.documents import Written
    from mgrep_tui.ngram.merge import Merged
    from mgrep_tui.ngram.runs import Batch, Documents

THREADS = 2
COMPILE_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class SegmentSummary:
    """What was built. `files` counts documents with a text; `text_bytes` is searchable text; `checksum` is for `Segment.open`."""

    files: int
    blocks: int
    keys: int
    text_bytes: int
    size_bytes: int
    checksum: str
    skips: list[Skip] = field(default_factory=list)


def build_segment(
    root: Root,
    entries: Sequence[Entry],
    out_path: Path,
    *,
    memory_bytes: int = 256 << 20,
    limit_bytes: int = 64 << 20,
    report: Callable[[int, int], None] = lambda done, total: None,
    cancel: CancelToken | None = None,
    kernel_cache: Path | None = None,
    threads: int = THREADS,
    is_sorted: bool = False,
) -> SegmentSummary:
    """Write `<out_path>.lookup`, `.postings` and `.documents`.

    Entries that are known to come by path (`is_sorted`) are taken one by one, and need not all be in memory at once.
    `limit_bytes` is the greatest file read; `report(done, total)` counts files and is called from any thread, one at a time;
    `kernel_cache` is where compiled kernels are kept (only the first call in a process can choose). Memory is about 180 MB for the
    interpreter with its compiler, 25 MB a thread and 200 bytes a file, whatever the size of the tree; a single file adds its own
    size. With `memory_bytes` under 200 MB one thread is used.

    Raises `MgrepError` when the files cannot be written and `Cancelled`; then nothing is left behind.
    """
    _choose_kernel_cache(kernel_cache)
    # Loads numba: not before the caller is known to be a builder.
    from mgrep_tui.ngram import documents, merge, runs

    cancel = cancel or CancelToken()
    threads = 1 if memory_bytes < 200 << 20 else threads
    ordered = entries if is_sorted else sorted(entries, key=lambda entry: entry.path)
    folder = out_path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as spill, _new_files(out_path) as (lookup, postings, table):
            extraction = runs.Extraction(
                root, ordered, spill, limit_bytes=limit_bytes, threads=threads, report=report, cancel=cancel
            )
            batches = extraction.run()
            _give_back_memory()
            merged = merge.merge(batches, spill, lookup, postings, threads, cancel)
            written = documents.write(table, ordered, extraction.documents, batches)
            header = _header(merged, written, batches)
            content, identity = pack_header(header)
            for file, start in (
                (lookup, content),
                (postings, pack_part_header(POSTINGS_MAGIC, identity)),
                (table, pack_part_header(DOCUMENTS_MAGIC, identity)),
            ):
                file.seek(0)
                file.write(start)
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        raise MgrepError(
            f"The n-gram index cannot be written in {folder}: {error.strerror or error}.", "Is there room on the disk?"
        ) from error
    return SegmentSummary(
        _texts(extraction.documents),
        header.blocks,
        header.keys,
        header.text_bytes,
        sum(header.sizes),
        identity.hex(),
        extraction.skips,
    )


def _header(merged: Merged, written: Written, batches: Sequence[Batch]) -> Header:
    return Header(
        files=written.files,
        blocks=sum(len(batch.starts) for batch in batches),
        keys=merged.keys,
        text_bytes=sum(batch.text_bytes for batch in batches),
        paths_bytes=written.paths_bytes,
        sizes=(merged.lookup_bytes, merged.postings_bytes, written.size_bytes),
        checksums=(merged.lookup_checksum, merged.postings_checksum, written.checksum),
    )


def _texts(documents: Documents) -> int:
    from mgrep_tui.ngram.layout import FileKind

    return int(((documents.kinds >= 0) & (documents.kinds < FileKind.BINARY)).sum())


@contextlib.contextmanager
def _new_files(out_path: Path) -> Iterator[list[IO[bytes]]]:
    """Three new files under temporary names; renamed at a good end, removed at a bad one."""
    names = [out_path.with_name(out_path.name + suffix) for suffix in SUFFIXES]
    temporary = [name.with_name(f"{name.name}.{os.getpid()}.tmp") for name in names]
    try:
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(path.open("wb")) for path in temporary]
        for source, name in reversed(list(zip(temporary, names, strict=True))):
            os.replace(source, name)
        _sync_folder(out_path.parent)
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)


def _give_back_memory() -> None:
    """Return to the system what the reading threads have freed: glibc keeps it, 40 MB on a large tree, and the merge needs as much."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):  # Windows: a folder cannot be opened
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _choose_kernel_cache(folder: Path | None) -> None:
    """Tell numba where to keep compiled kernels; it reads this when it is imported.

    numba renews them when the file of the kernels changes, but not when constants that they import do: those name the folder.
    """
    if folder is None:
        return
    folder = folder / f"{FORMAT}-{CAP}-{KEY_BITS}"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            os.environ["NUMBA_CACHE_DIR"] = str(folder)
            if "numba" not in sys.modules:
                compile_apart(folder)


def compile_apart(kernel_cache: Path) -> None:
    """Fill an empty cache folder, in a process of its own. When that fails, a build compiles for itself."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        if any(kernel_cache.iterdir()):
            return
        subprocess.run(
            [sys.executable, "-m", "mgrep_tui.ngram.warm"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(kernel_cache)},
            cwd=kernel_cache,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=COMPILE_LIMIT_S,
            check=False,
        )
