"""A shared engine for tests: the embedded one, started once a process, emptied for each test; and a server that stands before it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mgrep_tui.clickhouse import schema
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from tests.support.clickhouse_server import TestServer


@pytest.fixture(scope="session")
def started_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedConnection]:
    """One engine for all tests of this process."""
    connection = EmbeddedConnection(tmp_path_factory.mktemp("engine"))
    yield connection
    connection.close()


@pytest.fixture
def engine(started_engine: EmbeddedConnection) -> EmbeddedConnection:
    """The engine with nothing in it."""
    started_engine.run(f"DROP DATABASE IF EXISTS {started_engine.database} SYNC")
    schema.prepare(started_engine)
    return started_engine


@pytest.fixture
def server(engine: EmbeddedConnection) -> Iterator[TestServer]:
    """The same engine over HTTP."""
    running = TestServer(engine)
    yield running
    running.close()
