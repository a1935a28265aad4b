"""How a file's heading and a hit look as lines of the list. Pure: the same arguments give the same line."""

from __future__ import annotations

import os
from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from mgrep_tui.model import Hit, Mode
from mgrep_tui.text.cells import cell_width
from mgrep_tui.text.sanitize import display_path
from mgrep_tui.ui.strips import Layer, Part, code_parts, fit_path, parts_width, row, said, skip_cells
from mgrep_tui.ui.theme import Palette

GLYPHS = {
    "function": "ƒ", "method": "ƒ", "class": "◆", "interface": "◇", "trait": "◇", "struct": "◆", "enum": "◈", "impl": "◆",
    "type": "◇", "module": "▣", "constant": "π", "outline": "◆", "section": "§", "object": "▤", "table": "▤", "cell": "▦",
    "rule": "▤", "statement": "≡", "code": "≡", "lines": "≡",
}  # fmt: skip
PLAIN_GLYPH = "≡"
MARK = "✓"
DOT = " · "
BAR = "▌"
# Below this width of the list a line's symbol gives way to its text.
SYMBOL_FROM_WIDTH = 54
_FLAG_WORDS = {"test": "test", "generated": "generated", "vendored": "vendored"}
# The ranking's signals, by the reason that a person would name.
_REASONS = {
    **dict.fromkeys(("words", "body words", "name words", "file words", "coverage", "agreement"), "words"),
    **dict.fromkeys(("meaning", "file meaning", "file centre", "like"), "meaning"),
    **dict.fromkeys(("deep", "file deep"), "deep"),
    **dict.fromkeys(
        ("symbol", "symbol precise", "container", "file symbols", "named after", "named or defined"), "name"
    ),
    **dict.fromkeys(("stem", "stem precise", "folder", "file names", "path"), "path"),
    "definition": "definition",
}
# Below this width of the list a hit by meaning tells only where it begins: its name needs the room.
RANGE_FROM_WIDTH = 46
# Below this score nothing is said: it stands there because a better hit of its file does.
SCORE_SHOWN_FROM = 0.01


@dataclass(frozen=True, slots=True)
class Look:
    """What lies over a row: is the cursor on it, is it marked, are the hits those of an older query."""

    is_cursor: bool = False
    is_marked: bool = False
    is_dimmed: bool = False


def heading(
    path: bytes,
    hits: int,
    flags: tuple[str, ...],
    lit: tuple[str, ...],
    width: int,
    palette: Palette,
    is_dimmed: bool,
    label: str = "",
) -> Strip:
    """A file's line: its path with the parts that match lit, its state, the number of its hits. `lit` is in lower case.

    `label` is the name of the root that begins the path, where several are open: it is told apart, and never cut away.
    """
    style = palette.muted if is_dimmed else palette.text
    right: list[Part] = []
    if "gone" in flags:
        right.append(("✗ gone", palette.removed))
    elif "edited" in flags:
        right.append(("↻ edited since", palette.warning))
    elif "untracked" in flags:
        right.append(("+ new", palette.added))
    elif "changed" in flags:
        right.append(("● changed", palette.changed))
    right.extend((("  " if right else "") + word, palette.muted) for name, word in _FLAG_WORDS.items() if name in flags)
    right.append((f"{hits:>4}", palette.muted))
    right.append((" ", palette.muted))
    room = max(8, width - parts_width(right) - 3)
    root = said(label)[: max(4, room // 3)] + "/" if label else ""
    rest = path[len(os.fsencode(label)) + 1 :] if label else path
    text = root + fit_path(display_path(rest), max(8, room - cell_width(root)))
    cut = text.rfind("/") + 1
    layers: list[Layer] = [(0, cut, palette.muted), (cut, len(text), Style(bold=not is_dimmed))]
    if label and not is_dimmed:
        layers.append((0, len(root) - 1, palette.accent))
    if not is_dimmed:
        folded = text.lower()
        for word in lit:
            at = folded.find(word)
            while word and at >= 0:
                layers.append((at, at + len(word), palette.found))
                at = folded.find(word, at + len(word))
    return row(width, [(" ", style), *code_parts(text, style, layers)], right)


def first_line(hit: Hit, mode: Mode, number_width: int, width: int, look: Look, palette: Palette) -> Strip:
    """A hit's first line: in regex mode the line itself, in semantic mode what was found, why, and how well it fits."""
    base, left = _start(look, palette)
    if mode is Mode.REGEX:
        left.append((f"{hit.line + 1:>{number_width}} ", palette.muted))
        right: list[Part] = []
        if hit.symbol and width >= SYMBOL_FROM_WIDTH:
            right = [(said(hit.symbol)[:24] + " ", palette.muted)]
        room = width - parts_width(left) - parts_width(right) - 1
        return row(width, [*left, *_line_of(hit, room, look, palette, palette.text)], right, base)
    name = _name(hit)
    left.append((" " + GLYPHS.get(hit.kind, PLAIN_GLYPH) + " ", palette.muted))
    left.append((name, palette.muted if look.is_dimmed else palette.strong if look.is_cursor else palette.text))
    if hit.parts > 1:
        left.append((f" {hit.part}/{hit.parts}", palette.muted))
    if hit.copies:
        left.append((f"  +{hit.copies:,} alike", palette.muted))
    lines = f"{hit.first_line + 1}"
    if hit.last_line > hit.first_line and width >= RANGE_FROM_WIDTH:
        lines += f"–{hit.last_line + 1}"
    score = score_text(hit.score)
    columns = 10 if width >= RANGE_FROM_WIDTH else 5
    right = [
        (f"{lines:>{columns}}", palette.muted),
        (f"{score:>5} ", palette.muted if look.is_dimmed else palette.quiet),
    ]
    why = reasons(hit)
    while why and parts_width(left) + parts_width(right) + len(DOT.join(why)) + 3 > width:
        why = why[:-1]
    right.insert(0, (DOT.join(why), palette.muted))
    return row(width, left, right, base)


def second_line(hit: Hit, width: int, look: Look, palette: Palette) -> Strip:
    """A chunk's best line."""
    base, left = _start(look, palette)
    left.append(("   ", Style.null()))
    room = width - parts_width(left) - 1
    return row(width, [*left, *_line_of(hit, room, look, palette, palette.quiet)], base=base)


def _start(look: Look, palette: Palette) -> tuple[Style, list[Part]]:
    base = palette.cursor if look.is_cursor else Style.null()
    left: list[Part] = [(BAR, palette.cursor_bar) if look.is_cursor else (" ", base)]
    left.append((MARK if look.is_marked else " ", palette.mark))
    return base, left


def _name(hit: Hit) -> str:
    if not hit.symbol:
        return said(hit.kind or "lines")
    if not hit.container:
        return said(hit.symbol)
    # A section's container is prose, a definition's a dotted name: its last part tells enough.
    joint = " › " if hit.kind == "section" else "."
    return said(hit.container.rsplit(".", 1)[-1] if joint == "." else hit.container) + joint + said(hit.symbol)


def reasons(hit: Hit) -> tuple[str, ...]:
    """The strongest reasons of a hit as words, at most two."""
    return tuple(word for word, value in weighed_reasons(hit)[:2] if value > 0)


def weighed_reasons(hit: Hit) -> list[tuple[str, float]]:
    """What each reason gave to the score, the strongest first."""
    sums: dict[str, float] = {}
    for signal in hit.signals:
        if signal.name in _REASONS:
            reason = _REASONS[signal.name]
            sums[reason] = sums.get(reason, 0.0) + signal.value
    return sorted(sums.items(), key=lambda pair: -pair[1])


def score_text(score: float) -> str:
    """`.91`, or one place where scores go beyond one; nothing for what is next to nothing."""
    if 0 <= score < SCORE_SHOWN_FROM:
        return ""
    if 0 <= score < 0.995:
        return f"{score:.2f}"[1:]
    return f"{score:.1f}"


def _line_of(hit: Hit, room: int, look: Look, palette: Palette, plain: Style) -> list[Part]:
    """The hit's line without its indentation, its spans lit, and moved left so far that the first span can be seen."""
    text = hit.text
    start = len(text) - len(text.lstrip())
    first = hit.spans[0] if hit.spans else None
    if first is not None and room > 0:
        start = min(start, first.start)
        # A span that would be cut off stands at a third of the room instead.
        if cell_width(text[start : first.start]) + min(first.end - first.start, room // 2) > room - 1:
            start = max(0, first.start - room // 3)
    is_cut = start > len(text) - len(text.lstrip()) or hit.text_offset > 0
    style = palette.muted if look.is_dimmed else plain
    lit = Style(underline=True) if look.is_dimmed else palette.found
    shown = text[start : start + max(room, 0) + 8]
    parts = code_parts(shown, style, [(span.start - start, span.end - start, lit) for span in hit.spans])
    return [("…", palette.muted), *skip_cells(parts, 1)] if is_cut else parts
