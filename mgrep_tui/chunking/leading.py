"""Where a unit begins: the comments, attributes and decorators above a definition that belong to it."""

from __future__ import annotations

from collections.abc import Mapping

from mgrep_tui.chunking.rules import Rules
from mgrep_tui.chunking.source import Source


def first_leading_line(
    source: Source, rules: Rules, leads: Mapping[int, int], start: int, floor: int, *, is_file_head: bool
) -> int:
    """The first line at or above `start`, not above `floor`, from which on there are only comments and attributes.

    `leads` has further ranges of lines that count as such, first by last.

    Blank lines between comments do not end the stretch, but for the head of a file: what is set apart there (a licence) is the file's.
    """
    lines = source.lines
    found = start
    line = start - 1
    while line >= floor:
        text = lines[line].strip()
        if not text:
            if is_file_head and found < start:
                break
            line -= 1
            continue
        if line in leads:
            if leads[line] < floor:
                break
            line = leads[line]
        elif rules.block is not None and text.endswith(rules.block[1]):
            opening = _opening(lines, line, floor, rules.block)
            if opening < 0:
                break
            line = opening
        elif not text.startswith(rules.comments + rules.attributes):
            break
        found = line
        line -= 1
    return found


def _opening(lines: list[str], line: int, floor: int, block: tuple[str, str]) -> int:
    """The line on which the block comment that ends on `line` starts, if nothing else stands before it; else -1."""
    opener, closer = block
    while line >= floor:
        text = lines[line]
        position = text.rfind(opener)
        if position >= 0:
            return line if not text[:position].strip() else -1
        line -= 1
        if line >= floor and closer in lines[line]:
            return -1
    return -1
