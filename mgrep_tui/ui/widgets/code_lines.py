"""How lines of a file look in the preview. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.style import Style
from textual.strip import Strip

from mgrep_tui.explorer.protocol import Preview
from mgrep_tui.model import Hit, Span
from mgrep_tui.text.cells import cell_width
from mgrep_tui.ui.strips import MAX_SHOWN, Layer, Part, code_parts, parts_width, row, skip_cells
from mgrep_tui.ui.theme import Palette

CHANGE_BARS = {"added": "┃", "changed": "┃", "removed": "▁"}
CHUNK_BAR = "▌"
# Shorter words of a question are lit only where the search found them: `is` and `an` stand inside half of all words.
LIT_FROM = 4


@dataclass(frozen=True, slots=True)
class Lit:
    """What is lit in a file: spans by line (characters of the whole line), the lines of the hit's chunk, words, the line of the cursor."""

    line: int = 0
    chunk: range = range(0)
    spans: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)
    words: tuple[str, ...] = ()


def lit_by(hit: Hit, hits: Sequence[Hit], words: tuple[str, ...]) -> Lit:
    """What to light for a hit, with the other hits of its file. `words` are lit wherever they stand, in any case."""
    spans: dict[int, tuple[Span, ...]] = {}
    for each in (hit, *hits):
        moved = tuple(Span(span.start + each.text_offset, span.end + each.text_offset) for span in each.spans)
        known = spans.get(each.line, ())
        spans[each.line] = (*known, *(span for span in moved if span not in known))
    chunk = (
        range(hit.first_line, hit.last_line + 1) if hit.last_line > hit.first_line else range(hit.line, hit.line + 1)
    )
    return Lit(hit.line, chunk, spans, tuple(word.lower() for word in words if len(word) >= LIT_FROM))


def number_width(preview: Preview) -> int:
    """Columns that the line numbers need."""
    last = preview.total_lines or preview.first_line + len(preview.lines)
    return max(3, len(str(last)))


def gutter(line: int, numbers: int, change: str, lit: Lit, palette: Palette) -> list[Part]:
    """Chunk bar, number, change bar: `numbers` + 4 cells."""
    is_in = line in lit.chunk
    style = {"added": palette.added, "changed": palette.changed, "removed": palette.removed}.get(change, palette.faint)
    return [
        (CHUNK_BAR if is_in else " ", palette.chunk_bar),
        (f"{line + 1:>{numbers}}", palette.text if line == lit.line else palette.muted),
        (CHANGE_BARS.get(change, " "), style),
        (" ", Style.null()),
    ]


def line_strips(
    preview: Preview, index: int, lit: Lit, width: int, palette: Palette, *, wraps: bool, left: int, limit: int
) -> list[Strip]:
    """Line `index` of the window as strips: one without its first `left` cells, or with `wraps` as many as it needs, at most `limit`."""
    line = preview.first_line + index
    text = preview.lines[index][:MAX_SHOWN]
    offset = preview.offset_of(index)
    layers = _layers(preview, index, text, offset, lit, palette)
    parts = code_parts(text, palette.text, layers)
    is_longer = preview.is_cut(index) or len(preview.lines[index]) > MAX_SHOWN
    if is_longer:
        parts.append(("…", palette.muted))
    numbers = number_width(preview)
    base = palette.cursor if line == lit.line else Style.null()
    head = gutter(line, numbers, preview.changes.get(line, ""), lit, palette)
    room = width - numbers - 4
    if room <= 0:
        return [row(width, head, base=base)]
    before = 0 if wraps else left or _shift(text, offset, line, lit, room)
    if before or offset:
        parts = [("…", palette.muted), *skip_cells(parts, before + 1 if before else 0)]
    if not wraps:
        return [row(width, [*head, *parts], base=base)]
    indent: list[Part] = [(" " * (numbers + 2) + "↪ ", palette.faint)]
    strips = [row(width, [*head, *_until(parts, room)], base=base)]
    parts = skip_cells(parts, room)
    while parts and len(strips) < limit:
        strips.append(row(width, [*indent, *_until(parts, room)], base=base))
        parts = skip_cells(parts, room)
    return strips


def _until(parts: Sequence[Part], cells: int) -> list[Part]:
    """The parts of the first `cells` cells, without the ellipsis that `row` would put there."""
    taken: list[Part] = []
    left = cells
    for text, style in parts:
        size = cell_width(text)
        if size <= left:
            taken.append((text, style))
            left -= size
            continue
        end = 0
        while end < len(text) and cell_width(text[end]) <= left:
            left -= cell_width(text[end])
            end += 1
        taken.append((text[:end], style))
        break
    return taken


def _layers(preview: Preview, index: int, text: str, offset: int, lit: Lit, palette: Palette) -> list[Layer]:
    layers: list[Layer] = []
    if index < len(preview.tokens):
        layers = [(token.start, token.end, palette.token(token.role)) for token in preview.tokens[index]]
    folded = text.lower() if lit.words else ""
    if len(folded) == len(text):  # else a letter changed its length and the places would be wrong
        for word in lit.words:
            at = folded.find(word)
            while at >= 0:
                layers.append((at, at + len(word), Style(underline=True)))
                at = folded.find(word, at + len(word))
    spans = lit.spans.get(preview.first_line + index, ())
    layers.extend((span.start - offset, span.end - offset, palette.match) for span in spans)
    return layers


def _shift(text: str, offset: int, line: int, lit: Lit, room: int) -> int:
    """How many cells of the cursor's line to leave out at its start, so that its first span can be seen."""
    spans = lit.spans.get(line, ())
    if line != lit.line or not spans:
        return 0
    span = min(spans, key=lambda each: each.start)
    first, last = span.start - offset, span.end - offset
    if not 0 <= first <= len(text):
        return 0
    # The cells before the span, tabs counted as they are drawn.
    at, end = (parts_width(code_parts(text[:place], Style.null(), ())) for place in (first, last))
    return 0 if end < room or at < room // 2 else at - room // 3
