"""Where an engine is: a folder for the embedded one, or `http(s)://host:port[/database][?cluster=name]` for a server or cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from mgrep_tui.clickhouse.errors import EngineError

DATABASE = "mgrep"
# What stands in a statement as a name must be one: letters of ours alone, nothing to quote.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_PORTS = {"http": 8123, "https": 8443}
_USER_VARIABLES = ("MGREP_TUI_ENGINE_USER", "CLICKHOUSE_USER")
AUTHORITY_VARIABLE = "MGREP_TUI_ENGINE_CA"
_PASSWORD_VARIABLES = ("MGREP_TUI_ENGINE_PASSWORD", "CLICKHOUSE_PASSWORD")


@dataclass(frozen=True, slots=True)
class FolderAddress:
    """An engine in a child process of ours, its tables below this folder."""

    folder: Path

    @property
    def label(self) -> str:
        return self.folder.name or str(self.folder)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server, or with `cluster` the cluster that it belongs to."""

    host: str
    port: int
    is_secure: bool
    database: str = DATABASE
    cluster: str = ""

    @property
    def label(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"


Address = FolderAddress | ServerAddress


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who we are to a server. They come from the environment alone, and are never shown or logged."""

    user: str
    password: str

    def __repr__(self) -> str:
        return "Credentials(…)"


def parse_address(text: str) -> Address:
    """Read an address. Raises `EngineError`, without repeating a password that somebody wrote into it."""
    if not text.strip():
        raise EngineError("The engine's address is empty.", "Name a folder or http(s)://host:port/database.")
    if "\0" in text:
        raise EngineError("The engine's address has a NUL in it.")
    scheme, separator, _ = text.partition("://")
    if not separator:
        return FolderAddress(Path(text).expanduser().absolute())
    if scheme.lower() not in _PORTS:
        raise EngineError("The engine's address is neither a folder nor http:// nor https://.")
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS[parts.scheme]
    except ValueError as error:
        raise EngineError("The engine's address cannot be read.") from error
    if parts.username is not None or parts.password is not None:
        raise EngineError(
            "Credentials do not belong into an address, where every process list shows them.",
            f"Set {_USER_VARIABLES[0]} and {_PASSWORD_VARIABLES[0]}.",
        )
    if not parts.hostname:
        raise EngineError("The engine's address names no host.")
    options = parse_qs(parts.query, keep_blank_values=True)
    if set(options) - {"cluster"} or parts.fragment:
        raise EngineError("The engine's address knows one option: ?cluster=NAME.")
    database = parts.path.strip("/") or DATABASE
    cluster = options.get("cluster", [""])[-1]
    for what, name in (("database", database), ("cluster", cluster)):
        if name and not _NAME.fullmatch(name):
            raise EngineError(f"The name of the {what} has more in it than letters, digits and underscores.")
    return ServerAddress(parts.hostname, port, parts.scheme == "https", database, cluster)


def credentials(environ: Mapping[str, str]) -> Credentials:
    """User and password from the environment; the server's own default where there are none."""

    def first(names: tuple[str, ...], default: str) -> str:
        return next((environ[name] for name in names if environ.get(name)), default)

    return Credentials(first(_USER_VARIABLES, "default"), first(_PASSWORD_VARIABLES, ""))


def authority(environ: Mapping[str, str]) -> str:
    """The file of the certificates that a server's is checked against; empty for the usual ones. Raises `EngineError` without it."""
    name = environ.get(AUTHORITY_VARIABLE, "")
    if name and not Path(name).is_file():
        raise EngineError(f"There is no file of the name that {AUTHORITY_VARIABLE} gives.")
    return name
