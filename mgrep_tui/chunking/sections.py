"""Prose by section: headings become pieces with their path; what must stay together (fenced code) is never cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mgrep_tui.chunking.pieces import Piece, merge_small, number_parts
from mgrep_tui.chunking.source import Source
from mgrep_tui.chunking.windows import cut_windows
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

# A section is one piece up to this many times the target size; then it is cut between its blocks.
SECTION_TARGETS = 3

PATH_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its first row, its level (1 is the outermost) and its title."""

    row: int
    level: int
    title: str


def lay_sections(
    source: Source, headings: Sequence[Heading], blocks: Sequence[tuple[int, int]], settings: ChunkingSettings
) -> tuple[list[Piece], list[Symbol]]:
    """One piece a section, from its heading to the next heading of any level, and one symbol a heading, with all below it.

    `blocks` are the row ranges, in order and without overlap, between which a long section may be cut.
    """
    last_row = len(source.lines) - 1
    pieces: list[Piece] = []
    symbols: list[Symbol] = []
    path: list[Heading] = []
    ends = _ends(headings, last_row)
    if not headings or headings[0].row > 0:
        stop = headings[0].row - 1 if headings else last_row
        pieces += _sized(source, Piece("section", [], "", 0, stop), blocks, settings)
    for position, heading in enumerate(headings):
        while path and path[-1].level >= heading.level:
            path.pop()
        container = PATH_SEPARATOR.join([item.title for item in path])
        path.append(heading)
        last = headings[position + 1].row - 1 if position + 1 < len(headings) else last_row
        symbols.append(Symbol(heading.title, "section", container, heading.row, ends[position]))
        pieces += _sized(source, Piece("section", [heading.title], container, heading.row, last), blocks, settings)
    return merge_small(source, pieces, settings.target_tokens), symbols


def _ends(headings: Sequence[Heading], last_row: int) -> list[int]:
    """The last row of each section with its subsections."""
    ends = [last_row] * len(headings)
    open_ones: list[int] = []
    for position, heading in enumerate(headings):
        while open_ones and headings[open_ones[-1]].level >= heading.level:
            ends[open_ones.pop()] = heading.row - 1
        open_ones.append(position)
    return ends


def _sized(source: Source, piece: Piece, blocks: Sequence[tuple[int, int]], settings: ChunkingSettings) -> list[Piece]:
    limit = SECTION_TARGETS * settings.target_tokens
    if source.tokens(piece.first, piece.last) <= limit:
        return [piece]
    parts: list[Piece] = []
    for low, high in _groups(source, piece, blocks, limit, settings):
        parts.append(Piece("section", list(piece.names), piece.container, low, high, is_fixed=True))
    number_parts(parts)
    return parts


def _groups(
    source: Source, piece: Piece, blocks: Sequence[tuple[int, int]], limit: int, settings: ChunkingSettings
) -> list[tuple[int, int]]:
    """Neighbouring blocks of the piece packed up to the limit; a longer block alone, cut by lines only when it is very long."""
    groups: list[tuple[int, int]] = []
    start = piece.first
    end = start - 1
    for low, high in [
        *((low, high) for low, high in blocks if piece.first <= low <= piece.last),
        (piece.last + 1, piece.last),
    ]:
        is_last = low > piece.last
        if end >= start and (is_last or source.tokens(start, min(high, piece.last)) > limit):
            stop = piece.last if is_last else low - 1
            if stop - start >= settings.max_unit_lines:
                groups += cut_windows(source, start, stop, limit, settings.overlap_lines)
            else:
                groups.append((start, stop))
            start = stop + 1
        end = min(high, piece.last)
    return groups or [(piece.first, piece.last)]
