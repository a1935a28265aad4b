"""The tables and outermost keys of a TOML or INI file with their lines."""

from __future__ import annotations

import re

from mgrep_tui.chunking.entries import Entry

_TABLE = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:[#;].*)?$")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.\- ]+?)\s*[=:]\s*(.*)$""")
_TRIPLE = ('"""', "'''")


def toml_entries(lines: list[str]) -> list[Entry]:
    """Keys before the first table, then the tables, in order. Keys of a table are its children."""
    roots: list[Entry] = []
    table: Entry | None = None
    key: Entry | None = None
    quote = ""
    depth = 0
    for row, line in enumerate(lines):
        if quote:
            quote = "" if line.count(quote) % 2 else quote
        elif depth > 0:
            depth += _depth(line)
        else:
            head = _TABLE.match(line) if "[" in line else None
            member = None if head else _KEY.match(line)
            if head:
                table = Entry(head.group(1).replace('"', ""), "table", row, row)
                roots.append(table)
                key = None
            elif member:
                key = Entry(member.group(1).strip("\"'"), "constant", row, row)
                (table.children if table is not None else roots).append(key)
                value = member.group(2)
                quote = next((mark for mark in _TRIPLE if value.count(mark) % 2), "")
                depth = 0 if quote or value[:1] not in "[{" or not value else _depth(value)
            elif not line.strip() or line.lstrip()[0] in "#;":
                continue
        for entry in (table, key):
            if entry is not None:
                entry.last = row
    return roots


def _depth(text: str) -> int:
    """How many brackets stay open; those in strings count too, which in practice balance."""
    text = text.split(" #", 1)[0]
    return text.count("[") + text.count("{") - text.count("]") - text.count("}")
