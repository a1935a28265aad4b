r"""Matching of the assertions that RE2 has not, in linear time all the same.

RE2's `\b` knows ASCII only, and it has no way to ask for "no word character before this". So for the few lines that need it, the text gets
a mark into every gap between two characters, which says what holds there: whether a word character stands on either side, whether a line
or the file begins or ends. An assertion then becomes a class of marks, which RE2 can match, and every other part of the pattern skips the
marks before it. Since matching consumes a mark, each gap holds as many copies as the pattern has assertions: no match needs more, as
asking the same gap twice changes nothing.

The marks are noncharacters (U+FDD0 …), which stand in no text; if they do, they are taken for others of their kind.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable

from mgrep_tui.search.pattern_printer import UNICODE_ITEMS, char_text, print_set, print_with
from mgrep_tui.search.pattern_tree import (
    MAX_CODE,
    Assertion,
    Char,
    CharSet,
    Dot,
    Named,
    Node,
    Place,
    Range,
    walk,
)

FIRST = 0xFDD0
_WORD_BEFORE, _WORD_AFTER, _STARTS, _ENDS, _TEXT = 1, 2, 4, 8, 16
LAST = FIRST + 31
_MARKS = [chr(code).encode() for code in range(FIRST, LAST + 1)]
_ALL = f"\\x{{{FIRST:x}}}-\\x{{{LAST:x}}}"
_SKIP = f"[{_ALL}]*"
STAND_IN = 0xFFFE  # a noncharacter of the same length
_FOREIGN = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]")
"""A mark's number has a bit for each of the first four; `_TEXT` says that the line's start or end is the file's. A start and an end in the
same gap (an empty line) share that bit, which is only right for an empty file: an empty line is no hit, so it does not matter."""


def marked_pattern(tree: Node, *, folds: bool) -> str:
    """The pattern over marked text."""

    def atom(node: Char | CharSet | Dot) -> str:
        if isinstance(node, Dot):
            text = f"[^{_ALL}]" if node.takes_newline else f"[^\\n{_ALL}]"
        elif isinstance(node, Char):
            text = char_text(node.code)
        else:
            text = print_set(_apart(node), UNICODE_ITEMS, _ALL)
        if node.__class__ is not Dot and getattr(node, "folds", folds) != folds:
            text = f"(?i:{text})" if not folds else f"(?-i:{text})"
        return f"(?:{_SKIP}{text})"

    return print_with(tree, atom, _class_of)


def copies_needed(tree: Node) -> int:
    """How often each mark must stand in its gap."""
    return sum(isinstance(node, Assertion) for node in walk(tree))


def _class_of(place: Place) -> str:
    marks = "".join(f"\\x{{{FIRST + number:x}}}" for number in range(32) if _HOLDS[place](number))
    return f"[{marks}]"


_HOLDS: dict[Place, Callable[[int], bool]] = {
    Place.LINE_START: lambda mark: bool(mark & _STARTS),
    Place.LINE_END: lambda mark: bool(mark & _ENDS),
    Place.TEXT_START: lambda mark: bool(mark & _STARTS and mark & _TEXT),
    Place.TEXT_END: lambda mark: bool(mark & _ENDS and mark & _TEXT),
    Place.EDGE: lambda mark: bool(mark & _WORD_BEFORE) != bool(mark & _WORD_AFTER),
    Place.NO_EDGE: lambda mark: bool(mark & _WORD_BEFORE) == bool(mark & _WORD_AFTER),
    Place.AFTER_NO_WORD: lambda mark: not mark & _WORD_BEFORE,
    Place.BEFORE_NO_WORD: lambda mark: not mark & _WORD_AFTER,
}


def _apart(node: CharSet) -> CharSet:
    """The class with its ranges cut around the marks."""
    items: list[Range | Named] = []
    for item in node.items:
        if isinstance(item, Range) and not node.is_negated and item.low <= LAST and item.high >= FIRST:
            if item.low < FIRST:
                items.append(Range(item.low, FIRST - 1))
            if item.high > LAST:
                items.append(Range(LAST + 1, min(item.high, MAX_CODE)))
        else:
            items.append(item)
    return CharSet(tuple(items), node.is_negated, node.folds)


class MarkedText:
    """A text with its marks, and the way back from places in it."""

    def __init__(
        self, text: bytes, copies: int, *, starts_file: bool, ends_file: bool, is_word: Callable[[str], bool]
    ) -> None:
        # Invalid bytes become surrogates here and invalid again below: they match nothing, as in RE2 itself.
        decoded = _FOREIGN.sub(chr(STAND_IN), text.decode("utf-8", "surrogateescape"))
        words = [char.isalnum() or char == "_" if char.isascii() else is_word(char) for char in decoded]
        gaps = [
            _WORD_BEFORE * before + _WORD_AFTER * after
            for before, after in zip([False, *words], [*words, False], strict=True)
        ]
        gaps[0] |= _STARTS | _TEXT * starts_file
        gaps[-1] |= _ENDS | _TEXT * ends_file
        newline = decoded.find("\n")
        while newline >= 0:
            gaps[newline] |= _ENDS
            gaps[newline + 1] |= _STARTS
            newline = decoded.find("\n", newline + 1)
        marks = [mark * copies for mark in _MARKS]
        chars = [char.encode("utf-8", "surrogateescape") for char in decoded]
        pieces = [b""] * (2 * len(chars) + 1)
        pieces[0::2] = map(marks.__getitem__, gaps)
        pieces[1::2] = chars
        self.data = b"".join(pieces)
        self._widths = list(map(len, chars))
        self._mark_bytes = len(marks[0])
        self._ends = list(itertools.accumulate(width + self._mark_bytes for width in self._widths))

    def spans_of(self, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Ranges of the marked text as ranges of the text, both in bytes and in order; the marks at their ends fall away."""
        ends, widths, mark_bytes = self._ends, self._widths, self._mark_bytes
        spans = []
        for start, end in found:
            first = bisect_right(ends, start)
            if first < len(ends) and ends[first] - widths[first] < start:
                first += 1
            last = bisect_right(ends, end) - 1
            if first <= last:
                begin = ends[first] - widths[first] - (first + 1) * mark_bytes
                spans.append((begin, ends[last] - (last + 1) * mark_bytes))
        return spans
