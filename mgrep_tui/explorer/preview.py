"""A window of a file for the preview: first its plain lines, then colours, changes against git and symbols."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mgrep_tui.corpus.decode import decode_line, searchable, split_lines
from mgrep_tui.corpus.read import read_file
from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.window import Window, read_window
from mgrep_tui.errors import GoneError, MgrepError
from mgrep_tui.explorer.protocol import Preview
from mgrep_tui.model import Symbol
from mgrep_tui.text.highlight import Token, highlight
from mgrep_tui.text.languages import language_of

# Of a longer line only the part around the hit is read out; no terminal is wider.
MAX_CHARS = 2_000
# Lexers are wrong at the start of a slice that begins inside a string or comment; this many lines above the window put nearly all right.
CONTEXT_LINES = 120
# Past this size the changes against git and the colours of what stands above are not worth their time.
MAX_RICH_BYTES = 2_000_000
SNIPPET_BYTES = 64_000_000


def plain_preview(root: Root, path: bytes, line: int, column: int, height: int, width: int) -> Preview:
    """At least `height` lines around `line` with that line at a third of the height. Never raises for the file's own faults."""
    before = height // 3
    try:
        window = read_window(root, path, line, before, max(1, height - before), max(MAX_CHARS, width), column=column)
    except MgrepError as error:
        return Preview(path, notice=str(error), is_gone=isinstance(error, GoneError))
    if window.is_binary:
        return Preview(path, notice=f"A binary file of {window.size_bytes:,} bytes; there is nothing to show.")
    if not window.size_bytes:
        return Preview(path, notice="The file is empty.")
    return Preview(
        path,
        first_line=window.first_line,
        lines=window.lines,
        total_lines=window.total_lines,
        notice=_notice(window),
        language=language_of(
            path, "\n".join(window.lines[:1]).encode("utf-8", "replace") if window.first_line == 0 else b""
        ),
        offsets=window.offsets if window.cut_lines else (),
        cut_lines=frozenset(number - window.first_line for number in window.cut_lines),
    )


def _notice(window: Window) -> str:
    if window.cut_lines:
        return "Long lines are shown in part."
    if window.encoding and not window.encoding.lower().startswith("utf-8"):
        return f"Encoded as {window.encoding}."
    return ""


def rich_preview(root: Root, plain: Preview, line: int, symbols: Sequence[Symbol]) -> Preview:
    """The same window with colours, change marks, breadcrumb and outline."""
    return replace(
        plain,
        tokens=() if plain.cut_lines else _tokens(root, plain),
        changes=_changes(root, plain),
        breadcrumb=breadcrumb(symbols, _beneath(plain, line)),
        symbols=tuple(sorted(symbols, key=lambda symbol: (symbol.first_line, -symbol.last_line))),
    )


def _tokens(root: Root, plain: Preview) -> tuple[Sequence[Token], ...]:
    if not plain.language:
        return ()
    above: tuple[str, ...] = ()
    if plain.first_line:
        count = min(CONTEXT_LINES, plain.first_line)
        try:
            above = read_window(root, plain.path, plain.first_line - count, 0, count - 1, MAX_CHARS).lines
        except MgrepError:
            above = ()
    return tuple(highlight("\n".join(plain.lines), plain.language, context="\n".join(above)))


def _changes(root: Root, plain: Preview) -> dict[int, str]:
    from mgrep_tui.corpus.gitdiff import changed_lines

    try:
        raw = read_file(root, plain.path, MAX_RICH_BYTES)
    except MgrepError:
        return {}
    first, last = plain.first_line, plain.first_line + len(plain.lines)
    return {
        number: kind for number, kind in changed_lines(root, plain.path, raw.data).items() if first <= number <= last
    }


def breadcrumb(symbols: Sequence[Symbol], line: int) -> tuple[str, ...]:
    """The names that enclose a line, outermost first."""
    around = [symbol for symbol in symbols if symbol.first_line <= line <= symbol.last_line]
    around.sort(key=lambda symbol: (symbol.first_line, -symbol.last_line))
    return tuple(symbol.name for symbol in around)


# What stands above a definition and belongs to it.
_ABOVE = re.compile(r"\s*(?:$|//|/\*|\*|#|--|;|%|@|\[|\"{3})")


def _beneath(plain: Preview, line: int) -> int:
    """The first line from this one on that is neither a comment nor a decorator: a hit often begins with those of what it is about."""
    for number, text in enumerate(plain.lines[max(0, line - plain.first_line) :], line):
        if not _ABOVE.match(text):
            return number
    return line


def lines_of(root: Root, path: bytes, first_line: int, last_line: int) -> str:
    """The text of inclusive, 0-based lines as it is on the disk now. Raises `MgrepError`."""
    found = searchable(read_file(root, path, SNIPPET_BYTES).data)
    if found is None:
        raise MgrepError("A binary file has no lines.")
    return "\n".join(decode_line(line) for line in split_lines(found.data)[first_line : last_line + 1])
