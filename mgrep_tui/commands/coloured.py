"""How hits look on a terminal: one by regular expression as its line, one by meaning with some lines of its chunk. Pure.

Colours are the sixteen of the terminal's own palette, so that they fit whatever theme it has. All text is from outside and is sanitised
here. Places stay `path:line:column`, which terminals and editors know how to open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mgrep_tui.model import Hit, Span
from mgrep_tui.text.cells import cut, expand_tabs
from mgrep_tui.text.highlight import Token, highlight
from mgrep_tui.text.sanitize import sanitize

# Above and below the line that answers best, as far as its chunk goes.
LINES_BEFORE, LINES_AFTER = 1, 2

_PATH, _PLACE, _MATCH, _NAME, _QUIET = "35", "32", "1;31", "1", "2"
_COLOURS = {
    "keyword": "34", "type": "36", "function": "36", "class": "36", "decorator": "33", "attribute": "36", "tag": "34",
    "string": "32", "escape": "33", "regex": "33", "number": "33", "constant": "33", "builtin": "36",
    "comment": _QUIET, "documentation": _QUIET, "preprocessor": "35", "heading": _NAME, "strong": _NAME, "code": "32",
}  # fmt: skip


def wants_colour(choice: str, environ: Mapping[str, str], is_terminal: bool) -> bool:
    """`choice` is `auto`, `always` or `never`; with `auto` the terminal decides, unless the person wants none (https://no-color.org)."""
    if choice != "auto":
        return choice == "always"
    return is_terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def line_of(place: str, hit: Hit, *, has_colour: bool) -> str:
    """A hit as grep prints it: `path:line:column:text`."""
    text = sanitize(hit.text)
    if not has_colour:
        return f"{_place(place, hit, has_colour=False)}:{text}"
    return f"{_place(place, hit, has_colour=True)}:{_painted(text, [(span, _MATCH) for span in hit.spans])}"


def block_of(place: str, hit: Hit, chunk: str, width: int, *, has_colour: bool) -> str:
    """A hit with its symbol, kind, lines, score and some lines of its `chunk`, in `width` cells.

    `chunk` begins at `hit.first_line`; without it (the file has changed since) the hit's own line is all there is.
    """
    lines, first = (chunk.split("\n"), hit.first_line) if chunk else ([hit.text], hit.line)
    best = max(0, min(hit.line - first, len(lines) - 1))
    start, stop = max(0, best - LINES_BEFORE), min(len(lines), best + LINES_AFTER + 1)
    # Empty lines at the edges show nothing.
    while start < best and not lines[start].strip():
        start += 1
    while stop > best + 1 and not lines[stop - 1].strip():
        stop -= 1
    tokens: list[list[Token]] = highlight("\n".join(lines), hit.language) if has_colour else [[] for _ in lines]
    gutter = len(str(first + stop))
    rows = [_heading(place, hit, has_colour=has_colour)]
    for at in range(start, stop):
        number = f"{first + at + 1:>{gutter}}"
        line, colours = (hit.text, []) if at == best and hit.text_offset else (lines[at], tokens[at])
        spans = hit.spans if at == best else ()
        row = _code(line, colours, spans, width - gutter - 4, has_colour=has_colour)
        rows.append(f"  {_paint(number, _QUIET) if has_colour else number}  {row}".rstrip())
    return "\n".join(rows)


def _heading(place: str, hit: Hit, *, has_colour: bool) -> str:
    about = [sanitize(hit.kind), f"{hit.first_line + 1}–{hit.last_line + 1}"]
    if hit.parts > 1:
        about.append(f"part {hit.part} of {hit.parts}")
    about.append(f"score {hit.score:.2f}")
    if hit.copies:
        about.append(f"{hit.copies} more like it")
    name, rest = sanitize(hit.full_name), " · ".join(part for part in about if part)
    if has_colour:
        name, rest = name and _paint(name, _NAME), _paint(rest, _QUIET)
    return "  ".join(part for part in (_place(place, hit, has_colour=has_colour), name, rest) if part)


def _place(place: str, hit: Hit, *, has_colour: bool) -> str:
    path, line, column = sanitize(place), str(hit.line + 1), str(hit.column + 1)
    if has_colour:
        path, line, column = _paint(path, _PATH), _paint(line, _PLACE), _paint(column, _PLACE)
    return f"{path}:{line}:{column}"


def _code(line: str, tokens: Sequence[Token], spans: Sequence[Span], width: int, *, has_colour: bool) -> str:
    marks = [(Span(token.start, token.end), _COLOURS.get(token.role, "")) for token in tokens]
    marks += [(span, _MATCH) for span in spans]
    text, moved = expand_tabs(sanitize(line), [span for span, _ in marks])
    text = cut(text, max(1, width))
    return _painted(text, [(span, code) for span, (_, code) in zip(moved, marks, strict=True)]) if has_colour else text


def _painted(text: str, marks: Sequence[tuple[Span, str]]) -> str:
    """`text` with each range in its colour; a later one lies on top of the earlier ones."""
    colours = [""] * len(text)
    for span, code in marks:
        for at in range(max(0, span.start), min(span.end, len(text))):
            colours[at] = code
    parts = []
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or colours[at] != colours[start]:
            parts.append(_paint(text[start:at], colours[start]))
            start = at
    return "".join(parts)


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text
