"""The tables of the catalog, and the version that tells whether a catalog is ours to read.

One SQLite file in WAL mode. `files.path` is a blob: names need not be text. Chunk ids are never used again (AUTOINCREMENT), so that an id
left over in the keyword index or in the vector file can only be unknown, never mean another chunk. `batch` is a counter of write
transactions that changed chunks; `removed` keeps the ids of dropped chunks until both stores are past their batch. The text of a chunk is
not stored: it is read from the file again and checked by its hash.
"""

from __future__ import annotations

import secrets
import sqlite3

# Raise it when a table or the meaning of a column changes; a catalog of another version is built anew.
SCHEMA_VERSION = 1
APPLICATION_ID = 0x6D677031  # "mgp1"

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    file_id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    language TEXT NOT NULL,
    flags INTEGER NOT NULL,
    skip_reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    grammar TEXT NOT NULL,
    fallback TEXT NOT NULL,
    chunk_count INTEGER NOT NULL,
    text_bytes INTEGER NOT NULL,
    batch INTEGER NOT NULL
);
CREATE INDEX files_batch ON files (batch);
CREATE TABLE chunks (
    chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id INTEGER NOT NULL,
    language TEXT NOT NULL,
    kind TEXT NOT NULL,
    symbol TEXT NOT NULL,
    container TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    text_hash BLOB NOT NULL
);
CREATE INDEX chunks_file ON chunks (file_id);
CREATE TABLE symbols (
    file_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    folded TEXT NOT NULL,
    kind TEXT NOT NULL,
    container TEXT NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL
);
CREATE INDEX symbols_file ON symbols (file_id);
CREATE INDEX symbols_folded ON symbols (folded);
CREATE TABLE removed (batch INTEGER NOT NULL, chunk_id INTEGER NOT NULL);
CREATE TABLE faults (content_hash BLOB PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
"""


def create(connection: sqlite3.Connection, versions: str) -> None:
    """Lay out an empty catalog. `versions` names what its content depends on beside the files (grammars, header format, model)."""
    connection.executescript(f"BEGIN; {TABLES} COMMIT;")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    with connection:
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [("catalog_id", secrets.token_hex(8)), ("versions", versions), ("batch", "0")],
        )


def is_ours(connection: sqlite3.Connection) -> bool:
    """Whether the file has our mark and version; raises `sqlite3.DatabaseError` when it is no database."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return bool(application == APPLICATION_ID and version == SCHEMA_VERSION)
