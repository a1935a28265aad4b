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

from mgrep_tui.corpus.decode import decode_text, searchable
from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.embedding.cache import EmbeddingCache
from mgrep_tui.embedding.static import StaticModel, load_static
from mgrep_tui.embedding.text import embedding_text, text_hash
from mgrep_tui.errors import ModelError, UnreadableError
from mgrep_tui.index import rows
from mgrep_tui.index.cuts import NAME as CUTS
from mgrep_tui.index.cuts import Cut, Cuts
from mgrep_tui.index.rows import NewChunk, NewFile, NewSymbol
from mgrep_tui.model import SkipReason
from mgrep_tui.settings.config import ChunkingSettings
from mgrep_tui.text import languages, origin

if TYPE_CHECKING:
    from mgrep_tui.chunking import FileChunks

HASH_BYTES = 16
VECTORS = "embeddings.sqlite3"  # the deep tier's are there too


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
    """What all files of a child have in common. `queries` is a folder of the user's own syntax queries; `shared` is where what was computed
    once is kept by content, None to keep nothing; `versions` names what chunks depend on beside their file."""

    root: Root
    chunking: ChunkingSettings
    max_file_bytes: int
    queries: Path | None = None
    embeds: bool = True
    shared: Path | None = None
    versions: str = ""
    cache_bytes: int = 2_000_000_000


# Of a child; it needs some 200 MB. A Perl script of 230 kB was seen to make its parser take 1.9 GB.
MEMORY_LIMIT_BYTES = 1_200_000_000


@dataclass(slots=True)
class _Child:
    plan: Plan
    model: StaticModel | None
    chunk_file: Callable[..., FileChunks]
    cuts: Cuts | None = None
    vectors: EmbeddingCache | None = None


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
    if plan.shared is not None:
        _child.cuts = Cuts(plan.shared / CUTS, plan.versions)
        _child.vectors = EmbeddingCache(plan.shared / VECTORS, plan.cache_bytes)


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
            taken = [_take_one(_child, reader, task, faults) for task in tasks]
            if _child.cuts is not None:
                _child.cuts.flush()
            return _embed(_child, taken)
    except (MemoryError, SystemError):
        # Out of memory inside native code: nothing in this process can be trusted any more.
        os._exit(1)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A file without its vectors, and the texts for which they are wanted."""

    file: NewFile
    texts: tuple[str, ...] = ()


def _embed(child: _Child, taken: list[_Taken]) -> list[NewFile]:
    """The files with their vectors: what was embedded before, by whatever root or branch, is not embedded again."""
    texts = [text for item in taken for text in item.texts]
    if child.model is None or not texts:
        return [item.file for item in taken]
    vectors = np.empty((len(texts), child.model.dimension), np.float16)
    keys = [text_hash(text) for text in texts]
    kept = {} if child.vectors is None else child.vectors.get(child.model.model_id, keys)
    missing = []
    for number, key in enumerate(keys):
        vector = kept.get(key)
        if vector is None or len(vector) != vectors.shape[1]:
            missing.append(number)
        else:
            vectors[number] = vector
    if missing:
        made = child.model.embed_documents([texts[number] for number in missing])
        vectors[missing] = made
        if child.vectors is not None:
            child.vectors.put(child.model.model_id, [keys[number] for number in missing], made)
    files = []
    at = 0
    for item in taken:
        count = len(item.texts)
        files.append(replace(item.file, vectors=vectors[at : at + count]) if count else item.file)
        at += count
    return files


def _take_one(child: _Child, reader: Reader, task: Task, faults: frozenset[bytes]) -> _Taken:
    began = time.perf_counter()
    try:
        raw = reader.read(task.path, child.plan.max_file_bytes)
    except UnreadableError:
        return _Taken(NewFile(task.path, is_gone=True))
    digest = content_hash(raw.data)
    if digest == task.known_content:
        return _Taken(NewFile(task.path, raw.stat, digest, is_same=True))
    seen = searchable(raw.data)
    if seen is None:
        return _Taken(NewFile(task.path, raw.stat, digest, skip_reason=SkipReason.BINARY.value))
    data = seen.data
    language = languages.language_of(task.path, data[:4096])
    file = NewFile(task.path, raw.stat, digest, language, _flags(task.path, data), text_bytes=len(data))
    settings = child.plan.chunking
    if len(data) > settings.max_file_bytes:
        detail = f"{len(data) / 1e6:,.0f} MB, limit {settings.max_file_bytes / 1e6:,.0f} MB for chunks"
        return _Taken(replace(file, skip_reason=SkipReason.TOO_BIG.value, detail=detail))
    is_dangerous = task.by_lines or digest in faults
    if is_dangerous:
        settings = replace(settings, strategy="lines")
    chunks_of, symbols, grammar, fallback = _cut(
        child, task.path, data, "" if is_dangerous else language, settings, digest
    )
    chunks = []
    texts = []
    fresh = []
    whole = [embedding_text(task.path, chunk) for chunk in chunks_of]
    keys = [text_hash(text) for text in whole]
    times = Counter(keys)
    for index, (chunk, text, key) in enumerate(zip(chunks_of, whole, keys, strict=True)):
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
    done = replace(
        file,
        grammar=grammar,
        fallback="killed or overran the parser" if is_dangerous else fallback,
        chunks=tuple(chunks),
        symbols=tuple(
            NewSymbol(item.name, item.kind, item.container, item.first_line, item.last_line) for item in symbols
        ),
        fresh=tuple(fresh),
        by_lines=is_dangerous,
        seconds=time.perf_counter() - began,
    )
    return _Taken(done, tuple(texts) if task.embeds else ())


def _cut(child: _Child, path: bytes, data: bytes, language: str, settings: ChunkingSettings, digest: bytes) -> Cut:
    """The file's chunks, from what is kept where it was cut before."""
    if child.cuts is None or settings is not child.plan.chunking:
        made = child.chunk_file(path, data, language, settings, child.plan.queries)
        return made.chunks, made.symbols, made.grammar, made.fallback
    key = child.cuts.key(path, language, digest)
    found = child.cuts.get(key, lambda: decode_text(data))
    if found is None:
        made = child.chunk_file(path, data, language, settings, child.plan.queries)
        found = made.chunks, made.symbols, made.grammar, made.fallback
        if not made.fallback:  # an overrun may be the machine's fault
            child.cuts.put(key, found, decode_text(data))
    return found


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
