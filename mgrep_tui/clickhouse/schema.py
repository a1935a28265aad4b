"""The tables of a shared engine, their version, and how an older one becomes the present one.

    repositories   what is published, and which branch is searched
    commits        one row a commit and branch; written last, so that half a push is never seen
    files          one row a file of a state (= a commit of a repository): path, content hash, document, language, flags
    documents      one row a file with its path: its chunks are there; written after them, so that a push can be resumed
    blocks         the text, by content hash, in runs of whole lines, with the text index (all runs of 4 characters)
    chunks         the units of meaning, without their text: `chunk` = document number << 15 | number in the document; `packed` has all that
                   is wanted of a candidate (see `packing`), the other columns are for filters
    symbols        named definitions and the chunk that holds each
    postings       which word stands how often in which chunk, for BM25 by our own formula; `words` spells the words
    vectors_…      one table a model: chunk → vector, with the HNSW index
    batches        documents that are being written; what a killed push left is removed by the next one
    meta, models   version of the schema; the models that have vectors

Content is stored once, whatever repositories, branches and commits hold it; a document (a path with a content) too. All tables that can
be written twice are `ReplacingMergeTree`: the same row again changes nothing. `blocks` is none: where rows may fall away a merge makes the
text index anew, which costs five times what joining two does; whoever reads blocks takes each once. The engine folds case like our planner:
ASCII by itself, everything else by us, in `folded`, which is empty for a text of ASCII alone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.packing import OF_COLUMNS

VERSION = 3
FOLDED = "if(empty(folded), lower(text), folded)"
GRAM_CHARS = 4
GRAMS = f"ngrams({GRAM_CHARS})"
"""Measured on 38 MB of code: half the cost of `sparseGrams(3, 8)` to write, a third less on disk, half the blocks for a rare literal, and
a lookup in 2.9 ms instead of 4.9. `ngrams(3)` is written in half the time again, but lets six times the blocks through."""
DIMENSION_LIMIT = 8_192


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `version` is the column that decides between two equal keys; `shard` spreads it over a cluster."""

    name: str
    columns: str
    order: str
    shard: str
    version: str = ""
    granularity: int = 8_192
    compressed: int = 65_536  # bytes of a column that are compressed together, at least
    merged: int = 0  # bytes of a part that is not merged any further; 0 leaves it to the engine
    engine: str = "ReplacingMergeTree"


TABLES = (
    Table("meta", "key String, value String, at UInt64", "key", "0", "at"),
    Table("repositories", "repository String, branch String, remote String, at UInt64", "repository", "0", "at"),
    Table(
        "commits",
        "repository String, branch String, commit String, state UInt64, committed_s UInt64, at UInt64, files UInt32, chunks UInt64,"
        " text_bytes UInt64, model String",
        "(repository, branch, state)",
        "0",
        "at",
    ),
    Table(
        "files",
        "content FixedString(16), state UInt64, path String, document UInt64, language LowCardinality(String), flags UInt8,"
        " named LowCardinality(String), named_flags UInt8, size UInt64, is_text UInt8",
        "(content, state, path)",
        "cityHash64(content)",
        granularity=256,
        compressed=8_192,
    ),
    Table(
        "documents",
        "document UInt64, content FixedString(16), path String, maker LowCardinality(String), language LowCardinality(String),"
        " flags UInt8, chunks UInt32,"
        " text_bytes UInt64, grammar LowCardinality(String), fallback LowCardinality(String), model LowCardinality(String),"
        " centre Array(Float32) CODEC(ZSTD(1))",
        "document",
        "document",
        granularity=4,
        compressed=4_096,
    ),
    Table(
        "blocks",
        "content FixedString(16), number UInt32, first_line UInt32, is_last UInt8, text String CODEC(ZSTD(1)),"
        f" folded String CODEC(ZSTD(1)), INDEX grams {FOLDED} TYPE text(tokenizer = {GRAMS})",
        "(content, number)",
        "cityHash64(content)",
        granularity=2,
        compressed=16_384,
        engine="MergeTree",
    ),
    Table(
        "chunks",
        "chunk UInt64, path String, kind LowCardinality(String), symbol String, container String, first_line UInt32,"
        " lengths Array(UInt32), packed String CODEC(ZSTD(1))",
        "chunk",
        "bitShiftRight(chunk, 15)",
        granularity=32,
        compressed=4_096,
    ),
    Table(
        "symbols",
        "folded String, chunk UInt64, name String, kind LowCardinality(String), container String, first_line UInt32,"
        " last_line UInt32",
        "(folded, chunk, first_line, name)",
        "bitShiftRight(chunk, 15)",
        granularity=1_024,
    ),
    Table(
        "postings",
        "word UInt64, chunk UInt64 CODEC(Delta, LZ4), times UInt8, length UInt8",
        "(word, chunk)",
        "bitShiftRight(chunk, 15)",
        granularity=1_024,
        compressed=8_192,
    ),
    Table("words", "word UInt64, field UInt8, text String", "(field, text)", "word"),
    Table(
        "batches", "batch UInt64, push UInt64, documents Array(UInt64), is_done UInt8, at UInt64", "batch", "0", "at"
    ),
    Table("models", "model String, name String, dimension UInt32, at UInt64", "model", "0", "at"),
)
SMALL = frozenset({"meta", "repositories", "commits", "batches", "models"})
"""Tables that every shard of a cluster holds whole."""

Migrations = Mapping[int, Sequence[str]]
MIGRATIONS: Migrations = {
    # The text index was of sparse grams.
    1: (
        "ALTER TABLE {database}.blocks{local}{on_cluster} DROP INDEX IF EXISTS grams",
        f"ALTER TABLE {{database}}.blocks{{local}}{{on_cluster}} ADD INDEX IF NOT EXISTS grams {FOLDED} TYPE text(tokenizer = {GRAMS})",
        "ALTER TABLE {database}.blocks{local}{on_cluster} MATERIALIZE INDEX grams SETTINGS mutations_sync = 2",
    ),
    # A chunk had a column for each thing that is known of it. Older parts make the one of them as they are read.
    2: tuple(
        f"ALTER TABLE {{database}}.chunks{place}{{on_cluster}} ADD COLUMN IF NOT EXISTS packed String DEFAULT {OF_COLUMNS} CODEC(ZSTD(1))"
        for place in ("{local}", "")
    ),
}
"""From version N to N + 1: statements, each harmless when it ran already. `{local}` ends the name of a table's part on each node."""


def vectors_table(name: str, dimension: int) -> Table:
    """The table of one model's vectors. Rows are brain floats, the graph is of 8-bit numbers: the local store keeps no more."""
    return Table(
        name,
        "chunk UInt64, vector Array(BFloat16) CODEC(NONE),"
        f" INDEX near vector TYPE vector_similarity('hnsw', 'cosineDistance', {dimension:d}, 'i8', 8, 32)",
        "chunk",
        "bitShiftRight(chunk, 15)",
        granularity=16,
        compressed=8_192,
        # A merge makes the graph anew, of all vectors of its parts: a part of 145,000 is kept as it is, and a large push writes such parts
        # (see `rows`). A question goes through each in a millisecond or two.
        merged=120_000_000,
    )


def create_statements(table: Table, database: str, cluster: str) -> list[str]:
    """What makes a table: one statement, or with a cluster two (the replicated part of each node, and the one spread over all)."""
    settings = f"index_granularity = {table.granularity:d}, min_compress_block_size = {table.compressed:d}"
    if table.merged:
        settings += f", max_bytes_to_merge_at_max_space_in_pool = {table.merged:d}"
    version = table.version
    if not cluster:
        return [
            f"CREATE TABLE IF NOT EXISTS {database}.{table.name} ({table.columns}) ENGINE = {table.engine}({version})"
            f" ORDER BY {table.order} SETTINGS {settings}"
        ]
    # A small table has the same path on every shard, so that each replica of each shard holds all of it.
    where = "all" if table.name in SMALL else "{shard}"
    node = "{shard}-{replica}" if table.name in SMALL else "{replica}"
    path = f"/clickhouse/tables/{where}/{database}/{table.name}"
    engine = f"Replicated{table.engine}('{path}', '{node}'{', ' + version if version else ''})"
    if table.name in SMALL:
        return [
            f"CREATE TABLE IF NOT EXISTS {database}.{table.name} ON CLUSTER {cluster} ({table.columns}) ENGINE = {engine}"
            f" ORDER BY {table.order} SETTINGS {settings}"
        ]
    return [
        f"CREATE TABLE IF NOT EXISTS {database}.{table.name}_local ON CLUSTER {cluster} ({table.columns}) ENGINE = {engine}"
        f" ORDER BY {table.order} SETTINGS {settings}",
        f"CREATE TABLE IF NOT EXISTS {database}.{table.name} ON CLUSTER {cluster} AS {database}.{table.name}_local"
        f" ENGINE = Distributed({cluster}, {database}, {table.name}_local, {table.shard})",
    ]


def delete_target(table: str, connection: Connection) -> str:
    """How a table is named in a `DELETE FROM`: on a cluster the part of each node."""
    if not connection.cluster:
        return f"{connection.database}.{table}"
    suffix = "" if table in SMALL else "_local"
    return f"{connection.database}.{table}{suffix} ON CLUSTER {connection.cluster}"


def prepare(connection: Connection, migrations: Migrations = MIGRATIONS, version: int = VERSION) -> None:
    """Make the tables, or bring older ones up to date. For whoever publishes; safe to repeat. Raises `EngineError`."""
    on_cluster = f" ON CLUSTER {connection.cluster}" if connection.cluster else ""
    local = "_local" if connection.cluster else ""
    connection.run(f"CREATE DATABASE IF NOT EXISTS {connection.database}{on_cluster}")
    found = version_of(connection)
    if found > version:
        raise _newer()
    if found == 0:
        for table in TABLES:
            for statement in create_statements(table, connection.database, connection.cluster):
                connection.run(statement)
        _remember(connection, version)
        return
    for step in range(found, version):
        for statement in migrations.get(step, ()):
            connection.run(statement.format(database=connection.database, on_cluster=on_cluster, local=local))
        _remember(connection, step + 1)


def check(connection: Connection, version: int = VERSION) -> None:
    """Raise `EngineError` unless this program can read what is there. For whoever only searches."""
    found = version_of(connection)
    if found == 0:
        raise EngineError(
            "Nothing has been published to this engine yet.", "mgrep-tui push --engine ADDRESS publishes a repository."
        )
    if found > version:
        raise _newer()
    if found < version:
        raise EngineError(
            "This engine's tables are of an older version.", "The next mgrep-tui push brings them up to date."
        )


def version_of(connection: Connection) -> int:
    """The version of the schema, 0 when there is none."""
    there = rows(
        connection.batches(
            "SELECT count() FROM system.tables WHERE database = {database:String} AND name = 'meta'",
            {"database": connection.database},
            limits=WORK,
        )
    )
    if not there or not there[0][0]:
        return 0
    found = rows(
        connection.batches(f"SELECT value FROM {connection.database}.meta FINAL WHERE key = 'schema'", limits=WORK)
    )
    return int(found[0][0]) if found and found[0][0].isdigit() else 0


def _remember(connection: Connection, version: int) -> None:
    connection.insert(
        f"{connection.database}.meta",
        pa.table({"key": [b"schema"], "value": [str(version).encode()], "at": pa.array([now_us()], pa.uint64())}),
    )


def _newer() -> EngineError:
    return EngineError("This engine's tables are of a newer version of mgrep-tui.", "Upgrade mgrep-tui.")


def now_us() -> int:
    """Microseconds since 1970: what decides between two rows with one key."""
    return time.time_ns() // 1_000
