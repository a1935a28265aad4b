"""A push that is killed without warning, twice: nothing half is seen, the next one goes on, and the end is that of one undisturbed push."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from mgrep_tui.clickhouse import embedded, schema
from mgrep_tui.clickhouse.connection import Connection, rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.errors import EngineError
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.lines import LineSearch
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse
from mgrep_tui.settings.config import Settings
from tests.support.clickhouse_server import TestServer
from tests.support.engines import commit, distinct_rows, pushed, searched, tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
FILES: dict[str, str | bytes] = {
    f"part{number}.py": f"def shared_name_{number}(value):\n    return value + {number}\n" for number in range(5)
}
TABLES = ("files", "documents", "blocks", "chunks", "symbols", "postings", "commits", "batches")


def push_of_another(address: str, folder: Path, table: str = "", count: int = 0) -> int:
    """A push in a process of its own; its exit status."""
    words = [sys.executable, "-m", "tests.support.dying_push", address, str(folder), table, str(count)]
    place = Path(__file__).parents[2]
    return subprocess.run(words, cwd=place, env=dict(os.environ), capture_output=True, check=False).returncode


def counted(connection: Connection) -> dict[str, int]:
    return {name: distinct_rows(connection, name) for name in TABLES}


def names(connection: Connection) -> list[bytes]:
    sink = Collected()
    LineSearch(connection, Settings()).search(
        parse(r"shared_name_\d", Mode.REGEX), searched(connection), None, sink, CancelToken()
    )
    return sorted(hit.path.removeprefix(b"project/") for hit in sink.hits)


def test_a_killed_push_into_a_folder_is_finished_by_the_next(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", FILES)
    commit(folder)
    assert pushed(engine, folder).files == 5
    whole = counted(engine)
    address = tmp_path / "other engine"
    # Once in the middle of a batch, once while the files of the commit are written.
    assert push_of_another(str(address), folder, "chunks", 2) == -signal.SIGKILL
    assert push_of_another(str(address), folder, "files", 1) == -signal.SIGKILL
    connection = EmbeddedConnection(address)
    try:
        assert published(connection) == []
        done = pushed(connection, folder)
        assert (done.files, done.new_documents) == (5, 0)
        assert counted(connection) == whole
        assert names(connection) == sorted(name.encode() for name in FILES)
    finally:
        connection.close()


def test_a_killed_push_to_a_server_is_finished_by_the_next(server: TestServer, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", FILES)
    commit(folder)
    for table, count in (("postings", 3), ("vectors", 1), ("files", 1)):
        assert push_of_another(server.address, folder, table, count) == -signal.SIGKILL
        assert published(server.engine) == []
    assert push_of_another(server.address, folder) == 0
    assert names(server.engine) == sorted(name.encode() for name in FILES)
    assert [(one.files, one.chunks) for one in published(server.engine)] == [(5, 5)]
    found = counted(server.engine)
    assert {found[name] for name in ("files", "documents", "blocks", "chunks", "symbols")} == {5}


def test_two_pushes_at_once_publish_one_thing(server: TestServer, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", FILES)
    commit(folder)
    ends: list[int] = []
    both = [threading.Thread(target=lambda: ends.append(push_of_another(server.address, folder))) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert ends == [0, 0]
    found = counted(server.engine)
    assert {found[name] for name in ("files", "documents", "blocks", "chunks", "symbols")} == {5}
    assert [(one.files, one.chunks) for one in published(server.engine)] == [(5, 5)]
    assert names(server.engine) == sorted(name.encode() for name in FILES)


def test_an_engine_whose_disk_is_full_says_so_and_keeps_what_it_had(
    engine: EmbeddedConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path / "project", FILES)
    commit(folder)
    pushed(engine, folder)
    tree(folder, {"part9.py": "def shared_name_9():\n    return 9\n"})
    commit(folder)
    free = iter([10**9] * 3)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(embedded.shutil, "disk_usage", lambda place: usage._replace(free=next(free, 10**7)))
    with pytest.raises(EngineError, match="disk is full: 10 MB are left"):
        pushed(engine, folder)
    assert len(names(engine)) == 5
    monkeypatch.undo()
    done = pushed(engine, folder)
    assert (done.files, done.new_documents) == (6, 1) and len(names(engine)) == 6


def test_an_insertion_that_fails_is_not_said_to_be_done(engine: EmbeddedConnection) -> None:
    """The library's own way of inserting reported as written what a full disk had refused."""
    engine.run(
        "CREATE TABLE mgrep.refused (number UInt8, CONSTRAINT small CHECK number < 10) ENGINE = MergeTree ORDER BY number"
    )
    with pytest.raises(EngineError, match="refused"):
        engine.insert("mgrep.refused", pa.table({"number": pa.array([3, 30], pa.uint8())}))
    assert rows(engine.batches("SELECT count() FROM mgrep.refused")) == [(0,)]
    engine.insert("mgrep.refused", pa.table({"number": pa.array([3, 4], pa.uint8())}))
    assert rows(engine.batches("SELECT count() FROM mgrep.refused")) == [(2,)]


def test_the_version_before_is_brought_up_to_date(engine: EmbeddedConnection, tmp_path: Path) -> None:
    """Version 1 had an index of sparse grams."""
    folder = tree(tmp_path / "project", FILES)
    commit(folder)
    pushed(engine, folder)
    engine.run("ALTER TABLE mgrep.blocks DROP INDEX grams")
    engine.run(f"ALTER TABLE mgrep.blocks ADD INDEX grams {schema.FOLDED} TYPE text(tokenizer = sparseGrams(3, 8))")
    engine.run("ALTER TABLE mgrep.blocks MATERIALIZE INDEX grams SETTINGS mutations_sync = 2")
    schema._remember(engine, 1)
    with pytest.raises(EngineError, match="older version"):
        schema.check(engine)
    assert pushed(engine, folder).is_known
    schema.check(engine)
    made = rows(
        engine.batches("SELECT create_table_query FROM system.tables WHERE database = 'mgrep' AND name = 'blocks'")
    )
    assert b"ngrams(4)" in made[0][0] and b"sparseGrams" not in made[0][0]
    explained = rows(
        engine.batches(
            f"SELECT * FROM (EXPLAIN indexes = 1 SELECT content FROM mgrep.blocks WHERE hasAllTokens({schema.FOLDED}, 'nowhere'))"
        )
    )
    assert any(b"grams" in line for (line,) in explained)
    assert heads_of(published(engine)).by_state and len(names(engine)) == 5
