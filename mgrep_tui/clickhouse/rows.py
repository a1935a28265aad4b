"""Files and what the children made of them, as columns for the engine: a batch at a time, so ordered that a killed push can be resumed."""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from mgrep_tui.clickhouse.blocks import blocks_of, first_lines
from mgrep_tui.clickhouse.connection import Connection
from mgrep_tui.clickhouse.keys import MOST_CHUNKS, chunk_of
from mgrep_tui.clickhouse.packing import packed
from mgrep_tui.clickhouse.schema import now_us
from mgrep_tui.clickhouse.wording import Wording
from mgrep_tui.index.rows import NewChunk, NewFile

HASH = pa.binary(16)
GRAPH_VALUES = 38_400_000
"""Of the vectors that are written at once: 150,000 of 256 dimensions, 77 MB. A killed push cuts and writes that many chunks again."""
MOST_WAITING = 40
"""Batches, where a batch has few vectors or none."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file to be written: its number, and what a child found in it. `has_blocks` says that the engine has this content's text already."""

    number: int
    file: NewFile
    text: bytes
    has_blocks: bool = False


@dataclass(slots=True)
class Batch:
    """Documents that are written together."""

    documents: list[Document] = field(default_factory=list)
    chunks: int = 0
    text_bytes: int = 0

    def add(self, document: Document) -> None:
        self.documents.append(document)
        self.chunks += len(document.file.chunks)
        self.text_bytes += len(document.text)


@dataclass(slots=True)
class _Waiting:
    """What is written once enough vectors have come together: they, the documents of whole batches, and the numbers of those batches."""

    ids: list[int] = field(default_factory=list)
    vectors: list[npt.NDArray[np.float16]] = field(default_factory=list)
    documents: list[pa.Table] = field(default_factory=list)
    batches: list[tuple[int, list[int]]] = field(default_factory=list)


class Writer:
    """Writes batches of documents. Belongs to one thread.

    Vectors wait until there are many: each part of their table has a graph of its own, which is made as the part is written, and made anew
    when parts are merged. Their documents wait with them, because a document says that all of it is there.
    """

    def __init__(
        self, connection: Connection, push: int, model: str, vectors: str, dimension: int, maker: str = ""
    ) -> None:
        """`push` names this run, `maker` what cuts its chunks; `vectors` is the model's table, empty where there are no vectors."""
        self._maker = maker
        self._connection = connection
        self._push = push
        self._model = model
        self._vectors = vectors
        self._dimension = dimension
        self._wording = Wording()
        self._waiting = _Waiting()
        self.chunks = 0
        self.vectors = 0

    def write(self, batch: Batch) -> None:
        """Write a batch: first that it is being written. Its documents may wait for `finish`. Raises `EngineError`."""
        if not batch.documents:
            return
        number = secrets.randbits(63)
        numbers = [document.number for document in batch.documents]
        self._note(number, numbers, is_done=False)
        self._insert("blocks", _blocks(batch.documents))
        self._insert("chunks", self._chunks_and_postings(batch.documents))
        self._insert("symbols", _symbols(batch.documents))
        centres = self._take_vectors(batch.documents)
        self._waiting.documents.append(self._documents(batch.documents, centres))
        self._waiting.batches.append((number, numbers))
        self.chunks += batch.chunks
        if len(self._waiting.ids) * self._dimension >= GRAPH_VALUES or len(self._waiting.batches) >= MOST_WAITING:
            self.finish()

    def finish(self) -> None:
        """Write what waits, the documents last. Raises `EngineError`."""
        waiting, self._waiting = self._waiting, _Waiting()
        if waiting.ids:
            every = np.concatenate(waiting.vectors).astype(np.float32)
            offsets = np.arange(0, every.size + 1, self._dimension, dtype=np.int32)
            self._insert(
                self._vectors,
                pa.table(
                    {
                        "chunk": np.array(waiting.ids, np.uint64),
                        "vector": pa.ListArray.from_arrays(pa.array(offsets), pa.array(every.reshape(-1))),
                    }
                ),
            )
            self.vectors += len(waiting.ids)
        if waiting.documents:
            self._insert("documents", pa.concat_tables(waiting.documents))
        for number, numbers in waiting.batches:
            self._note(number, numbers, is_done=True)

    def _insert(self, table: str, content: pa.Table) -> None:
        if content.num_rows:
            self._connection.insert(f"{self._connection.database}.{table}", content)

    def _note(self, number: int, documents: Sequence[int], *, is_done: bool) -> None:
        self._insert(
            "batches",
            pa.table(
                {
                    "batch": pa.array([number], pa.uint64()),
                    "push": pa.array([self._push], pa.uint64()),
                    "documents": pa.array([list(documents)], pa.list_(pa.uint64())),
                    "is_done": pa.array([int(is_done)], pa.uint8()),
                    "at": pa.array([now_us()], pa.uint64()),
                }
            ),
        )

    def _chunks_and_postings(self, documents: Sequence[Document]) -> pa.Table:
        chunks: list[tuple[bytes, NewChunk]] = []
        owners: list[int] = []
        for document in documents:
            for number, chunk in enumerate(document.file.chunks[:MOST_CHUNKS]):
                chunks.append((document.file.path, chunk))
                owners.append(chunk_of(document.number, number))
        postings = self._wording.postings(chunks)
        self._insert(
            "postings",
            pa.table(
                {
                    "word": postings.words,
                    "chunk": np.array(owners, np.uint64)[postings.chunks],
                    "times": postings.times,
                    "length": postings.lengths,
                }
            ),
        )
        fresh = self._wording.take_fresh()
        self._insert(
            "words",
            pa.table(
                {
                    "word": pa.array(fresh.keys, pa.uint64()),
                    "field": pa.array(fresh.fields, pa.uint8()),
                    "text": _texts(fresh.texts),
                }
            ),
        )
        return _chunks(documents, postings.sizes)

    def _take_vectors(self, documents: Sequence[Document]) -> list[npt.NDArray[np.float32] | None]:
        """Let the vectors wait, and give the mean of each document's."""
        centres: list[npt.NDArray[np.float32] | None] = []
        for document in documents:
            vectors = document.file.vectors
            if vectors is None or not len(vectors) or not self._vectors:
                centres.append(None)
                continue
            own = vectors.astype(np.float32)
            lengths = np.linalg.norm(own, axis=1)
            good = np.isfinite(lengths) & (lengths > 0) & (np.array(document.file.fresh) < MOST_CHUNKS)
            own = own[good] / lengths[good, None]
            self._waiting.ids += [
                chunk_of(document.number, number)
                for number, is_good in zip(document.file.fresh, good, strict=True)
                if is_good
            ]
            self._waiting.vectors.append(own.astype(np.float16))
            total = own.sum(axis=0)
            length = float(np.linalg.norm(total))
            centres.append(total / length if length > 0 else None)
        return centres

    def _documents(self, documents: Sequence[Document], centres: Sequence[npt.NDArray[np.float32] | None]) -> pa.Table:
        files = [document.file for document in documents]
        return pa.table(
            {
                "document": pa.array([document.number for document in documents], pa.uint64()),
                "content": pa.array([file.content_hash for file in files], HASH),
                "path": _texts([file.path for file in files]),
                "maker": _texts([self._maker] * len(files)),
                "language": _texts([file.language for file in files]),
                "flags": pa.array([file.flags for file in files], pa.uint8()),
                "chunks": pa.array([min(len(file.chunks), MOST_CHUNKS) for file in files], pa.uint32()),
                "text_bytes": pa.array([file.text_bytes for file in files], pa.uint64()),
                "grammar": _texts([file.grammar for file in files]),
                "fallback": _texts([file.fallback for file in files]),
                "model": _texts([self._model if centre is not None else "" for centre in centres]),
                "centre": pa.array(
                    [[] if centre is None else centre.tolist() for centre in centres], pa.list_(pa.float32())
                ),
            }
        )


def _texts(values: Sequence[str] | Sequence[bytes]) -> pa.Array:
    return pa.array(
        [value if isinstance(value, bytes) else value.encode("utf-8", "replace") for value in values], pa.binary()
    )


def _blocks(documents: Sequence[Document]) -> pa.Table:
    found = [
        (document.file.content_hash, block)
        for document in documents
        if not document.has_blocks
        for block in blocks_of(document.text)
    ]
    return pa.table(
        {
            "content": pa.array([content for content, _ in found], HASH),
            "number": pa.array([block.number for _, block in found], pa.uint32()),
            "first_line": pa.array([block.first_line for _, block in found], pa.uint32()),
            "is_last": pa.array([int(block.is_last) for _, block in found], pa.uint8()),
            "text": pa.array([block.text for _, block in found], pa.large_binary()),
            "folded": pa.array([block.folded for _, block in found], pa.large_binary()),
        }
    )


def _chunks(documents: Sequence[Document], lengths: npt.NDArray[np.int64]) -> pa.Table:
    found: list[tuple[int, NewFile, NewChunk, bytes]] = []
    for document in documents:
        starts = first_lines(document.text)
        for number, chunk in enumerate(document.file.chunks[:MOST_CHUNKS]):
            first, last = (max(0, bisect_right(starts, line) - 1) for line in (chunk.first_line, chunk.last_line))
            value = packed(document.file, chunk, first, last)
            found.append((chunk_of(document.number, number), document.file, chunk, value))
    return pa.table(
        {
            "chunk": pa.array([key for key, *_ in found], pa.uint64()),
            "path": _texts([file.path for _, file, _, _ in found]),
            "kind": _texts([chunk.kind for _, _, chunk, _ in found]),
            "symbol": _texts([chunk.symbol for _, _, chunk, _ in found]),
            "container": _texts([chunk.container for _, _, chunk, _ in found]),
            "first_line": pa.array([chunk.first_line for _, _, chunk, _ in found], pa.uint32()),
            "lengths": pa.array(lengths.tolist(), pa.list_(pa.uint32())),
            "packed": pa.array([value for *_, value in found], pa.binary()),
        }
    )


def _symbols(documents: Sequence[Document]) -> pa.Table:
    found = []
    for document in documents:
        chunks = document.file.chunks[:MOST_CHUNKS]
        starts = [chunk.first_line for chunk in chunks]
        for symbol in document.file.symbols:
            # Its chunk is the one that begins it; where parts overlap, the last.
            number = bisect_right(starts, symbol.first_line) - 1
            if number >= 0 and symbol.first_line <= chunks[number].last_line:
                found.append((chunk_of(document.number, number), symbol))
    return pa.table(
        {
            "folded": _texts([symbol.name.casefold() for _, symbol in found]),
            "chunk": pa.array([chunk for chunk, _ in found], pa.uint64()),
            "name": _texts([symbol.name for _, symbol in found]),
            "kind": _texts([symbol.kind for _, symbol in found]),
            "container": _texts([symbol.container for _, symbol in found]),
            "first_line": pa.array([symbol.first_line for _, symbol in found], pa.uint32()),
            "last_line": pa.array([symbol.last_line for _, symbol in found], pa.uint32()),
        }
    )
