"""The lines of a file around one line, for the preview: read block by block, never whole when it is large."""

from __future__ import annotations

from dataclasses import dataclass

from mgrep_tui.corpus.decode import decode_line, searchable, split_lines
from mgrep_tui.corpus.read import read_file
from mgrep_tui.corpus.root import Root

_LIMIT_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `first_line` to `first_line + len(lines) - 1` (0-based), decoded, not sanitised, without their ends.

    Of a line longer than the limit only the part from `first_column` on is there, and its number is in `cut_lines`. `total_lines` is
    None when the rest of the file was not counted.
    """

    first_line: int
    lines: tuple[str, ...]
    total_lines: int | None
    size_bytes: int
    encoding: str
    is_binary: bool = False
    first_column: int = 0
    cut_lines: frozenset[int] = frozenset()


def read_window(
    root: Root, path: bytes, line: int, before: int, after: int, max_chars: int, *, column: int = 0
) -> Window:
    """`before` lines above `line`, the line, and `after` below. Raises UnreadableError. Any thread."""
    raw = read_file(root, path, _LIMIT_BYTES)
    found = searchable(raw.data)
    if found is None:
        return Window(0, (), None, raw.stat.size_bytes, "", is_binary=True)
    lines = split_lines(found.data)
    first = max(0, min(line - before, len(lines) - 1))
    chosen = [decode_line(item) for item in lines[first : line + after + 1]]
    first_column = max(0, column - max_chars // 2) if any(len(text) > max_chars for text in chosen) else 0
    cut = frozenset(first + index for index, text in enumerate(chosen) if len(text) > max_chars)
    shown = tuple(
        text[first_column : first_column + max_chars] if first + index in cut else text
        for index, text in enumerate(chosen)
    )
    return Window(first, shown, len(lines), raw.stat.size_bytes, found.encoding, False, first_column, cut)
