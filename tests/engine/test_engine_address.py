"""Addresses of engines, and who we are to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgrep_tui.clickhouse.address import FolderAddress, ServerAddress, credentials, parse_address
from mgrep_tui.clickhouse.errors import EngineError


def test_a_folder_is_an_address(tmp_path: Path) -> None:
    assert parse_address(str(tmp_path / "engine")) == FolderAddress(tmp_path / "engine")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("http://host", ServerAddress("host", 8123, False)),
        ("https://host", ServerAddress("host", 8443, True)),
        ("https://host:9443/code", ServerAddress("host", 9443, True, "code")),
        ("http://host:1/code?cluster=big", ServerAddress("host", 1, False, "code", "big")),
        ("http://[::1]:8123/", ServerAddress("::1", 8123, False)),
    ],
)
def test_servers_and_clusters(text: str, wanted: ServerAddress) -> None:
    assert parse_address(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "ftp://host",
        "http://",
        "http://host:port",
        "http://host/a b",
        "http://host/x;DROP TABLE files",
        "http://host/db?cluster=a'b",
        "http://host/db?user=me",
        "http://host/db#part",
        "a\0b",
    ],
)
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(EngineError):
        parse_address(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(EngineError) as caught:
        parse_address("https://me:hunter2@host/db")
    assert "hunter2" not in str(caught.value)
    assert "MGREP_TUI_ENGINE_PASSWORD" in str(caught.value)


def test_credentials_come_from_the_environment_and_do_not_show() -> None:
    who = credentials({"MGREP_TUI_ENGINE_USER": "reader", "MGREP_TUI_ENGINE_PASSWORD": "hunter2"})
    assert (who.user, who.password) == ("reader", "hunter2")
    assert "hunter2" not in repr(who) and "hunter2" not in f"{who}"
    assert credentials({"CLICKHOUSE_USER": "other", "CLICKHOUSE_PASSWORD": "p"}).user == "other"
    assert credentials({}).user == "default"
