"""How many terminal columns text takes, and how to cut it and expand its tabs to columns.

Expects sanitised text. Combining marks, Hangul vowels and final consonants (which join the syllable before) and skin tones take no cell,
wide and full-width East Asian characters and emoji take two, all else one. The screen's own library measures the same way; a test
compares the two over all of Unicode, since a cell of difference would misplace every span behind it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from mgrep_tui.model import Span

ELLIPSIS = "…"


_JOINS_BEFORE = frozenset(map(chr, (*range(0x1160, 0x1200), *range(0xD7B0, 0xD800), *range(0x1F3FB, 0x1F400))))
# Wide in Unicode 15 to 17, which the tables of Python 3.11 to 3.13 do not know: trigrams and counting rods, and emoji.
_WIDE_BY_NOW = frozenset(
    map(
        chr,
        (
            *(
                *range(0x2630, 0x2638),
                *range(0x268A, 0x2690),
                *range(0x4DC0, 0x4E00),
                *range(0x1D300, 0x1D357),
                *range(0x1D360, 0x1D377),
            ),
            *(0x1F6D8, 0x1F6DC, *range(0x1FA75, 0x1FA78), *range(0x1FA87, 0x1FA8B), *range(0x1FA8E, 0x1FA90)),
            *(*range(0x1FAAD, 0x1FAB0), *range(0x1FABB, 0x1FAC0), 0x1FAC6, 0x1FAC8, *range(0x1FACD, 0x1FAD0)),
            *(*range(0x1FADA, 0x1FADD), 0x1FADF, *range(0x1FAE8, 0x1FAEB), 0x1FAEF, *range(0x1FAF7, 0x1FAF9)),
        ),
    )
)
# The planes of Chinese characters, assigned or not yet.
_IDEOGRAPHS = range(0x20000, 0x3FFFE)


@lru_cache(maxsize=4096)
def _width_of(character: str) -> int:
    category = unicodedata.category(character)
    if character in _JOINS_BEFORE or category in ("Mn", "Me", "Mc"):
        return 0
    if character in _WIDE_BY_NOW or ord(character) in _IDEOGRAPHS:
        return 2
    if category == "Cn":
        return 1  # not assigned: the table of widths would say wide
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def cell_width(text: str) -> int:
    """Columns that `text` takes; a tab counts as one (expand tabs first)."""
    if text.isascii():
        return len(text)
    return sum(map(_width_of, text))


def _fitting(text: str, width: int) -> int:
    """How many characters from the start fit into `width` cells."""
    if text.isascii():
        return min(len(text), width)
    used = 0
    for index, character in enumerate(text):
        used += _width_of(character)
        if used > width:
            return index
    return len(text)


def _fitting_from_end(text: str, width: int) -> int:
    """Where the longest end of `text` that fits into `width` cells starts; never at a mark whose letter is left out."""
    used = 0
    start = position = len(text)
    while position:
        cells = _width_of(text[position - 1])
        used += cells
        if used > width:
            break
        position -= 1
        if cells or not position:
            start = position
    return start


def cut(text: str, width: int, ellipsis: str = ELLIPSIS) -> str:
    """`text` in at most `width` cells; what does not fit gives way to the ellipsis at the end."""
    if width <= 0:
        return ""
    end = _fitting(text, width)
    if end == len(text):
        return text
    room = width - cell_width(ellipsis)
    if room < 0:
        return text[:end]
    return text[: _fitting(text, room)] + ellipsis


def cut_start(text: str, width: int, ellipsis: str = ELLIPSIS) -> str:
    """`text` in at most `width` cells, keeping its end (for paths); the ellipsis stands at the start."""
    if width <= 0:
        return ""
    start = _fitting_from_end(text, width)
    if start == 0:
        return text
    room = width - cell_width(ellipsis)
    if room < 0:
        return text[start:]
    return ellipsis + text[_fitting_from_end(text, room) :]


def expand_tabs(text: str, spans: Sequence[Span] = (), size: int = 4) -> tuple[str, tuple[Span, ...]]:
    """`text` with tabs replaced by spaces up to the next multiple of `size` cells, and `spans` moved to fit the new text."""
    if "\t" not in text:
        return text, tuple(spans)
    parts: list[str] = []
    tabs: list[tuple[int, int]] = []  # offset of a tab in the old text, spaces more than one that it became
    column = 0
    offset = 0
    for piece in text.split("\t"):
        if offset:
            spaces = size - column % size
            parts.append(" " * spaces)
            tabs.append((offset - 1, spaces - 1))
            column += spaces
        parts.append(piece)
        column += cell_width(piece)
        offset += len(piece) + 1

    def moved(position: int) -> int:
        return position + sum(extra for tab, extra in tabs if tab < position)

    return "".join(parts), tuple(Span(moved(span.start), moved(span.end)) for span in spans)
