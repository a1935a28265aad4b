"""A server: the real client over HTTP on loopback, to a server that hands everything to the embedded engine."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from mgrep_tui.clickhouse.address import Credentials, parse_address
from mgrep_tui.clickhouse.connecting import connect
from mgrep_tui.clickhouse.connection import Limits, rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.errors import EngineError, EngineLimitError
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.lines import LineSearch
from mgrep_tui.clickhouse.meaning import MeaningSearch
from mgrep_tui.clickhouse.retention import keep
from mgrep_tui.clickhouse.server import ServerConnection
from mgrep_tui.clickhouse.standing import standing
from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import Cancelled
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse
from mgrep_tui.settings.config import Settings
from tests.support.clickhouse_server import TestServer
from tests.support.engines import commit, pushed, tree

FILES: dict[str, str | bytes] = {
    "src/it's.py": 'def quote(text):\n    return "\'" + text + "\'"\n',
    "src/caf\N{LATIN SMALL LETTER E WITH ACUTE}.py": "def brew(beans):\n    return grind(beans)\n",
    "odd.txt": b"no utf-8: \xff\xfe here\nbrew\n",
}


def test_publishing_and_searching_over_http(server: TestServer, tmp_path: Path) -> None:
    folder = tree(tmp_path / "project", FILES)
    commit(folder)
    connection = connect(parse_address(server.address), {})
    done = pushed(connection, folder)
    assert done.files == 3 and pushed(connection, folder).is_known
    heads = heads_of(published(connection), published(connection)[0].state)
    hits = Collected()
    LineSearch(connection, Settings()).search(parse("brew", Mode.REGEX), heads, None, hits, CancelToken())
    assert {hit.path for hit in hits.hits} == {"src/café.py".encode(), b"odd.txt"}
    hits = Collected()
    meaning = MeaningSearch(connection, load_static())
    meaning.search(parse("path:src/** quote a text", Mode.SEMANTIC), heads, hits, CancelToken())
    meaning.close()
    assert hits.hits[0].path == b"src/it's.py"
    tree(folder, {"odd.txt": "other\n"})
    commit(folder)
    pushed(connection, folder)
    assert keep(connection, 1).commits == 1
    found = standing(connection)
    assert len(found.commits) == 1 and found.size_bytes > 0 and found.unfinished == 0
    connection.close()
    # Nothing of the texts, names and questions stands in a statement.
    for statement in server.statements:
        assert "quote a text" not in statement and "it's" not in statement and "café" not in statement


def test_who_we_are_comes_from_the_environment(engine: EmbeddedConnection) -> None:
    running = TestServer(engine, "reader", "hunter2")
    try:
        with pytest.raises(EngineError) as caught:
            connect(parse_address(running.address), {})
        assert "hunter2" not in str(caught.value)
        environ = {"MGREP_TUI_ENGINE_USER": "reader", "MGREP_TUI_ENGINE_PASSWORD": "hunter2"}
        connection = connect(parse_address(running.address), environ)
        assert rows(connection.batches("SELECT 1")) == [(1,)]
        connection.close()
        assert all("hunter2" not in text for text in running.statements)
    finally:
        running.close()


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(EngineError, match="does not answer"):
        ServerConnection(parse_address("http://127.0.0.1:9/mgrep"), Credentials("default", ""))


def test_a_server_that_goes_away_is_one_sentence(server: TestServer) -> None:
    connection = ServerConnection(parse_address(server.address), Credentials("default", ""))
    server.fails = True
    with pytest.raises(EngineError):
        rows(connection.batches("SELECT 1"))
    with pytest.raises(EngineError):
        connection.run("SELECT 1")
    server.fails = False
    assert rows(connection.batches("SELECT 1")) == [(1,)]
    connection.close()


def test_a_search_that_is_not_wanted_is_killed_at_the_server(server: TestServer) -> None:
    connection = ServerConnection(parse_address(server.address), Credentials("default", ""))
    token = CancelToken()
    caught: list[BaseException] = []

    def ask() -> None:
        try:
            rows(connection.batches("SELECT sum(cityHash64(number)) FROM numbers(1000000000000)", cancel=token))
        except BaseException as error:
            caught.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    end = time.monotonic() + 20
    while not server.running:
        assert time.monotonic() < end
        time.sleep(0.01)
    token.cancel()
    asking.join(20)
    assert isinstance(caught[0], Cancelled)
    assert server.killed and not server.running
    connection.close()


def test_limits_go_along(server: TestServer) -> None:
    connection = ServerConnection(parse_address(server.address), Credentials("default", ""))
    with pytest.raises(EngineLimitError):
        rows(
            connection.batches("SELECT sum(cityHash64(number)) FROM numbers(1000000000000)", limits=Limits(time_s=0.2))
        )
    connection.close()
