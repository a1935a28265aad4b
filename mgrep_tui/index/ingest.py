"""What a child process does with a file: read it, tell its language, cut it into chunks, embed them.

The functions here run in a child only. `begin` is the child's initializer; after it `take` may be called for one batch of files after the
other. A batch that kills or overruns the child is tried again file by file, and the one at fault is then taken `by_lines`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mgrep_tui.corpus.read import Reader, searchable
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.static import StaticModel, load_static
from mgrep_tui.embedding.text import embedding_text, text_hash
from mgrep_tui.errors import ModelError, UnreadableError
from mgrep_tui.index import rows
from mgrep_tui.index.rows import NewChunk, NewFile, NewSymbol
from mgrep_tui.model import SkipReason
from mgrep_tui.settings.config import ChunkingSettings
from mgrep_tui.text import languages, origin

if TYPE_CHECKING:
    from mgrep_tui.chunking import FileChunks

HASH_BYTES = 16


@dataclass(frozen=True, slots=True)
class Task:
    """One file to take in.

    `known_content` and `known_texts` are what the catalog has of it; `by_lines` says that its syntax is dangerous; `embeds` is False
    where no vectors are wanted.
    """

    path: bytes
    known_content: bytes = b""
    known_texts: frozenset[bytes] = frozenset()
    by_lines: bool = False
    embeds: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """What all files of a child have in common. `queries` is a folder of the user's own syntax queries."""

    root: Root
    chunking: ChunkingSettings
    max_file_bytes: int
    queries: Path | None = None
    embeds: bool = True


# Of a child; it needs some 200 MB. A Perl script of 230 kB was seen to make its parser take 1.9 GB.
MEMORY_LIMIT_BYTES = 1_200_000_000


@dataclass(slots=True)
class _Child:
    plan: Plan
    model: StaticModel | None
    chunk_file: Callable[..., FileChunks]


_child: _Child | None = None


def content_hash(data: bytes) -> bytes:
    """The hash by which the index knows a file's bytes; the n-gram segments use the same."""
    return hashlib.blake2b(data, digest_size=HASH_BYTES).digest()


def begin(plan: Plan) -> None:
    """Make this process ready."""
    # Loads the parsers: this module is imported by the interface too, for its values.
    from mgrep_tui.chunking import chunk_file

    global _child
    _limit_memory()
    model = None
    if plan.embeds:
        try:
            model = load_static()
        except ModelError:
            model = None  # the worker has met the same error and says it
    _child = _Child(plan, model, chunk_file)


def _limit_memory() -> None:
    """Where the system can: a parser that wants more ends this child, and its file is cut by lines."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        limit = MEMORY_LIMIT_BYTES if most == resource.RLIM_INFINITY else min(MEMORY_LIMIT_BYTES, most)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def take(tasks: tuple[Task, ...], faults: frozenset[bytes]) -> list[NewFile]:
    """The files of a batch, in its order. `faults` are contents that must not meet a parser."""
    assert _child is not None
    try:
        with Reader(_child.plan.root) as reader:
            return [_take_one(_child, reader, task, faults) for task in tasks]
    except (MemoryError, SystemError):
        # Out of memory inside native code: nothing in this process can be trusted any more.
        os._exit(1)


def _take_one(child: _Child, reader: Reader, task: Task, faults: frozenset[bytes]) -> NewFile:
    began = time.perf_counter()
    try:
        raw = reader.read(task.path, child.plan.max_file_bytes)
    except UnreadableError:
        return NewFile(task.path, is_gone=True)
    digest = content_hash(raw.data)
    if digest == task.known_content:
        return NewFile(task.path, raw.stat, digest, is_same=True)
    seen = searchable(raw.data)
    if seen is None:
        return NewFile(task.path, raw.stat, digest, skip_reason=SkipReason.BINARY.value)
    data = seen.data
    language = languages.language_of(task.path, data[:4096])
    file = NewFile(task.path, raw.stat, digest, language, _flags(task.path, data), text_bytes=len(data))
    settings = child.plan.chunking
    if len(data) > settings.max_file_bytes:
        detail = f"{len(data) / 1e6:,.0f} MB, limit {settings.max_file_bytes / 1e6:,.0f} MB for chunks"
        return replace(file, skip_reason=SkipReason.TOO_BIG.value, detail=detail)
    is_dangerous = task.by_lines or digest in faults
    if is_dangerous:
        settings = replace(settings, strategy="lines")
    cut = child.chunk_file(task.path, data, "" if is_dangerous else language, settings, child.plan.queries)
    chunks = []
    texts = []
    fresh = []
    whole = [embedding_text(task.path, chunk) for chunk in cut.chunks]
    keys = [text_hash(text) for text in whole]
    times = Counter(keys)
    for index, (chunk, text, key) in enumerate(zip(cut.chunks, whole, keys, strict=True)):
        # A text that stands in the file twice is always sent: there may be one more of it than the catalog knows.
        is_known = key in task.known_texts and times[key] == 1
        if not is_known:
            texts.append(text)
            fresh.append(index)
        chunks.append(
            NewChunk(
                chunk.language or language, chunk.kind, chunk.symbol, chunk.container, chunk.first_line, chunk.last_line,
                chunk.part, chunk.parts, key, "" if is_known else chunk.text,
            )
        )  # fmt: skip
    vectors = None
    if child.model is not None and texts and task.embeds:
        vectors = child.model.embed_documents(texts).astype(np.float16)
    return replace(
        file,
        grammar=cut.grammar,
        fallback="killed or overran the parser" if is_dangerous else cut.fallback,
        chunks=tuple(chunks),
        symbols=tuple(
            NewSymbol(item.name, item.kind, item.container, item.first_line, item.last_line) for item in cut.symbols
        ),
        vectors=vectors,
        fresh=tuple(fresh),
        by_lines=is_dangerous,
        seconds=time.perf_counter() - began,
    )


def _flags(path: bytes, data: bytes) -> int:
    flags = 0
    if origin.is_test_path(path):
        flags |= rows.TEST
    if origin.is_generated(path, data[:4096]):
        flags |= rows.GENERATED
    if origin.is_vendored(path):
        flags |= rows.VENDORED
    if origin.is_minified(data):
        flags |= rows.MINIFIED
    return flags
