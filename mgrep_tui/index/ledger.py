"""Writing the catalog: one writer, one transaction a batch of files.

A batch either is in the catalog whole or not at all. It only says which chunks there are; the keyword index and the vector file follow, and
each carries the number of the last batch that it holds. After a crash the files of later batches are simply fed to that store again.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import schema
from mgrep_tui.index.catalog import connect
from mgrep_tui.index.rows import NewChunk, NewFile, StoredChunk
from mgrep_tui.model import FileStat

CHECKPOINT_PAGES = 4_000  # the write-ahead file stays near 16 MB


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch changed: new chunks, chunks kept though their file changed, ids dropped, and the batch's number."""

    added: tuple[StoredChunk, ...]
    kept: tuple[StoredChunk, ...]
    removed: tuple[int, ...]
    batch: int


class Ledger:
    """The one writer of a catalog. Belongs to the index worker's thread.

    Every method raises `OSError`-free `sqlite3` errors translated: `IndexDamagedError` for a broken file, `DiskError` when the disk is full
    or not writable.
    """

    def __init__(self, path: Path, versions: str) -> None:
        """Open or create; a catalog that is damaged or of other `versions` is thrown away and begun anew (`was_rebuilt` says why)."""
        self.path = path
        self.was_rebuilt = ""
        self._connection = self._open(versions)
        self.catalog_id = self._meta("catalog_id")
        self.batch = int(self._meta("batch") or 0)

    def _open(self, versions: str) -> sqlite3.Connection:
        for attempt in (1, 2):
            is_new = not self.path.exists() or self.path.stat().st_size == 0
            try:
                connection = self._try_open(versions, is_new=is_new)
            except (sqlite3.DatabaseError, IndexDamagedError) as error:
                if isinstance(error, sqlite3.OperationalError) and not _is_damage(error):
                    raise _translated(error) from error
                if attempt == 2:
                    raise IndexDamagedError(f"The catalog cannot be made: {error}.") from error
                self.was_rebuilt = str(error)
                discard(self.path)
            else:
                return connection
        raise AssertionError("not reached")

    def _try_open(self, versions: str, *, is_new: bool) -> sqlite3.Connection:
        connection = connect(self.path, writable=True)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            if is_new:
                schema.create(connection, versions)
            if not schema.is_ours(connection):
                raise IndexDamagedError("made by another version")
            found = connection.execute("SELECT value FROM meta WHERE key = 'versions'").fetchone()
            if found is None or found[0] != versions:
                raise IndexDamagedError("made with other grammars or another model")
        except BaseException:
            connection.close()
            raise
        return connection

    def check(self) -> None:
        """Look at every page of the file; raise `IndexDamagedError`. About 1 s for 300 MB."""
        try:
            verdict = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise IndexDamagedError(f"The catalog is damaged: {error}.") from error
        if verdict != "ok":
            raise IndexDamagedError("The catalog is damaged.")

    def _meta(self, key: str) -> str:
        found = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(found[0]) if found else ""

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise _translated(error) from error

    def stats(self) -> dict[bytes, FileStat]:
        """What each known file looked like when it was read."""
        rows = self._connection.execute("SELECT path, size, mtime_ns, ctime_ns, inode FROM files")
        return {bytes(path): FileStat(size, mtime, ctime, inode) for path, size, mtime, ctime, inode in rows}

    def content_hash(self, path: bytes) -> bytes:
        """The hash of the content that the file's chunks are from; empty for an unknown file."""
        found = self._connection.execute("SELECT content_hash FROM files WHERE path = ?", (path,)).fetchone()
        return bytes(found[0]) if found else b""

    def known(self, path: bytes) -> tuple[bytes, frozenset[bytes]]:
        """A file's content hash and the hashes of its chunks' texts: what a child need not send or embed again."""
        rows = self._connection.execute(
            "SELECT c.text_hash FROM chunks c JOIN files f USING (file_id) WHERE f.path = ?", (path,)
        )
        texts = frozenset(bytes(row[0]) for row in rows)
        return self.content_hash(path), texts

    def after(self, batch: int) -> set[bytes]:
        """Files whose chunks changed after this batch."""
        rows = self._connection.execute("SELECT path FROM files WHERE batch > ? AND chunk_count > 0", (batch,))
        return {bytes(row[0]) for row in rows}

    def removed_after(self, batch: int) -> list[int]:
        """Chunk ids dropped after this batch."""
        return [row[0] for row in self._connection.execute("SELECT chunk_id FROM removed WHERE batch > ?", (batch,))]

    def forget_removed(self, batch: int) -> None:
        """Both stores are past this batch: the list of dropped ids up to it is of no use any more."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM removed WHERE batch <= ?", (batch,))

    def restat(self, stats: Iterable[tuple[bytes, FileStat]]) -> None:
        """These files look different but hold the same bytes."""
        with self._transaction() as connection:
            connection.executemany(
                "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ?",
                [(stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode, path) for path, stat in stats],
            )

    def faults(self) -> dict[bytes, str]:
        """Contents that killed or overran their child, and what happened: they are cut by lines."""
        return {bytes(key): str(reason) for key, reason in self._connection.execute("SELECT * FROM faults")}

    def note_fault(self, content_hash: bytes, reason: str) -> None:
        with self._transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO faults VALUES (?, ?)", (content_hash, reason))

    def drop(self, paths: Sequence[bytes]) -> tuple[int, ...]:
        """Forget files that are gone; the ids of their chunks."""
        removed: list[int] = []
        with self._transaction() as connection:
            batch = self.batch + 1
            for path in paths:
                found = connection.execute("SELECT file_id FROM files WHERE path = ?", (path,)).fetchone()
                if found is None:
                    continue
                ids = [row[0] for row in connection.execute("SELECT chunk_id FROM chunks WHERE file_id = ?", found)]
                removed += ids
                connection.execute("DELETE FROM chunks WHERE file_id = ?", found)
                connection.execute("DELETE FROM symbols WHERE file_id = ?", found)
                connection.execute("DELETE FROM files WHERE file_id = ?", found)
            self._finish(connection, batch, removed)
        self.batch = batch
        return tuple(removed)

    def write(self, files: Sequence[NewFile]) -> Written:
        """Put these files in place of what was known of them. Chunks whose text is the same keep their ids."""
        added: list[StoredChunk] = []
        kept: list[StoredChunk] = []
        removed: list[int] = []
        with self._transaction() as connection:
            batch = self.batch + 1
            for file in files:
                self._write_file(connection, file, batch, added, kept, removed)
            self._finish(connection, batch, removed)
        self.batch = batch
        return Written(tuple(added), tuple(kept), tuple(removed), batch)

    def _finish(self, connection: sqlite3.Connection, batch: int, removed: Sequence[int]) -> None:
        connection.executemany("INSERT INTO removed VALUES (?, ?)", [(batch, chunk_id) for chunk_id in removed])
        connection.execute("UPDATE meta SET value = ? WHERE key = 'batch'", (str(batch),))

    def _write_file(
        self,
        connection: sqlite3.Connection,
        file: NewFile,
        batch: int,
        added: list[StoredChunk],
        kept: list[StoredChunk],
        removed: list[int],
    ) -> None:
        assert file.stat is not None
        found = connection.execute("SELECT file_id FROM files WHERE path = ?", (file.path,)).fetchone()
        stat = file.stat
        values = (
            stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode, file.content_hash, file.language, file.flags,
            file.skip_reason, file.detail, file.grammar, file.fallback, len(file.chunks), file.text_bytes, batch, file.path,
        )  # fmt: skip
        old: dict[bytes, list[int]] = {}
        if found is None:
            file_id = connection.execute(
                "INSERT INTO files (size, mtime_ns, ctime_ns, inode, content_hash, language, flags, skip_reason, detail, grammar,"
                " fallback, chunk_count, text_bytes, batch, path) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                values,
            ).lastrowid
            assert file_id is not None
        else:
            file_id = found[0]
            connection.execute(
                "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, content_hash=?, language=?, flags=?, skip_reason=?,"
                " detail=?, grammar=?, fallback=?, chunk_count=?, text_bytes=?, batch=? WHERE path=?",
                values,
            )
            for chunk_id, text_hash in connection.execute(
                "SELECT chunk_id, text_hash FROM chunks WHERE file_id = ? ORDER BY chunk_id DESC", (file_id,)
            ):
                old.setdefault(bytes(text_hash), []).append(chunk_id)
            connection.execute("DELETE FROM symbols WHERE file_id = ?", (file_id,))
        place = {index: row for row, index in enumerate(file.fresh)}
        for index, chunk in enumerate(file.chunks):
            same = old.get(chunk.text_hash)
            if same:
                chunk_id = same.pop()
                connection.execute(
                    "UPDATE chunks SET language=?, kind=?, symbol=?, container=?, first_line=?, last_line=?, part=?, parts=?"
                    " WHERE chunk_id=?",
                    (*_fields(chunk), chunk_id),
                )
                kept.append(StoredChunk(chunk_id, file.path, chunk, place.get(index, -1)))
            else:
                chunk_id = connection.execute(
                    "INSERT INTO chunks (file_id, language, kind, symbol, container, first_line, last_line, part, parts, text_hash)"
                    " VALUES (?,?,?,?,?,?,?,?,?,?)",
                    (file_id, *_fields(chunk), chunk.text_hash),
                ).lastrowid
                assert chunk_id is not None
                added.append(StoredChunk(chunk_id, file.path, chunk, place.get(index, -1)))
        gone = [chunk_id for ids in old.values() for chunk_id in ids]
        connection.executemany("DELETE FROM chunks WHERE chunk_id = ?", [(chunk_id,) for chunk_id in gone])
        removed += gone
        connection.executemany(
            "INSERT INTO symbols VALUES (?,?,?,?,?,?,?)",
            [
                (file_id, item.name, item.name.casefold(), item.kind, item.container, item.first_line, item.last_line)
                for item in file.symbols
            ],
        )

    def throw_away(self) -> None:
        """Close and remove the file."""
        self.close()
        discard(self.path)

    def close(self) -> None:
        """Close; the write-ahead file is folded in when nobody else reads."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()


class DiskError(OSError):
    """The disk did not take it: full, read-only, or failing. The message is a phrase."""


def discard(path: Path) -> None:
    """Remove a catalog and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{suffix}").unlink()


def _fields(chunk: NewChunk) -> tuple[object, ...]:
    return (
        chunk.language, chunk.kind, chunk.symbol, chunk.container, chunk.first_line, chunk.last_line, chunk.part, chunk.parts
    )  # fmt: skip


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorname", "") in ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "")


def _translated(error: sqlite3.Error) -> Exception:
    name = str(getattr(error, "sqlite_errorname", ""))
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_BUSY")):
        return DiskError(str(error))
    return IndexDamagedError(f"The catalog is damaged: {error}.")
