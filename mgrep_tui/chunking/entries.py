"""Structured files (JSON, YAML, TOML) by key: an entry that fits is one piece, a larger one is taken apart along its keys."""

from __future__ import annotations

from dataclasses import dataclass, field

from mgrep_tui.chunking.pieces import Piece, merge_small, number_parts
from mgrep_tui.chunking.source import Source
from mgrep_tui.chunking.windows import cut_windows
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

# An entry is one piece up to this many times the target size.
ENTRY_TARGETS = 3

# Deeper entries are neither pieces nor symbols.
MAX_ENTRY_DEPTH = 6

# A file of data with more keys than this lists the first ones; the rest is found by its text.
MAX_SYMBOLS = 2_000

_COMMENTS = ("#", "//", ";", "/*", "*")


@dataclass(slots=True)
class Entry:
    """A key (or `[number]` in a list) with its lines first..last."""

    name: str
    kind: str
    first: int
    last: int
    children: list[Entry] = field(default_factory=list)


def lay_entries(source: Source, entries: list[Entry], settings: ChunkingSettings) -> tuple[list[Piece], list[Symbol]]:
    """Pieces that cover the file, and symbols: the outermost keys, and of the inner ones those that hold others."""
    pieces = _level(source, entries, 0, len(source.lines) - 1, "", settings)
    return merge_small(source, pieces, settings.target_tokens), _symbols(entries)


def _symbols(entries: list[Entry]) -> list[Symbol]:
    symbols: list[Symbol] = []
    stack = [(entry, "") for entry in reversed(entries)]
    while stack and len(symbols) < MAX_SYMBOLS:
        entry, container = stack.pop()
        symbols.append(Symbol(entry.name, entry.kind, container, entry.first, entry.last))
        path = f"{container}.{entry.name}" if container else entry.name
        stack.extend((child, path) for child in reversed(entry.children) if child.children or child.last > child.first)
    return symbols


def _level(
    source: Source, entries: list[Entry], first: int, last: int, container: str, settings: ChunkingSettings
) -> list[Piece]:
    """Recursion ends at `MAX_ENTRY_DEPTH`, since the scanners make no deeper entries."""
    limit = ENTRY_TARGETS * settings.target_tokens
    pieces: list[Piece] = []
    cursor = first
    for entry in entries:
        if entry.last < cursor or entry.first > last:
            continue
        # What stands between two entries (comments, an opening bracket) goes with the second, but for a long preamble.
        start = cursor
        lead = _leading(source, max(entry.first, cursor), cursor)
        if source.tokens(cursor, lead - 1) > limit:
            pieces += _windows(source, Piece("code", [], container, cursor, lead - 1), limit, settings)
            start = lead
        end = min(entry.last, last)
        piece = Piece(entry.kind, [entry.name], container, start, end)
        if source.tokens(start, end) <= limit and end - start < settings.max_unit_lines:
            pieces.append(piece)
        elif entry.children:
            path = f"{container}.{entry.name}" if container else entry.name
            pieces += _level(source, entry.children, start, end, path, settings)
        else:
            pieces += _windows(source, piece, limit, settings)
        cursor = end + 1
    if not pieces:
        return _windows(source, Piece("code", [], container, first, last), limit, settings)
    if source.tokens(cursor, last) > limit:
        pieces += _windows(source, Piece("code", [], container, cursor, last), limit, settings)
    elif cursor <= last:
        pieces[-1].last = last
    return pieces


def _leading(source: Source, start: int, floor: int) -> int:
    while start > floor and source.lines[start - 1].lstrip().startswith(_COMMENTS):
        start -= 1
    return start


def _windows(source: Source, piece: Piece, limit: int, settings: ChunkingSettings) -> list[Piece]:
    if source.tokens(piece.first, piece.last) <= limit and piece.last - piece.first < settings.max_unit_lines:
        return [piece]
    ranges = cut_windows(source, piece.first, piece.last, limit, settings.overlap_lines)
    parts = [Piece(piece.kind, list(piece.names), piece.container, low, high, is_fixed=True) for low, high in ranges]
    number_parts(parts)
    return parts
