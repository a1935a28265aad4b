"""Which connection an address asks for; whether what it needs is installed."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mgrep_tui.clickhouse.address import Address, FolderAddress, authority, credentials
from mgrep_tui.clickhouse.connection import Connection
from mgrep_tui.clickhouse.errors import MISSING_HINT, EngineError


def connect(address: Address, environ: Mapping[str, str] | None = None) -> Connection:
    """Open an engine. Raises `EngineError` when the extra is missing, the folder is in use, or the server does not answer."""
    try:
        if isinstance(address, FolderAddress):
            from mgrep_tui.clickhouse.embedded import EmbeddedConnection

            return EmbeddedConnection(address.folder)
        from mgrep_tui.clickhouse.server import ServerConnection

        known = os.environ if environ is None else environ
        return ServerConnection(address, credentials(known), authority(known))
    except ImportError as error:
        raise _missing() from error


def check_installed() -> None:
    """Raise `EngineError` when the extra is missing, before anything that needs it is imported."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise _missing() from error


def _missing() -> EngineError:
    return EngineError("What is needed to talk to a shared engine is not installed.", MISSING_HINT)
