"""Trees, commits and pushes for the tests of a shared engine."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mgrep_tui.clickhouse.connection import Connection, rows
from mgrep_tui.clickhouse.heads import Heads, heads_of, published
from mgrep_tui.clickhouse.push import Pushed, push
from mgrep_tui.corpus.root import open_root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import IndexSettings, Settings

# Starting a second child costs more than these trees are worth.
ONE_CHILD = Settings(index=IndexSettings(workers=1))


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, as somebody."""
    done = subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def tree(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a folder; text as UTF-8."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def commit(folder: Path, message: str = "change") -> str:
    """Commit everything, in a repository that is made when there is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def pushed(connection: Connection, folder: Path, name: str = "") -> Pushed:
    """Publish a folder."""
    return push(connection, open_root(folder), ONE_CHILD, CancelToken(), name=name)


def searched(connection: Connection) -> Heads:
    """What a search without a folder looks at."""
    return heads_of(published(connection))


def distinct_rows(connection: Connection, table: str) -> int:
    """How many rows of a table a reader sees: what was written twice counts once."""
    source = f"(SELECT DISTINCT content, number FROM mgrep.{table})" if table == "blocks" else f"mgrep.{table} FINAL"
    return int(rows(connection.batches(f"SELECT count() FROM {source}"))[0][0])
