"""A notebook by cell: the source of each with its lines in the file, outputs left out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from mgrep_tui.chunking.definitions import find_definitions
from mgrep_tui.chunking.grammar import ParseRefused, parse
from mgrep_tui.chunking.pieces import Piece, number_parts
from mgrep_tui.chunking.rules import rules_for
from mgrep_tui.chunking.source import Source, read_source
from mgrep_tui.chunking.windows import cut_windows
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

# A cell is one piece up to this many times the target size.
CELL_TARGETS = 4

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:\n]')
_HEADING = re.compile(r"#{1,6}\s+(.+)")
_KERNELS = {
    "ir": "r",
    "r": "r",
    "julia": "julia",
    "javascript": "javascript",
    "typescript": "typescript",
    "scala": "scala",
}


@dataclass(slots=True)
class _Cell:
    """A cell of the file: its lines of text and the row of each."""

    kind: str = ""
    strings: list[tuple[int, str]] = field(default_factory=list)

    def lines(self) -> tuple[list[str], list[int]]:
        texts: list[str] = []
        rows: list[int] = []
        is_open = False
        for row, string in self.strings:
            for number, line in enumerate(string.split("\n")):
                if number == 0 and is_open:
                    texts[-1] += line
                else:
                    texts.append(line)
                    rows.append(row)
            is_open = True
            if string.endswith("\n"):
                texts.pop()
                rows.pop()
                is_open = False
        return texts, rows


def chunk_notebook(
    source: Source, settings: ChunkingSettings, queries: Path | None
) -> tuple[list[Piece], list[Symbol]]:
    """One piece a cell: `container` is `cell N` (from 1), the text is the cell's. Raises `ParseRefused` when no cell is found."""
    cells, language = _read_cells(source.lines)
    if not cells:
        raise ParseRefused("no cells")
    pieces: list[Piece] = []
    symbols: list[Symbol] = []
    for number, cell in enumerate(cells, 1):
        lines, rows = cell.lines()
        text = "\n".join(lines)
        if not text.strip():
            continue
        container = f"cell {number}"
        found = _symbols(text, cell.kind, language, settings, queries)
        symbols += [
            Symbol(
                item.name,
                item.kind,
                f"{container}.{item.container}" if item.container else container,
                rows[min(item.first_line, len(rows) - 1)],
                rows[min(item.last_line, len(rows) - 1)],
            )
            for item in found
        ]
        names = [item.name for item in found if not item.container]
        inner = read_source(text.encode("utf-8", "replace"))
        parts = [
            Piece("cell", names, container, rows[low], rows[high], is_fixed=True, text=inner.cut(low, high))
            for low, high in cut_windows(
                inner, 0, len(inner.lines) - 1, CELL_TARGETS * settings.target_tokens, settings.overlap_lines
            )
        ]
        number_parts(parts)
        pieces += parts
    return pieces, symbols


def _symbols(text: str, kind: str, language: str, settings: ChunkingSettings, queries: Path | None) -> list[Symbol]:
    if kind != "code":
        heading = _HEADING.match(text.lstrip())
        return [Symbol(heading.group(1).strip(), "section", "", 0, text.count("\n"))] if heading else []
    rules = rules_for(language, queries)
    if rules is None:
        return []
    # Magic commands are no code of the language.
    sound = "\n".join(["#" if line.startswith(("%", "!", "?")) else line for line in text.split("\n")])
    buffer = sound.encode("utf-8", "replace")
    try:
        return find_definitions(parse(buffer, rules, settings.parse_timeout_s), buffer, rules).symbols()
    except ParseRefused:
        return []


def _read_cells(lines: list[str]) -> tuple[list[_Cell], str]:
    """The cells and the language of the kernel, by a scan of the JSON text that keeps the rows of strings."""
    cells: list[_Cell] = []
    language = "python"
    path: list[str] = []  # keys from the root; "" for a list
    keys: list[str | None] = []
    row = 0
    for match in _TOKEN.finditer("\n".join(lines)):
        token = match.group()
        mark = token[0]
        if mark == "\n":
            row += 1
        elif mark in "{[":
            path.append((keys[-1] or "") if keys else "")
            keys.append("" if mark == "[" else None)
            if mark == "{" and len(path) == 3 and path[1] == "cells":
                cells.append(_Cell())
        elif mark in "}]":
            if keys:
                keys.pop()
                path.pop()
        elif mark == ",":
            if keys and keys[-1] != "":
                keys[-1] = None
        elif mark == '"' and keys:
            key = keys[-1]
            if key is None:
                keys[-1] = token[1:-1] or "?"
            elif cells and path[1:2] == ["cells"] and len(path) == 3 and key in ("cell_type", "source"):
                _note(cells[-1], key, row, token)
            elif cells and path[1:2] == ["cells"] and len(path) == 4 and path[3] == "source":
                _note(cells[-1], "source", row, token)
            elif path[1:2] == ["metadata"] and (path[-1], key) in (
                ("kernelspec", "language"),
                ("language_info", "name"),
            ):
                name = token[1:-1].lower()
                language = _KERNELS.get(name, "python")
    return cells, language


def _note(cell: _Cell, key: str, row: int, token: str) -> None:
    try:
        text = json.loads(token)
    except ValueError:
        text = token[1:-1]
    if key == "cell_type":
        cell.kind = text
    else:
        cell.strings.append((row, text))
