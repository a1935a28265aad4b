"""The embedded engine's process: cancelled, killed, limited, locked."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from mgrep_tui.clickhouse.connection import Limits, rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.errors import EngineError, EngineLimitError
from mgrep_tui.errors import Cancelled
from mgrep_tui.jobs.cancel import CancelToken

ENDLESS = "SELECT sum(cityHash64(number)) FROM numbers(1000000000000)"
RUNNING = "SELECT count() FROM system.processes WHERE query NOT LIKE '%system.processes%'"


def until(holds: object, limit_s: float = 20.0) -> None:
    """Wait for a condition."""
    end = time.monotonic() + limit_s
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.01)


def test_an_answer_of_many_blocks_comes_whole(started_engine: EmbeddedConnection) -> None:
    """Each block comes as a stream of its own; the first was once taken for all."""
    numbers = [
        number
        for batch in started_engine.batches("SELECT number FROM numbers(300000)")
        for number in batch.column(0).to_pylist()
    ]
    assert sorted(numbers) == list(range(300_000))


def test_a_cancelled_statement_ends_at_the_engine(started_engine: EmbeddedConnection) -> None:
    token = CancelToken()
    caught: list[BaseException] = []

    def ask() -> None:
        try:
            rows(started_engine.batches(ENDLESS, cancel=token))
        except BaseException as error:
            caught.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: rows(started_engine.batches(RUNNING))[0][0] == 1)
    token.cancel()
    asking.join(5)
    assert isinstance(caught[0], Cancelled)
    until(lambda: rows(started_engine.batches(RUNNING))[0][0] == 0)
    assert rows(started_engine.batches("SELECT 1")) == [(1,)]


def test_an_answer_that_nobody_reads_on_ends_at_the_engine(started_engine: EmbeddedConnection) -> None:
    answer = started_engine.batches("SELECT number FROM numbers(1000000000000)")
    assert next(answer).num_rows > 0
    answer.close()  # type: ignore[attr-defined]
    until(lambda: rows(started_engine.batches(RUNNING))[0][0] == 0)


def test_time_and_memory_limits_go_along(started_engine: EmbeddedConnection) -> None:
    with pytest.raises(EngineLimitError, match="time limit"):
        rows(started_engine.batches(ENDLESS, limits=Limits(time_s=0.2)))
    with pytest.raises(EngineLimitError, match="memory limit"):
        rows(
            started_engine.batches(
                "SELECT length(groupArray(number)) FROM numbers(100000000)", limits=Limits(memory_bytes=20_000_000)
            )
        )
    assert rows(started_engine.batches("SELECT 1")) == [(1,)]


def test_a_refused_statement_is_one_sentence(started_engine: EmbeddedConnection) -> None:
    with pytest.raises(EngineError, match="The engine refused"):
        started_engine.run("SELECT * FROM mgrep.nothing_of_that_name")


def test_many_ask_at_once(started_engine: EmbeddedConnection) -> None:
    found: list[int] = []

    def ask(number: int) -> None:
        statement = "SELECT {number:UInt64} + sleep(0.01)"
        found.extend(rows(started_engine.batches(statement, {"number": number}))[0][0] - number for _ in range(5))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [0] * 40


def test_a_killed_process_is_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    connection = EmbeddedConnection(tmp_path / "engine")
    try:
        connection.run("CREATE TABLE mgrep.kept (n UInt32) ENGINE = MergeTree ORDER BY n")
        connection.run("INSERT INTO mgrep.kept SELECT number FROM numbers(1000)")
        os.kill(connection.pid, signal.SIGKILL)
        until(lambda: connection.pid == 0)
        assert rows(connection.batches("SELECT count() FROM mgrep.kept")) == [(1000,)]
    finally:
        connection.close()


def test_a_second_program_is_told_who_has_the_folder(tmp_path: Path) -> None:
    first = EmbeddedConnection(tmp_path / "engine")
    try:
        with pytest.raises(EngineError, match=f"process {os.getpid()}"):
            EmbeddedConnection(tmp_path / "engine")
    finally:
        first.close()
    EmbeddedConnection(tmp_path / "engine").close()


def test_a_closed_engine_says_so(tmp_path: Path) -> None:
    connection = EmbeddedConnection(tmp_path / "engine")
    connection.close()
    with pytest.raises(EngineError, match="closed"):
        connection.run("SELECT 1")
