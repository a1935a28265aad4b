"""The catalog for readers: which files, chunks and symbols the index knows. It is the truth about the semantic index.

Any thread may read; every thread gets a connection of its own, which sees each committed batch whole. Writing is `ledger.Ledger`'s, in the
index worker's thread only. What is said here of a file can be older than the disk: a chunk is shown only after its text was checked.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import schema
from mgrep_tui.index.rows import ChunkColumns, ChunkRow, FileRow, SymbolRow
from mgrep_tui.model import FileStat

if TYPE_CHECKING:
    from mgrep_tui.chunking.metrics import ChunkingMetrics

BUSY_TIMEOUT_MS = 5_000
CACHE_KIB = 8_192
ROWS_A_PIECE = 20_000  # of a long answer held as Python objects at a time
IDS_A_QUERY = 500  # SQLite's limit on bound values is 999 in old builds

FILE_COLUMNS = (
    "file_id, path, size, mtime_ns, ctime_ns, inode, content_hash, language, flags, skip_reason, detail, grammar, fallback,"
    " chunk_count, batch"
)
CHUNK_COLUMNS = (
    "c.chunk_id, c.file_id, f.path, c.language, c.kind, c.symbol, c.container, c.first_line, c.last_line, c.part, c.parts,"
    " c.text_hash, f.flags"
)
SYMBOL_COLUMNS = "s.name, s.kind, s.container, f.path, f.language, s.first_line, s.last_line, s.file_id, f.flags"


def connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    """Open the file. A reader never creates it, and reads even where nobody may write. Raise `sqlite3.Error`."""
    address = "file:" + quote(str(path))
    if writable:
        connection = sqlite3.connect(address + "?mode=rwc", uri=True, check_same_thread=False, isolation_level=None)
    else:
        connection = sqlite3.connect(address + "?mode=ro", uri=True, check_same_thread=False, isolation_level=None)
        try:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            # A folder that cannot be written has no place for the shared-memory file; nobody writes there either.
            connection.close()
            connection = sqlite3.connect(
                address + "?mode=ro&immutable=1", uri=True, check_same_thread=False, isolation_level=None
            )
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


class Catalog:
    """Reads from one catalog file. All methods may be called from any thread; they raise `IndexDamagedError` when the file is broken."""

    def __init__(self, path: Path) -> None:
        """Open and look at the mark and version only; raise `IndexDamagedError` when this is not a catalog of ours."""
        self.path = path
        self._local = threading.local()
        self._columns_lock = threading.Lock()
        self._columns: tuple[int, ChunkColumns] | None = None
        self._names: dict[str, tuple[int, list[tuple[int, int, str, str, str]]]] = {}
        with _guard():
            if not schema.is_ours(self._connection()):
                raise IndexDamagedError("The catalog was made by another version.")

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self.path, writable=False)
        return connection

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with _guard():
            return self._connection().execute(sql, values).fetchall()

    def meta(self, key: str) -> str:
        """A value of the `meta` table, empty when there is none."""
        found = self._all("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else ""

    def batch(self) -> int:
        """The number of the last batch; equal numbers mean equal chunks."""
        return int(self.meta("batch") or 0)

    def file(self, path: bytes) -> FileRow | None:
        """What is known of a file."""
        found = self._all(f"SELECT {FILE_COLUMNS} FROM files WHERE path = ?", (path,))
        return _file_row(found[0]) if found else None

    def files(self) -> list[FileRow]:
        """All files, by path. About 0.4 s for 80,000."""
        return [_file_row(row) for row in self._all(f"SELECT {FILE_COLUMNS} FROM files ORDER BY path")]

    def files_by_id(self, ids: Iterable[int]) -> dict[int, FileRow]:
        """These files; unknown ids are missing from the answer."""
        found = {}
        for some in _portions(ids):
            sql = f"SELECT {FILE_COLUMNS} FROM files WHERE file_id IN ({','.join('?' * len(some))})"
            for row in self._all(sql, some):
                file = _file_row(row)
                found[file.file_id] = file
        return found

    def files_with_content(self, hashes: Iterable[bytes]) -> list[FileRow]:
        """All files with one of these contents. Every file is looked at: some 20 ms for 80,000."""
        found = []
        every = list(hashes)
        for start in range(0, len(every), IDS_A_QUERY):
            some = every[start : start + IDS_A_QUERY]
            sql = f"SELECT {FILE_COLUMNS} FROM files WHERE content_hash IN ({','.join('?' * len(some))})"
            found += [_file_row(row) for row in self._all(sql, some)]
        return found

    def chunks(self, ids: Iterable[int]) -> dict[int, ChunkRow]:
        """These chunks; an id that is unknown (dropped since) is missing from the answer."""
        found = {}
        for some in _portions(ids):
            sql = (
                f"SELECT {CHUNK_COLUMNS} FROM chunks c JOIN files f USING (file_id)"
                f" WHERE c.chunk_id IN ({','.join('?' * len(some))})"
            )
            for row in self._all(sql, some):
                chunk = _chunk_row(row)
                found[chunk.chunk_id] = chunk
        return found

    def chunks_of(self, path: bytes) -> list[ChunkRow]:
        """The chunks of a file, by line."""
        sql = (
            f"SELECT {CHUNK_COLUMNS} FROM chunks c JOIN files f USING (file_id)"
            " WHERE f.path = ? ORDER BY c.first_line, c.chunk_id"
        )
        return [_chunk_row(row) for row in self._all(sql, (path,))]

    def chunk_ids_named(self, *, symbol: str = "", container: str = "", kind: str = "") -> npt.NDArray[np.int64]:
        """Ids, ascending, of the chunks whose fields match: SQLite `GLOB`-free, ASCII case ignored; `container` matches any dotted part."""
        terms, values = ["1"], []
        if symbol:
            terms.append("symbol = ? COLLATE NOCASE")
            values.append(symbol)
        if container:
            terms.append("instr('.' || lower(container) || '.', ?) > 0")
            values.append(f".{container.lower()}.")
        if kind:
            terms.append("kind = ?")
            values.append(kind)
        rows = self._all(f"SELECT chunk_id FROM chunks WHERE {' AND '.join(terms)} ORDER BY chunk_id", values)
        return np.array([row[0] for row in rows], np.int64)

    def symbols_named(self, name: str, *, limit: int = 200) -> list[SymbolRow]:
        """Definitions of this name, letter case ignored; those in the very case first."""
        sql = (
            f"SELECT {SYMBOL_COLUMNS} FROM symbols s JOIN files f USING (file_id) WHERE s.folded = ?"
            " ORDER BY s.name != ?, f.path, s.first_line LIMIT ?"
        )
        return [_symbol_row(row) for row in self._all(sql, (name.casefold(), name, limit))]

    def symbols_starting(self, prefix: str, *, limit: int = 50) -> list[SymbolRow]:
        """Definitions whose name starts with this, letter case ignored, by name."""
        folded = prefix.casefold()
        sql = (
            f"SELECT {SYMBOL_COLUMNS} FROM symbols s JOIN files f USING (file_id)"
            " WHERE s.folded >= ? AND s.folded < ? ORDER BY s.folded LIMIT ?"
        )
        return [_symbol_row(row) for row in self._all(sql, (folded, folded + "\U0010ffff", limit))]

    def symbols_of(self, path: bytes) -> list[SymbolRow]:
        """The outline of a file, by line."""
        sql = f"SELECT {SYMBOL_COLUMNS} FROM symbols s JOIN files f USING (file_id) WHERE f.path = ? ORDER BY s.first_line"
        return [_symbol_row(row) for row in self._all(sql, (path,))]

    def all_chunk_columns(self) -> ChunkColumns:
        """Every chunk, as columns; kept until the next batch. About 0.3 s for 100,000 when it must be read anew."""
        batch = self.batch()
        with self._columns_lock:
            kept = self._columns
            if kept is not None and kept[0] == batch:
                return kept[1]
        kinds: dict[str, int] = {}
        languages: dict[str, int] = {}
        pieces: list[npt.NDArray[np.int64]] = []
        with _guard():
            cursor = self._connection().execute(
                "SELECT c.chunk_id, c.file_id, c.kind, c.language, f.flags FROM chunks c JOIN files f USING (file_id)"
                " ORDER BY c.chunk_id"
            )
            while rows := cursor.fetchmany(ROWS_A_PIECE):
                pieces.append(
                    np.array(
                        [
                            (
                                chunk,
                                file,
                                kinds.setdefault(kind, len(kinds)),
                                languages.setdefault(name, len(languages)),
                                flags,
                            )
                            for chunk, file, kind, name, flags in rows
                        ],
                        np.int64,
                    )
                )
        table = np.concatenate(pieces) if pieces else np.empty((0, 5), np.int64)
        columns = ChunkColumns(
            np.ascontiguousarray(table[:, 0]),
            np.ascontiguousarray(table[:, 1]),
            table[:, 2].astype(np.int16),
            table[:, 3].astype(np.int16),
            table[:, 4].astype(np.uint8),
            tuple(kinds),
            tuple(languages),
        )
        for array in (columns.chunk_id, columns.file_id, columns.kind, columns.language, columns.flags):
            array.flags.writeable = False
        with self._columns_lock:
            self._columns = (batch, columns)
        return columns

    def chunk_names(self) -> list[tuple[int, int, str, str, str]]:
        """Every chunk as (chunk id, file id, kind, symbol, container), by id; kept until the next batch. Not to be changed."""
        return self._kept_names(
            "own", "SELECT chunk_id, file_id, kind, symbol, container FROM chunks ORDER BY chunk_id"
        )

    def inner_names(self) -> list[tuple[int, int, str, str, str]]:
        """The same for every other definition that begins in a chunk, such as a method in a small class's: (chunk id, file id, its kind,
        its name, its container)."""
        return self._kept_names(
            "inner",
            "SELECT c.chunk_id, s.file_id, s.kind, s.name, s.container FROM symbols s JOIN chunks c"
            " ON c.file_id = s.file_id AND s.first_line BETWEEN c.first_line AND c.last_line AND s.name != c.symbol ORDER BY 1",
        )

    def _kept_names(self, what: str, sql: str) -> list[tuple[int, int, str, str, str]]:
        batch = self.batch()
        with self._columns_lock:
            kept = self._names.get(what)
            if kept is not None and kept[0] == batch:
                return kept[1]
        names: list[tuple[int, int, str, str, str]] = self._all(sql)
        with self._columns_lock:
            self._names[what] = (batch, names)
        return names

    def counts(self) -> tuple[int, int, int]:
        """Files, files that were cut into chunks, chunks."""
        row = self._all(
            "SELECT count(*), coalesce(sum(skip_reason = ''), 0), coalesce(sum(chunk_count), 0) FROM files"
        )[0]
        return row[0], row[1], row[2]

    def text_bytes(self) -> int:
        """The size of what was cut into chunks."""
        return int(self._all("SELECT coalesce(sum(text_bytes), 0) FROM files WHERE skip_reason = ''")[0][0])

    def languages(self) -> list[tuple[str, int]]:
        """Files by language, most first; unknown languages as ``other``."""
        rows = self._all(
            "SELECT CASE language WHEN '' THEN 'other' ELSE language END, count(*) FROM files WHERE skip_reason = ''"
            " GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        return [(str(name), int(count)) for name, count in rows]

    def skipped(self) -> list[tuple[bytes, str, str]]:
        """Path, reason and detail of the files that were looked at and left out."""
        rows = self._all("SELECT path, skip_reason, detail FROM files WHERE skip_reason != '' ORDER BY path")
        return [(bytes(path), str(reason), str(detail)) for path, reason, detail in rows]

    def metrics(self) -> ChunkingMetrics:
        """How the chunking went. About 0.3 s for a million chunks."""
        # Its package loads the parsers, 50 ms: not before the screen is up.
        from mgrep_tui.chunking.metrics import from_counts

        parsed = self._all("SELECT count(*) FROM files WHERE grammar != '' AND skip_reason = ''")[0][0]
        fallbacks = self._all(
            "SELECT fallback, count(*) FROM files WHERE fallback != '' AND skip_reason = '' GROUP BY 1"
        )
        lines = self._all("SELECT last_line - first_line + 1, count(*) FROM chunks GROUP BY 1")
        return from_counts(parsed, dict(self.languages()), dict(fallbacks), dict(lines))

    def close(self) -> None:
        """Close this thread's connection; the others' close when their threads end."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None


@contextlib.contextmanager
def _guard() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise IndexDamagedError(f"The catalog cannot be read: {error}.") from error


def _portions(ids: Iterable[int]) -> Iterator[list[int]]:
    every = [int(item) for item in ids]
    for start in range(0, len(every), IDS_A_QUERY):
        yield every[start : start + IDS_A_QUERY]


def _file_row(row: Sequence[Any]) -> FileRow:
    file_id, path, size, mtime, ctime, inode, *rest = row
    return FileRow(file_id, bytes(path), FileStat(size, mtime, ctime, inode), *rest)


def _chunk_row(row: Sequence[Any]) -> ChunkRow:
    return ChunkRow(*row)


def _symbol_row(row: Sequence[Any]) -> SymbolRow:
    return SymbolRow(*row)
