"""What is remembered between starts, in the explorer's own types: the history of queries and the last session of a root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from mgrep_tui.explorer.protocol import Configured, SearchOptions, Session
from mgrep_tui.model import Mode
from mgrep_tui.settings import state
from mgrep_tui.settings.state import PastQuery

T = TypeVar("T", str, bool, int, float)


class Memory:
    """The history of all roots and the session of one, or of several that are open together; to be used from one thread."""

    def __init__(self, history_file: Path, session_file: Path) -> None:
        self._history_file = history_file
        self._session_file = session_file

    def history(self) -> Sequence[PastQuery]:
        return state.load_history(self._history_file)

    def remember(self, query: PastQuery) -> None:
        state.add_to_history(self._history_file, query)

    def is_first_start(self) -> bool:
        """Whether nothing is remembered, of no root."""
        return not self._history_file.exists() and not any(self._session_file.parent.glob("*.json"))

    def load_session(self) -> Session | None:
        found = state.load_session(self._session_file)
        return session_of(found) if found else None

    def save_session(self, session: Session) -> None:
        state.save_session(self._session_file, fields_of(session))


def fields_of(session: Session) -> dict[str, object]:
    """A session as JSON can hold it; paths in hexadecimal, since names are bytes."""
    options = session.options
    return {
        "text": session.text,
        "mode": session.mode.value,
        "ratio": options.ratio,
        "case": options.case,
        "literal": options.literal,
        "word": options.word,
        "sort": options.sort,
        "hidden": options.hidden,
        "ignored": options.ignored,
        "cursor_path": session.cursor_path.hex(),
        "cursor_line": session.cursor_line,
        "list_share": session.list_share,
        "list_height_share": session.list_height_share,
        "has_preview": session.has_preview,
        "wraps": session.wraps,
        "theme": session.theme,
        "configured": None if session.configured is None else asdict(session.configured),
    }


def session_of(found: dict[str, object]) -> Session:
    """A session from what a file held: what is missing or of another type takes its default."""

    def take(name: str, default: T) -> T:
        value = found.get(name)
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        return (
            value
            if isinstance(value, type(default)) and isinstance(value, bool) == isinstance(default, bool)
            else default
        )

    default = Session()
    mode = take("mode", default.mode.value)
    try:
        path = bytes.fromhex(take("cursor_path", ""))
    except ValueError:
        path = b""
    case, sort = take("case", default.options.case), take("sort", default.options.sort)
    return Session(
        text=take("text", ""),
        mode=Mode(mode) if mode in {known.value for known in Mode} else default.mode,
        options=SearchOptions(
            ratio=min(1.0, max(0.0, take("ratio", default.options.ratio))),
            case=case if case in ("smart", "yes", "no") else default.options.case,
            literal=take("literal", False),
            word=take("word", False),
            sort=sort if sort in ("rank", "path") else default.options.sort,
            hidden=take("hidden", False),
            ignored=take("ignored", False),
        ),
        cursor_path=path,
        cursor_line=max(0, take("cursor_line", 0)),
        list_share=min(0.9, max(0.1, take("list_share", default.list_share))),
        list_height_share=min(0.9, max(0.1, take("list_height_share", default.list_height_share))),
        has_preview=take("has_preview", default.has_preview),
        wraps=take("wraps", default.wraps),
        theme=take("theme", ""),
        configured=_configured_of(found.get("configured")),
    )


def _configured_of(found: object) -> Configured | None:
    match found:
        case {"ratio": int() | float() as ratio, "case": str() as case, "theme": str() as theme}:
            return Configured(ratio, case, theme)
    return None


class Remembering:
    """The part of every explorer that keeps something between runs."""

    _memory: Memory

    def history(self) -> Sequence[PastQuery]:
        return self._memory.history()

    def remember(self, query: PastQuery) -> None:
        self._memory.remember(query)

    def is_first_start(self) -> bool:
        return self._memory.is_first_start()

    def load_session(self) -> Session | None:
        return self._memory.load_session()

    def save_session(self, session: Session) -> None:
        self._memory.save_session(session)
