"""What files were cut into, kept by their content: another branch, another work tree and the way back to the first branch cost no parsing.

One SQLite file for all roots:

    cuts  key BLOB (16) PRIMARY KEY, cut BLOB (zlib of JSON), used INTEGER (day of last use), WITHOUT ROWID

The key is a hash of everything that a cut depends on: the versions of code and queries, the path (its ending and its folders tell language
and rules) and the content. A chunk's text is not kept where it is the file's own lines. Measured on ansible: 0.10 ms a file against 0.6 ms
of parsing; a chunk's vector from `EmbeddingCache` costs 0.02 ms against 0.15 ms of embedding.

It is a cache: damage, a full disk or a folder that cannot be written cost parsing again, never an error. SQLite's pages have no checksum,
so each value ends with one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from mgrep_tui.model import Chunk, Symbol

NAME = "cuts.sqlite3"
LIMIT_BYTES = 400_000_000
_EVICT_TO = 0.8
_EVERY = 64  # writes between two looks at the size
_BUSY_TIMEOUT_S = 1.0
_DAY_S = 86_400
_VERSION = 1
_KEY_BYTES = 16

Cut = tuple[tuple[Chunk, ...], tuple[Symbol, ...], str, str]
"""Chunks, symbols, grammar and fallback, as `chunking.FileChunks` has them."""


class Cuts:
    """Belongs to one thread of one process; others may have the same file open."""

    def __init__(
        self, path: Path, versions: str, limit_bytes: int = LIMIT_BYTES, clock: Callable[[], float] = time.time
    ) -> None:
        """Opens nothing yet. `versions` names what cuts depend on beside the file."""
        self._path = path
        self._versions = versions.encode()
        self._limit_bytes = limit_bytes
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._is_off = False
        self._new: list[tuple[bytes, bytes, int]] = []
        self._writes = 0

    def key(self, path: bytes, language: str, content_hash: bytes) -> bytes:
        parts = (self._versions, path, language.encode(), content_hash)
        return hashlib.blake2b(b"\0".join(parts), digest_size=_KEY_BYTES).digest()

    def get(self, key: bytes, text: Callable[[], str]) -> Cut | None:
        """What was kept, or None. `text` gives the whole file as it is cut."""
        for kept in self._run("SELECT cut, used FROM cuts WHERE key = ?", (key,)):
            today = int(self._clock() // _DAY_S)
            if kept[1] < today:
                self._run("UPDATE cuts SET used = ? WHERE key = ?", (today, key))
            return unpack(kept[0], text)
        return None

    def put(self, key: bytes, cut: Cut, text: str) -> None:
        """Keep a cut, from the next `flush` on."""
        self._new.append((key, pack(cut, text), int(self._clock() // _DAY_S)))

    def flush(self) -> None:
        new, self._new = self._new, []
        if not new or self._open() is None:
            return
        self._run("BEGIN IMMEDIATE", ())
        for row in new:
            self._run("INSERT OR REPLACE INTO cuts VALUES (?, ?, ?)", row)
        self._writes += 1
        if self._writes % _EVERY == 1:
            self._evict()
        self._run("COMMIT", ())

    def _evict(self) -> None:
        sizes = [self._run(f"PRAGMA {name}", ()) for name in ("page_count", "freelist_count", "page_size")]
        if not all(sizes):
            return
        pages, free, size = (int(rows[0][0]) for rows in sizes)
        used = (pages - free) * size
        if used <= self._limit_bytes:
            return
        count = self._run("SELECT count(*) FROM cuts", ())
        surplus = max(1, int(int(count[0][0]) * (1 - _EVICT_TO * self._limit_bytes / used))) if count else 0
        self._run("DELETE FROM cuts WHERE key IN (SELECT key FROM cuts ORDER BY used LIMIT ?)", (surplus,))

    def _run(self, sql: str, values: tuple[object, ...]) -> list[tuple[bytes, int]]:
        connection = self._open()
        if connection is None:
            return []
        try:
            return connection.execute(sql, values).fetchall()
        except sqlite3.OperationalError:
            with contextlib.suppress(sqlite3.Error):
                connection.rollback()
            return []  # full, locked for long, read-only: it is cut again
        except sqlite3.DatabaseError:
            self.close()
            _delete(self._path)
            return []

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is not None or self._is_off:
            return self._connection
        for _ in range(2):
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA journal_size_limit = 16000000")
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, _VERSION):
                    connection.close()
                    _delete(self._path)
                    continue
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS cuts (key BLOB PRIMARY KEY, cut BLOB NOT NULL, used INTEGER NOT NULL)"
                    " WITHOUT ROWID"
                )
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            except (sqlite3.OperationalError, OSError):
                break
            except sqlite3.DatabaseError:
                _delete(self._path)
                continue
            self._connection = connection
            return connection
        self._is_off = True
        return None

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def pack(cut: Cut, text: str) -> bytes:
    """Compressed JSON of chunks (eight fields and the text, null for the file's own lines), symbols, grammar, fallback; then CRC-32."""
    chunks, symbols, grammar, fallback = cut
    lines = text.split("\n")
    values = [
        [
            [
                item.language, item.kind, item.symbol, item.container, item.first_line, item.last_line, item.part, item.parts,
                None if item.text == _between(lines, item.first_line, item.last_line) else item.text,
            ]
            for item in chunks
        ],
        [[item.name, item.kind, item.container, item.first_line, item.last_line] for item in symbols],
        grammar,
        fallback,
    ]  # fmt: skip
    content = zlib.compress(json.dumps(values, separators=(",", ":")).encode("utf-8", "surrogatepass"), 1)
    return content + zlib.crc32(content).to_bytes(4, "little")


def unpack(value: bytes, text: Callable[[], str]) -> Cut | None:
    """The reverse; None for what was damaged."""
    content, crc = value[:-4], value[-4:]
    if zlib.crc32(content).to_bytes(4, "little") != crc:
        return None
    chunks, symbols, grammar, fallback = json.loads(zlib.decompress(content))
    lines = text().split("\n")
    return (
        tuple(
            Chunk(
                language, kind, symbol, container, first, last,
                _between(lines, first, last) if kept is None else kept, part, parts,
            )
            for language, kind, symbol, container, first, last, part, parts, kept in chunks
        ),
        tuple(Symbol(*fields) for fields in symbols),
        grammar,
        fallback,
    )  # fmt: skip


def _between(lines: list[str], first: int, last: int) -> str:
    return "\n".join(lines[first : last + 1])


def _delete(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + ending).unlink()
