"""The keys of a JSON file (comments and trailing commas allowed) with their lines, by a scan that survives broken text."""

from __future__ import annotations

import re

from mgrep_tui.chunking.entries import MAX_ENTRY_DEPTH, Entry

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:\n]|//[^\n]*|/\*.*?\*/', re.DOTALL)
_MAX_NAME_CHARS = 120


class _Level:
    """An object or list that is being read."""

    __slots__ = ("entries", "index", "is_object", "key", "key_row", "owner")

    def __init__(self, owner: Entry | None, entries: list[Entry], is_object: bool) -> None:
        self.owner = owner
        self.entries = entries
        self.is_object = is_object
        self.index = 0
        self.key: str | None = None
        self.key_row = 0


def json_entries(lines: list[str]) -> list[Entry]:
    """The outermost entries, in order: keys of an object, `[0]`, `[1]` … of a list."""
    roots: list[Entry] = []
    levels: list[_Level] = []
    row = last_row = 0
    for match in _TOKEN.finditer("\n".join(lines)):
        token = match.group()
        mark = token[0]
        if mark == "\n":
            row += 1
            continue
        level = levels[-1] if levels else None
        if mark == '"':
            if level is not None and level.is_object and level.key is None:
                level.key, level.key_row = token[1:-1][:_MAX_NAME_CHARS], row
        elif mark in "{[":
            levels.append(_opened(level, roots, mark == "{", row, len(levels)))
        elif mark == "/":
            row += token.count("\n")
        elif level is not None and mark != ":":
            _end_member(level, row if mark == "," else last_row)
            if mark != ",":
                levels.pop()
                if level.owner is not None:
                    level.owner.last = row
                if levels:
                    levels[-1].key = None
        last_row = row
    for level in levels:
        if level.owner is not None:
            level.owner.last = len(lines) - 1
    return roots


def _opened(level: _Level | None, roots: list[Entry], is_object: bool, row: int, depth: int) -> _Level:
    """The level that an opening bracket starts, entered as a member of the one around it."""
    if level is None:
        return _Level(None, roots, is_object)
    if depth > MAX_ENTRY_DEPTH:
        return _Level(None, [], is_object)
    if level.is_object:
        entry = Entry(level.key or "?", "object", level.key_row if level.key is not None else row, row)
    else:
        entry = Entry(f"[{level.index}]", "object", row, row)
    level.entries.append(entry)
    level.key = None
    return _Level(entry, entry.children, is_object)


def _end_member(level: _Level, row: int) -> None:
    """A member is over: note it if it was a scalar (a list's scalars are no entries)."""
    if level.is_object and level.key is not None:
        level.entries.append(Entry(level.key, "constant", level.key_row, row))
        level.key = None
    level.index += 1
