"""What the program remembers between starts: the history of queries and, per root, the last session.

State is a convenience. A file that cannot be read counts as empty, and one that cannot be written is left as it was.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mgrep_tui.model import Mode

HISTORY_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class PastQuery:
    """One line of the history: a query that was run, as typed, and its mode."""

    text: str
    mode: Mode


def load_history(path: Path) -> tuple[PastQuery, ...]:
    """Oldest first; lines that do not parse are left out."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ()
    for line in lines:
        try:
            item = json.loads(line)
            found.append(PastQuery(str(item["text"]), Mode(item["mode"])))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return tuple(found[-HISTORY_LIMIT:])


def add_to_history(path: Path, query: PastQuery) -> bool:
    """Append unless it repeats the last line or is empty; the file is cut to `HISTORY_LIMIT`. False when it could not be written."""
    past = load_history(path)
    if not query.text.strip() or (past and past[-1] == query):
        return True
    kept: Sequence[PastQuery] = (*past, query)[-HISTORY_LIMIT:]
    return _write(path, "".join(json.dumps(asdict(item)) + "\n" for item in kept))


def load_session(path: Path) -> dict[str, object]:
    """What was saved, with whatever types the file holds; empty when there is nothing sound."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def save_session(path: Path, session: Mapping[str, object]) -> bool:
    """False when it could not be written. The values are what JSON can hold."""
    return _write(path, json.dumps(session))


def _write(path: Path, text: str) -> bool:
    """Whole or not at all: a temporary file beside it, then a rename."""
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        if name:
            Path(name).unlink(missing_ok=True)
        return False
    return True
