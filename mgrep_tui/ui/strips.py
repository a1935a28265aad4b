"""Lines for the screen made from parts: cut, padded and coloured. Everything that did not come from our own source is sanitised here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from mgrep_tui.text.cells import cell_width, cut, cut_start
from mgrep_tui.text.sanitize import sanitize

# What a line of code is cut to before anything else is done with it: no terminal is wider, and no line may cost more than this.
MAX_SHOWN = 2_000
TAB_SIZE = 4

Part = tuple[str, Style]
Layer = tuple[int, int, Style]


def row(width: int, left: Sequence[Part], right: Sequence[Part] = (), base: Style | None = None) -> Strip:
    """A line of exactly `width` cells: `left` from the left, cut where `right` begins. Parts hold no tabs and are sanitised."""
    base = base or Style.null()
    right_width = sum(cell_width(text) for text, _ in right)
    if right_width > width:
        right, right_width = [], 0
    room = width - right_width - (1 if right_width else 0)
    segments: list[Segment] = []
    used = 0
    for text, style in left:
        space = room - used
        if space <= 0:
            break
        size = cell_width(text)
        if size > space:
            text = cut(text, space)
            size = cell_width(text)
            segments.append(Segment(text, base + style))
            used += size
            break
        if text:
            segments.append(Segment(text, base + style))
            used += size
    gap = width - used - right_width
    if gap > 0:
        segments.append(Segment(" " * gap, base))
    segments.extend(Segment(text, base + style) for text, style in right if text)
    return Strip(segments, width)


def centered(width: int, parts: Sequence[Part], base: Style | None = None) -> Strip:
    """Parts in the middle of a line."""
    size = sum(cell_width(text) for text, _ in parts)
    indent = max(0, (width - size) // 2)
    return row(width, [(" " * indent, Style.null()), *parts], base=base)


def blank(width: int, base: Style | None = None) -> Strip:
    return Strip.blank(width, base)


def code_parts(text: str, base: Style, layers: Iterable[Layer]) -> list[Part]:
    """A line of code in parts: sanitised, tabs expanded, later layers (start, end, style; in characters of `text`) over earlier ones.

    The text is cut to `MAX_SHOWN` characters first.
    """
    text = text[:MAX_SHOWN]
    size = len(text)
    styles: list[Style] = [base] * size
    for start, end, style in layers:
        start, end = max(0, start), min(size, end)
        if start < end:
            merged: dict[Style, Style] = {}
            for index in range(start, end):
                below = styles[index]
                if below not in merged:
                    merged[below] = below + style
                styles[index] = merged[below]
    shown = sanitize(text)
    parts: list[Part] = []
    column = 0
    begin = 0
    has_tabs = "\t" in shown
    for index in range(1, size + 1):
        if index < size and styles[index] is styles[begin]:
            continue
        piece = shown[begin:index]
        if has_tabs:
            piece, column = _expanded(piece, column)
        parts.append((piece, styles[begin]))
        begin = index
    return parts


def _expanded(piece: str, column: int) -> tuple[str, int]:
    """`piece` with its tabs as spaces when it starts at cell `column`; and the cell behind it."""
    if "\t" not in piece:
        return piece, column + cell_width(piece)
    done: list[str] = []
    for number, part in enumerate(piece.split("\t")):
        if number:
            spaces = TAB_SIZE - column % TAB_SIZE
            done.append(" " * spaces)
            column += spaces
        done.append(part)
        column += cell_width(part)
    return "".join(done), column


def parts_width(parts: Iterable[Part]) -> int:
    return sum(cell_width(text) for text, _ in parts)


def skip_cells(parts: Sequence[Part], cells: int) -> list[Part]:
    """`parts` without their first `cells` cells; half of a wide character becomes a space."""
    if cells <= 0:
        return list(parts)
    left = cells
    for number, (text, style) in enumerate(parts):
        size = cell_width(text)
        if size <= left:
            left -= size
            continue
        kept, used = 0, 0
        while used < left:
            used += cell_width(text[kept])
            kept += 1
        while kept < len(text) and cell_width(text[kept]) == 0:
            kept += 1
        return [(" " * (used - left) + text[kept:], style), *parts[number + 1 :]]
    return []


def said(text: str) -> str:
    """A message, name or query from outside as one safe line."""
    return sanitize(text.replace("\t", " ").replace("\n", " "))


def fit_path(path: str, width: int) -> str:
    """A path in at most `width` cells. The file's name is kept longest; a path that is cut starts with the ellipsis."""
    return cut_start(path, width)


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 hit`, `1,234 hits`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size_text(size_bytes: int) -> str:
    """`512 B`, `1.4 MB`."""
    value = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def span_text(seconds: float) -> str:
    """How long something takes: `0.2 s`, `12 s`, `3 min`, `2 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
