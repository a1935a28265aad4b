"""Markdown by section: headings with their path, fenced code kept whole."""

from __future__ import annotations

import re

from mgrep_tui.chunking.pieces import Piece
from mgrep_tui.chunking.source import Source
from mgrep_tui.chunking.windows import cut_windows
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def sections(source: Source, settings: ChunkingSettings) -> tuple[list[Piece], list[Symbol]]:
    """One piece a section: from its heading to the next heading of any level."""
    lines = source.lines
    heads = _headings(lines)
    bounds = [row for row, _, _ in heads]
    pieces: list[Piece] = []
    symbols: list[Symbol] = []
    path: list[tuple[int, str]] = []
    if not heads or heads[0][0] > 0:
        pieces.append(Piece("section", [], "", 0, (bounds[0] if bounds else len(lines)) - 1))
    for position, (row, level, title) in enumerate(heads):
        while path and path[-1][0] >= level:
            path.pop()
        container = " > ".join(name for _, name in path)
        path.append((level, title))
        last = bounds[position + 1] - 1 if position + 1 < len(bounds) else len(lines) - 1
        end = next((r - 1 for r, deep, _ in heads[position + 1 :] if deep <= level), len(lines) - 1)
        symbols.append(Symbol(title, "section", container, row, end))
        pieces.append(Piece("section", [title], container, row, last))
    return _sized(source, pieces, settings), symbols


def _headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """Row, level and title of each heading outside of fenced code."""
    found = []
    fence = ""
    for row, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark:
            if not fence:
                fence = mark.group(1)
            elif mark.group(1).startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if fence:
            continue
        head = _HEADING.match(line)
        if head:
            found.append((row, len(head.group(1)), head.group(2) or "#"))
            continue
        under = _UNDERLINE.match(line)
        above = lines[row - 1].strip() if row else ""
        if under and above and above[0] not in "#->|*" and not (found and found[-1][0] == row - 1):
            found.append((row - 1, 1 if under.group(1)[0] == "=" else 2, lines[row - 1].strip()))
    return found


def _sized(source: Source, pieces: list[Piece], settings: ChunkingSettings) -> list[Piece]:
    found: list[Piece] = []
    for piece in pieces:
        parts = cut_windows(source, piece.first, piece.last, settings.target_tokens * 2, 0)
        for number, (first, last) in enumerate(parts, 1):
            found.append(
                Piece(
                    "section", piece.names, piece.container, first, last, part=number, parts=len(parts), is_fixed=True
                )
            )
    return found
