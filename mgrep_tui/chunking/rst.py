"""reStructuredText's headings and blocks: titles are lines with a row of punctuation below (and above)."""

from __future__ import annotations

import re
from itertools import pairwise

from mgrep_tui.chunking.pieces import Piece
from mgrep_tui.chunking.sections import Heading, lay_sections
from mgrep_tui.chunking.source import Source
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

_ADORNMENT = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}\s*$")


def chunk_rst(source: Source, settings: ChunkingSettings) -> tuple[list[Piece], list[Symbol]]:
    """Pieces and symbols of a reStructuredText file. Levels are numbered in the order in which their adornments appear."""
    lines = source.lines
    headings: list[Heading] = []
    styles: list[tuple[str, bool]] = []
    row = 0
    while row + 1 < len(lines):
        over = _ADORNMENT.match(lines[row])
        has_over = bool(
            over
            and row + 2 < len(lines)
            and not source.is_blank(row + 1)
            and lines[row + 2].rstrip() == lines[row].rstrip()
            and not _ADORNMENT.match(lines[row + 1])
        )
        title_row = row + 1 if has_over else row
        title = lines[title_row]
        under = _ADORNMENT.match(lines[title_row + 1]) if title_row + 1 < len(lines) else None
        is_title = (
            under is not None
            and title.strip()
            and (has_over or (not title[0].isspace() and not over and _stands_alone(source, row)))
            and len(lines[title_row + 1].rstrip()) >= min(len(title.rstrip()), 4)
        )
        if not is_title or under is None:
            row += 1
            continue
        style = (under.group(1), has_over)
        if style not in styles:
            styles.append(style)
        headings.append(Heading(row, styles.index(style) + 1, title.strip()))
        row = title_row + 2
    return lay_sections(source, headings, _blocks(source), settings)


def _stands_alone(source: Source, row: int) -> bool:
    """A title without a line above begins a paragraph (a table's last row does not)."""
    return row == 0 or source.is_blank(row - 1) or source.lines[row - 1].startswith(".. ")


def _blocks(source: Source) -> list[tuple[int, int]]:
    """Runs that start at the left edge behind a blank line; what is indented below (literal blocks, directives) belongs to them."""
    starts = [
        row
        for row, line in enumerate(source.lines)
        if line and not line[0].isspace() and (row == 0 or source.is_blank(row - 1))
    ]
    return [(start, following - 1) for start, following in pairwise([*starts, len(source.lines)])]
