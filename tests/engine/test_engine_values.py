"""Parameters: whatever a text holds, it is a value and never part of a statement, embedded and over HTTP alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgrep_tui.clickhouse.address import Credentials, parse_address
from mgrep_tui.clickhouse.connection import Connection, rows
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.server import ServerConnection
from mgrep_tui.clickhouse.values import text_of
from tests.support.clickhouse_server import TestServer

HOSTILE = (
    "'; DROP TABLE mgrep.files; --",
    "\\",
    "\\'",
    "it's",
    '"',
    "`",
    "a\0b",
    "tab\there\nand a line\r",
    "{p0:String}",
    "%s %(a)s",
    "é ß 日本 \U0001f600 \u2028",
    "",
    "\b\f\v\x1b[31m",
    "\\N",
    "NULL",
)
ASK = "SELECT {one:String}, {many:Array(String)}, {number:UInt64}, {numbers:Array(UInt64)}, {vector:Array(Float32)}"


def echoed(connection: Connection, text: str) -> tuple[bytes, list[bytes]]:
    found = rows(
        connection.batches(
            ASK,
            {
                "one": text,
                "many": [text, "x", text],
                "number": 2**64 - 1,
                "numbers": [0, 2**63],
                "vector": [0.5, -1e-7],
            },
        )
    )
    one, many, number, numbers, vector = found[0]
    assert (number, numbers) == (2**64 - 1, [0, 2**63])
    assert vector == pytest.approx([0.5, -1e-7])
    return one, many


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_comes_back_as_it_went(started_engine: EmbeddedConnection, text: str) -> None:
    assert echoed(started_engine, text) == (text.encode(), [text.encode(), b"x", text.encode()])


@given(st.text(max_size=40))
@settings(max_examples=300, deadline=None)
def test_no_text_ends_its_own_quotes(text: str) -> None:
    inside = text_of([text])[2:-2]
    assert not re.search(r"(?<!\\)(?:\\\\)*'", inside) and not re.search(r"(?<!\\)(?:\\\\)*\\\Z", inside)
    assert not any(char in text_of(text) for char in "\t\n\r\0\b\f")


def test_hostile_texts_over_http(server: TestServer) -> None:
    connection = ServerConnection(parse_address(server.address), Credentials("default", ""))
    for text in HOSTILE:
        assert echoed(connection, text) == (text.encode(), [text.encode(), b"x", text.encode()])
    assert all("DROP" not in statement for statement in server.statements)
    connection.close()


def test_lone_surrogates_do_not_break_a_statement(started_engine: EmbeddedConnection) -> None:
    assert echoed(started_engine, "a\udcffb")[0] == b"a?b"


def test_a_megabyte_is_a_parameter_too(server: TestServer) -> None:
    text = "x'\\" * 350_000
    assert echoed(server.engine, text)[0] == text.encode()
    connection = ServerConnection(parse_address(server.address), Credentials("default", ""))
    assert echoed(connection, text)[0] == text.encode()
    connection.close()
