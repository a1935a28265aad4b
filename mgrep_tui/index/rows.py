"""What the catalog knows of a file, a chunk and a symbol: the values that readers get and that the child processes send."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mgrep_tui.model import FileStat

TEST = 1
GENERATED = 2
VENDORED = 4
MINIFIED = 8


class _Flagged:
    """What the bits of `flags` say."""

    __slots__ = ()

    flags: int

    @property
    def is_test(self) -> bool:
        return bool(self.flags & TEST)

    @property
    def is_generated(self) -> bool:
        return bool(self.flags & GENERATED)

    @property
    def is_vendored(self) -> bool:
        return bool(self.flags & VENDORED)


@dataclass(frozen=True, slots=True)
class FileRow(_Flagged):
    """One file that was looked at. `skip_reason` is empty when it was cut into chunks, else why not, in words.

    `grammar` is the parser used ("" = by lines), `fallback` why an expected one was not. `batch` numbers the write that last changed its
    chunks: what the keyword index and the vector file hold is told by the number of the last batch in them.
    """

    file_id: int
    path: bytes
    stat: FileStat
    content_hash: bytes
    language: str
    flags: int
    skip_reason: str
    detail: str
    grammar: str
    fallback: str
    chunk_count: int
    batch: int


@dataclass(frozen=True, slots=True)
class ChunkRow(_Flagged):
    """One chunk; lines are 0-based and inclusive. `text_hash` is of the text that was embedded (`embedding.text.text_hash`)."""

    chunk_id: int
    file_id: int
    path: bytes
    language: str
    kind: str
    symbol: str
    container: str
    first_line: int
    last_line: int
    part: int
    parts: int
    text_hash: bytes
    flags: int


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """One named definition and where it is."""

    name: str
    kind: str
    container: str
    path: bytes
    language: str
    first_line: int
    last_line: int
    file_id: int
    flags: int = 0


@dataclass(frozen=True, slots=True)
class ChunkColumns:
    """All chunks as columns, ordered by `chunk_id`, for filters that must be applied before the top-k. Arrays are read-only.

    `kind` and `language` are codes into `kinds` and `languages`; `language` is the chunk's own (a code cell's in a notebook).
    """

    chunk_id: npt.NDArray[np.int64]
    file_id: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int16]
    language: npt.NDArray[np.int16]
    flags: npt.NDArray[np.uint8]
    kinds: tuple[str, ...]
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk as a child process sends it. `text` is what keywords are made of, empty when the catalog knows the chunk already."""

    language: str
    kind: str
    symbol: str
    container: str
    first_line: int
    last_line: int
    part: int
    parts: int
    text_hash: bytes
    text: str = ""


@dataclass(frozen=True, slots=True)
class NewSymbol:
    """A symbol as a child process sends it."""

    name: str
    kind: str
    container: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class NewFile:
    """All that a child process found out about one file.

    `vectors` has one float16 row for every chunk whose `text` is sent (`fresh` in the chunks' order), None where nothing was embedded.
    `is_gone` says that the file could not be opened any more; then only `path` counts. `is_same` says that the content is the known one,
    `by_lines` that its syntax killed or overran a child before.
    """

    path: bytes
    stat: FileStat | None = None
    content_hash: bytes = b""
    language: str = ""
    flags: int = 0
    skip_reason: str = ""
    detail: str = ""
    grammar: str = ""
    fallback: str = ""
    text_bytes: int = 0
    chunks: tuple[NewChunk, ...] = ()
    symbols: tuple[NewSymbol, ...] = ()
    vectors: npt.NDArray[np.float16] | None = None
    fresh: tuple[int, ...] = ()
    is_gone: bool = False
    is_same: bool = False
    by_lines: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk that was just written, with its id: what the keyword index and the vectors take. `fresh` indexes `NewFile.fresh`."""

    chunk_id: int
    path: bytes
    chunk: NewChunk
    fresh: int
