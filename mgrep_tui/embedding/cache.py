"""Vectors that were computed once, kept by what they were computed from: (model, hash of the text) → vector.

One SQLite file for all roots, branches and worktrees:

    models   id INTEGER PRIMARY KEY, name TEXT UNIQUE, dimension INTEGER
    vectors  model INTEGER, hash BLOB (16), vector BLOB (float16 × dimension, CRC-32), used INTEGER (day of last use)
             primary key (model, hash), WITHOUT ROWID

It is a cache in every respect: a damaged file is set aside, a full disk or a read-only folder costs computing again, never an error.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from mgrep_tui.embedding.protocol import Vectors

_log = logging.getLogger(__name__)

_SCHEMA_VERSION = 2
_BUSY_TIMEOUT_S = 2.0
_KEYS_PER_STATEMENT = 500  # SQLite's oldest limit is 999 parameters
_EVICT_TO = 0.8  # of the limit, so that a full cache is not trimmed at every write
_DAY_S = 86_400
_CRC_BYTES = 4


class EmbeddingCache:
    """Safe from any thread and with other processes on the same file. Never raises for what happens on disk."""

    def __init__(self, path: Path, limit_bytes: int = 2_000_000_000, clock: Callable[[], float] = time.time) -> None:
        """Opens nothing yet. `limit_bytes` bounds what the file uses; the least recently used vectors go first."""
        self._path = path
        self._limit_bytes = limit_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._models: dict[str, tuple[int, int]] = {}
        self.last_error = ""

    def get(self, model_id: str, hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The known vectors among `hashes`, float32 of norm 1."""
        found: dict[bytes, Vectors] = {}
        with self._guarded() as connection:
            if connection is None:
                return found
            model, dimension = self._model(connection, model_id, 0)
            if not dimension:
                return found
            today = int(self._clock() // _DAY_S)
            stale: list[tuple[int, int, bytes]] = []
            for start in range(0, len(hashes), _KEYS_PER_STATEMENT):
                keys = list(hashes[start : start + _KEYS_PER_STATEMENT])
                marks = ",".join("?" * len(keys))
                rows = connection.execute(
                    f"SELECT hash, vector, used FROM vectors WHERE model = ? AND hash IN ({marks})", (model, *keys)
                )
                for key, blob, used in rows:
                    if zlib.crc32(blob[:-_CRC_BYTES]) != int.from_bytes(blob[-_CRC_BYTES:], "little"):
                        continue  # SQLite's pages have no checksum of their own
                    vector = np.frombuffer(blob[:-_CRC_BYTES], dtype=np.float16).astype(np.float32)
                    norm = float(np.linalg.norm(vector)) if len(vector) == dimension else 0.0
                    if np.isfinite(norm) and norm > 0:
                        found[key] = vector / np.float32(norm)
                    if used < today:
                        stale.append((today, model, key))
            if stale:
                with contextlib.suppress(
                    sqlite3.OperationalError
                ):  # another process is writing: the next use will tell
                    connection.executemany("UPDATE vectors SET used = ? WHERE model = ? AND hash = ?", stale)
        return found

    def known(self, model_id: str, hashes: Sequence[bytes]) -> set[bytes]:
        """Which of `hashes` have a vector; neither read nor marked as used."""
        found: set[bytes] = set()
        with self._guarded() as connection:
            if connection is not None:
                model, _ = self._model(connection, model_id, 0)
                for start in range(0, len(hashes), _KEYS_PER_STATEMENT):
                    keys = list(hashes[start : start + _KEYS_PER_STATEMENT])
                    marks = ",".join("?" * len(keys))
                    rows = connection.execute(
                        f"SELECT hash FROM vectors WHERE model = ? AND hash IN ({marks})", (model, *keys)
                    )
                    found.update(row[0] for row in rows)
        return found

    @property
    def is_full(self) -> bool:
        """Whether a good deal more would push out what is kept."""
        return self.size_bytes() > _EVICT_TO * self._limit_bytes

    def put(self, model_id: str, hashes: Sequence[bytes], vectors: Vectors) -> None:
        """Keep vectors, shape (len(hashes), dimension); known ones are replaced. A model has one dimension: others are not kept."""
        if len(hashes) == 0 or not np.isfinite(vectors).all():
            return
        with self._guarded() as connection:
            if connection is None:
                return
            model, dimension = self._model(connection, model_id, vectors.shape[1])
            if dimension != vectors.shape[1]:
                return
            today = int(self._clock() // _DAY_S)
            halves = vectors.astype(np.float16)
            rows = [(model, key, _sealed(row.tobytes()), today) for key, row in zip(hashes, halves, strict=True)]
            connection.execute("BEGIN IMMEDIATE")  # without, each row is a transaction: ten times as slow
            try:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
                self._evict(connection)
                connection.execute("COMMIT")
            except sqlite3.Error:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def count(self, model_id: str) -> int:
        """How many vectors of a model are kept."""
        with self._guarded() as connection:
            if connection is not None:
                model, _ = self._model(connection, model_id, 0)
                return int(connection.execute("SELECT count(*) FROM vectors WHERE model = ?", (model,)).fetchone()[0])
        return 0

    def dimension_of(self, model_id: str) -> int:
        """The dimension of a model's vectors, 0 when none was ever kept."""
        with self._guarded() as connection:
            return 0 if connection is None else self._model(connection, model_id, 0)[1]
        return 0

    def size_bytes(self) -> int:
        """What the kept vectors take of the file."""
        with self._guarded() as connection:
            return 0 if connection is None else _used_bytes(connection)
        return 0

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection | None]:
        """The open connection under the lock, or None; what SQLite raises inside ends here."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                yield self._connection
            except sqlite3.DatabaseError as error:
                self._give_up(error)

    def _give_up(self, error: sqlite3.DatabaseError) -> None:
        """Note the error; a file that is damaged is deleted, to begin anew at the next use."""
        if str(error) != self.last_error:
            _log.warning("embedding cache %s: %s", self._path, error)
        self.last_error = str(error)
        is_damage = type(error) is sqlite3.DatabaseError or "malformed" in str(error)
        if not is_damage or self._connection is None:
            return
        self._connection.close()
        self._connection = None
        self._models.clear()
        _delete(self._path)

    def _open(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return self._prepare(str(self._path))
        except sqlite3.OperationalError as error:
            self.last_error = str(error)
        except OSError as error:
            self.last_error = str(error)
        except sqlite3.DatabaseError as error:  # not a database
            self.last_error = str(error)
            _delete(self._path)
            with contextlib.suppress(sqlite3.DatabaseError):
                return self._prepare(str(self._path))
        _log.warning("embedding cache %s: %s; kept in memory for now", self._path, self.last_error)
        return self._prepare(":memory:")

    def _prepare(self, name: str) -> sqlite3.Connection:
        connection = sqlite3.connect(name, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 16000000")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _SCHEMA_VERSION):
                raise sqlite3.DatabaseError(f"made by another version ({version})")
            connection.executescript(
                f"""
                BEGIN IMMEDIATE;
                CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, dimension INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS vectors (model INTEGER NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL, used INTEGER NOT NULL,
                    PRIMARY KEY (model, hash)) WITHOUT ROWID;
                CREATE INDEX IF NOT EXISTS by_use ON vectors (used);
                PRAGMA user_version = {_SCHEMA_VERSION};
                COMMIT;
                """
            )
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _model(self, connection: sqlite3.Connection, model_id: str, dimension: int) -> tuple[int, int]:
        """Number and dimension of a model; a model with no vector yet gets its number when `dimension` is given, else (-1, 0)."""
        known = self._models.get(model_id)
        if known is not None:
            return known
        if dimension:
            connection.execute("INSERT OR IGNORE INTO models (name, dimension) VALUES (?, ?)", (model_id, dimension))
        row = connection.execute("SELECT id, dimension FROM models WHERE name = ?", (model_id,)).fetchone()
        if row is None:
            return -1, 0
        self._models[model_id] = (int(row[0]), int(row[1]))
        return self._models[model_id]

    def _evict(self, connection: sqlite3.Connection) -> None:
        used = _used_bytes(connection)
        if used <= self._limit_bytes:
            return
        count = int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
        surplus = max(1, int(count * (1 - _EVICT_TO * self._limit_bytes / used)))
        connection.execute(
            "DELETE FROM vectors WHERE (model, hash) IN (SELECT model, hash FROM vectors ORDER BY used LIMIT ?)",
            (surplus,),
        )


def _sealed(content: bytes) -> bytes:
    return content + zlib.crc32(content).to_bytes(_CRC_BYTES, "little")


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _delete(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()
