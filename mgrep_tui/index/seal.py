"""Was the catalog closed well, and untouched since? SQLite has no checksums of its own, so a flipped bit in a row would go unseen.

The writer removes the seal when it opens the catalog and writes it when it has closed it: what `lstat` says of the file and of its
write-ahead file. No seal means a crash, which SQLite mends itself; a seal that does not fit means that somebody else changed the file.
"""

from __future__ import annotations

import contextlib
import enum
import json
from pathlib import Path

from mgrep_tui.index.manifest import seal_of, write_whole

NAME = "catalog.seal"
FILES = ("catalog.sqlite3", "catalog.sqlite3-wal")


class Verdict(enum.Enum):
    """What the seal says."""

    SOUND = "sound"
    CRASHED = "crashed"
    TOUCHED = "touched"


def write(folder: Path) -> None:
    """The catalog was closed. Never raises: without a seal the next start looks more closely."""
    with contextlib.suppress(OSError):
        write_whole(folder / NAME, json.dumps(_now(folder)).encode())


def judge(folder: Path) -> Verdict:
    try:
        kept = json.loads((folder / NAME).read_bytes())
    except FileNotFoundError:
        return Verdict.CRASHED
    except (OSError, ValueError):
        return Verdict.TOUCHED
    return Verdict.SOUND if kept == _now(folder) else Verdict.TOUCHED


def remove(folder: Path) -> None:
    """The catalog is about to change. Raise `OSError`."""
    (folder / NAME).unlink(missing_ok=True)


def _now(folder: Path) -> list[list[int]]:
    found = []
    for name in FILES:
        try:
            found.append(list(seal_of(folder / name)))
        except OSError:
            found.append([])
    # An empty write-ahead file and none mean the same.
    return [] if found == [[], []] else [found[0], [] if not found[1] or not found[1][0] else found[1]]
