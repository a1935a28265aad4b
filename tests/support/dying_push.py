"""A push that kills itself: `python -m tests.support.dying_push ADDRESS FOLDER TABLE COUNT`.

It is ended with SIGKILL, and its embedded engine with it, right after its COUNT-th insert into TABLE; with COUNT 0 it runs to its end.
Every batch holds one document. Without a signal of that kind (Windows) it cannot be run.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import mgrep_tui.clickhouse.push as pushing
from mgrep_tui.clickhouse.address import parse_address
from mgrep_tui.clickhouse.connecting import connect
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.server import ServerConnection
from tests.support.engines import pushed


def main() -> None:
    address, folder, table, count = sys.argv[1:]
    pushing.BATCH_CHUNKS = 1
    connection = connect(parse_address(address))
    seen = 0
    insert = connection.insert

    def dying(name: str, rows: object) -> None:
        nonlocal seen
        insert(name, rows)  # type: ignore[arg-type]
        seen += name.rpartition(".")[2].startswith(table)
        if seen and seen == int(count):
            if isinstance(connection, EmbeddedConnection):
                os.kill(connection.pid, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    assert isinstance(connection, EmbeddedConnection | ServerConnection)
    connection.insert = dying  # type: ignore[method-assign, assignment]
    print(pushed(connection, Path(folder)).new_documents)
    connection.close()


if __name__ == "__main__":
    main()
