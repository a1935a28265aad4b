"""What a file defines although it is broken: every block of lines is read on its own, so that a fault ends where its block ends.

A parser that meets a missing brace or a string without an end takes what follows for the inside of the fault, often down to the end of the
file. People indent what they write: a line at the left edge behind a blank or a closing line begins something new whatever the brackets
say. So a damaged file is cut at such lines, and each block is parsed alone; one that is broken and holds further blocks (a class and its
methods) is cut again a level deeper, every inner block then standing between the outer one's first and last lines.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tree_sitter import Node, Tree

from mgrep_tui.chunking.definitions import (
    FUNCTION_KINDS,
    Definition,
    Matches,
    Outline,
    find_matches,
    outline_of,
    walk,
)
from mgrep_tui.chunking.grammar import ParseRefused, parse
from mgrep_tui.chunking.rules import Rules

# An error node over more lines than this has swallowed something; smaller ones (a macro in C) harm nobody.
_SWALLOWED_LINES = 5

# What the parser misses when a block was not closed.
_CLOSERS = frozenset({"}", ")", "]", "end", "dedent", "fi", "done", "esac"})

# Levels of blocks within blocks, and lines in front of the first inner one.
_MAX_LEVELS = 4
_MAX_HEAD_LINES = 60

# Lines that go on with a block although they stand at its edge: closers, branches, labels, preprocessor lines.
_GOES_ON = re.compile(
    rb"[)}\]{>]|(?:end|else|elif|elsif|elseif|except|finally|catch|rescue|ensure|fi|done|esac|when|then|do|begin|in|and|where|with)\b"
    rb"|(?:public|private|protected|case\b[^:]*)\s*:(?!:)|\w+:\s*$|#\s*(?:el|endif)|[*/]?\*/"
)
# Where a function is asked whether it swallowed something, comments and directives at the edge are no sign.
_COMMENT = re.compile(rb"#|//|/?\*")
_SAYS_NOTHING = re.compile(rb"#|//|/?\*|" + _GOES_ON.pattern)
_CLOSES = re.compile(rb"(?:[)}\]]+|end|fi|done|esac)(?!\w)[;,.)\s]*(?:#.*|//.*|--.*)?$")
_CONDITIONS = re.compile(rb"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b[^\n]*", re.MULTILINE)
_SIGNATURE_ENDS = (b"(", b",", b"[", b"<")
_COMMENTS = (b"*", b"/*", b"//", b"--")

# Languages whose blocks end with a word, what opens one, and what ends it.
_ENDED = frozenset({"ruby", "elixir", "lua", "julia"})
_BEGINS = re.compile(
    rb"^[ \t]*(?:class|module|def|begin|function|macro|struct|mutable struct|if|unless|case|while|for|let|quote)\b(?![^\n]*\bend\b)"
    rb"|\bdo\b[ \t]*(?:\|[^|\n]*\|)?[ \t]*$|=[ \t]*function\b(?![^\n]*\bend\b)",
    re.MULTILINE,
)
_ENDS = re.compile(rb"^[ \t]*end\b", re.MULTILINE)

# Lines of `#if` and its like are blanked: what they leave out on one side is code as well.
_PREPROCESSED = frozenset({"c", "cpp", "csharp"})

# Languages in which half of all files hold some small error, since macros are no syntax.
_MACROS = frozenset({"c", "cpp"})

_MARKER = re.compile(rb"^(?:<{7}(?: [^\n]*)?|\|{7}(?: [^\n]*)?|={7}|>{7}(?: [^\n]*)?)$", re.MULTILINE)


def without_conflicts(buffer: bytes) -> bytes:
    """The buffer with the markers of a merge conflict blanked, so that both sides are read as code; same length, same lines."""
    if b"<<<<<<<" not in buffer or b">>>>>>>" not in buffer or b"\n=======\n" not in buffer:
        return buffer
    return _MARKER.sub(lambda match: b" " * len(match.group()), buffer)


def is_damaged(tree: Tree, buffer: bytes, rules: Rules, outline: Outline) -> bool:
    """Whether the parser lost its way over more than a place or two: much in an error, a closer missing, a function that goes on where
    the lines say that something new begins, or neighbours of different depths."""
    root = tree.root_node
    if not root.has_error:
        return False
    if root.is_error:
        return True
    has_macros = rules.language in _MACROS
    for node in _faults(tree):
        if node.is_missing:
            if node.type == "}" or (node.type in _CLOSERS and not has_macros):
                return True
        elif node.end_point.row - node.start_point.row > _SWALLOWED_LINES:
            return True
    lines = buffer.split(b"\n")
    return any(
        (item.kind in FUNCTION_KINDS and _swallows(lines, item)) or _are_askew(lines, item.children)
        for item in walk(outline.roots)
    ) or _are_askew(lines, outline.roots)


def _faults(tree: Tree) -> Iterator[Node]:
    """The outermost nodes that are errors, or missing in the text."""
    stack = [tree.root_node]
    while stack:
        for child in stack.pop().children:
            if child.is_missing or child.is_error:
                yield child
            elif child.has_error:
                stack.append(child)


def _swallows(lines: list[bytes], item: Definition) -> bool:
    """Whether something begins within a function, behind a blank line, at the function's own edge or left of it."""
    edge = _indent(lines[item.first_row])
    is_behind_blank = False
    for line in lines[item.first_row + 1 : item.last_row + 1]:
        indent = _indent(line)
        if 0 <= indent <= edge and is_behind_blank and not _SAYS_NOTHING.match(line, indent):
            return True
        is_behind_blank = indent < 0 or (is_behind_blank and bool(_COMMENT.match(line, indent)))
    return False


def _are_askew(lines: list[bytes], siblings: list[Definition]) -> bool:
    """Whether neighbours do not begin at one edge: one of them stands in what the other one should hold."""
    return len({_indent(lines[item.first_row]) for item in siblings if not item.is_minor}) > 1


def _indent(line: bytes) -> int:
    """White space in front of a line; -1 of a blank one."""
    text = line.lstrip()
    return len(line) - len(text) if text else -1


def sound_outline(tree: Tree, buffer: bytes, rules: Rules, whole: Outline, timeout_s: float) -> Outline:
    """The definitions of a damaged file, block by block; `whole` (of the file read in one) where that knows more.

    Ends with what is known after `timeout_s`. Where macros make faults in half of all files, only the blocks that hold one are read again.
    """
    text = buffer
    if rules.language in _PREPROCESSED:
        text = _CONDITIONS.sub(lambda match: b" " * len(match.group()), buffer)
    reading = _Reading(text.split(b"\n"), rules, time.process_time() + timeout_s)
    blocks = reading.blocks(0, len(reading.lines) - 1, 0)
    faulty = set(range(len(blocks)))
    if rules.language in _MACROS:
        faulty = _faulty_blocks(tree, whole, blocks)
        reading.keep(find_matches(tree, buffer, rules), [block for at, block in enumerate(blocks) if at not in faulty])
    # PHP is code only behind its opening tag.
    is_template = rules.language == "php" and reading.lines[0].startswith(b"<?php")
    try:
        for at in sorted(faulty):
            first, last = blocks[at]
            reading.take(_Frame((0,) if is_template and first else (), (), 1), first, last)
    except ParseRefused:
        return whole
    found = outline_of(reading.matches(), rules)
    mine = sum(1 for _ in walk(found.roots))
    return found if mine >= sum(1 for _ in walk(whole.roots)) else whole


def _faulty_blocks(tree: Tree, whole: Outline, blocks: list[tuple[int, int]]) -> set[int]:
    """The numbers of the blocks that hold a fault, or a part of something that reaches over several blocks."""
    starts = [first for first, _ in blocks]
    spans = [(node.start_point.row, node.end_point.row, False) for node in _faults(tree)]
    spans += [(item.first_row, item.last_row, True) for item in walk(whole.roots)]
    faulty: set[int] = set()
    for first, last, is_definition in spans:
        low, high = bisect_right(starts, first) - 1, bisect_right(starts, last) - 1
        if low < high or not is_definition:
            faulty.update(range(low, high + 1))
    return faulty


@dataclass(frozen=True, slots=True)
class _Frame:
    """What an inner block stands in: rows of the enclosing blocks, before and behind it."""

    heads: tuple[int, ...]
    tails: tuple[int, ...]
    level: int


class _Reading:
    """The reading of one file, block by block."""

    def __init__(self, lines: list[bytes], rules: Rules, deadline: float) -> None:
        self.lines = lines
        self.rules = rules
        self.deadline = deadline
        self.starts = list(accumulate([len(line) + 1 for line in lines], initial=0))
        self.indents = [_indent(line) for line in lines]
        self.inside_comment = self.comment_rows()
        self.found = Matches()
        self.open: list[Definition] = []  # namespaces whose end is not seen yet

    def comment_rows(self) -> set[int]:
        """The rows within block comments but for their first ones."""
        rows: set[int] = set()
        if self.rules.block is None:
            return rows
        opener, closer = self.rules.block[0].encode(), self.rules.block[1].encode()
        is_open = False
        for row, line in enumerate(self.lines):
            if is_open:
                rows.add(row)
                is_open = closer not in line
            elif line.startswith(opener, max(0, self.indents[row])):
                is_open = closer not in line[self.indents[row] + len(opener) :]
        return rows

    def blocks(self, first: int, last: int, indent: int) -> list[tuple[int, int]]:
        """The rows first..last in stretches: each begins at the edge, behind a blank line or a closing one, with something new."""
        is_preprocessed = self.rules.language in _PREPROCESSED
        starts = [first]
        for row in range(first + 1, last + 1):
            line = self.lines[row]
            if not 0 <= self.indents[row] <= indent or _GOES_ON.match(line, self.indents[row]):
                continue
            if row in self.inside_comment or (is_preprocessed and line.startswith(b"#", self.indents[row])):
                continue
            before = self.lines[row - 1].lstrip()
            if not before or (self.indents[row - 1] <= indent and _CLOSES.match(before)):
                starts.append(row)
        return [(start, following - 1) for start, following in pairwise([*starts, last + 1])]

    def keep(self, matches: Matches, blocks: list[tuple[int, int]]) -> None:
        """Note of what was found in the whole file what lies in these blocks."""
        rows = {row for first, last in blocks for row in range(first, last + 1)}
        self.note(
            Matches(
                [item for item in matches.items if item[4].first_row in rows],
                [span for span in matches.imports if span[0] in rows],
                {high: low for high, low in matches.leads.items() if low in rows},
            )
        )

    def take(self, frame: _Frame, first: int, last: int) -> None:
        """Note what the rows first..last define; where they are broken, block by block."""
        while first <= last and self.indents[first] < 0:
            first += 1
        while first <= last and self.indents[last] < 0:
            last -= 1
        if first > last or time.process_time() > self.deadline:
            return
        rows = (*frame.heads, *range(first, last + 1), *frame.tails)
        matches, has_error = self.read(rows, first, last)
        if has_error and not (frame.level > 1 and self.is_contained(matches, last)):
            head, inner, tail = self.inside(first, last)
            if frame.level <= _MAX_LEVELS and len(inner) > 1 and head - first < _MAX_HEAD_LINES:
                outer, _ = self.read(
                    (*frame.heads, *range(first, head), *tail, *frame.tails), first, head - 1, closes=True
                )
                for item in outer.items:
                    if item[4].last_row >= head - 1:  # it is what holds the inner blocks
                        self.reach(item[4], last)
                self.note(outer)
                deeper = _Frame((*frame.heads, *range(first, head)), (*tail, *frame.tails), frame.level + 1)
                for low, high in inner:
                    self.take(deeper, low, high)
                return
            matches, _ = self.read(rows, first, last, closes=True)
        if frame.level == 1:
            self.follow_namespaces(matches, first, last)
        self.note(matches)

    def is_contained(self, matches: Matches, last: int) -> bool:
        """Whether the block is one function with its fault inside; where functions hold no others, there is nothing to look for in it."""
        if self.rules.language not in _PREPROCESSED or not matches.items:
            return False
        first = min(matches.items, key=lambda item: item[4].first_row)[4]
        return first.kind in FUNCTION_KINDS and first.last_row == last

    def inside(self, first: int, last: int) -> tuple[int, list[tuple[int, int]], tuple[int, ...]]:
        """Of a block: the row behind its first lines, the blocks within, and the row that closes it."""
        edge = self.indents[first]
        row = first
        before = b""
        while row <= last and (self.indents[row] <= edge or before.endswith(_SIGNATURE_ENDS) or self.is_comment(row)):
            before = self.lines[row].rstrip() or before
            row += 1
        tail = (last,) if self.indents[last] <= edge and _CLOSES.match(self.lines[last].lstrip()) else ()
        end = last - len(tail)
        if row > end:
            return row, [], tail
        return row, self.blocks(row, end, self.indents[row]), tail

    def is_comment(self, row: int) -> bool:
        return self.lines[row].startswith(_COMMENTS, self.indents[row])

    def read(self, rows: tuple[int, ...], first: int, last: int, *, closes: bool = False) -> tuple[Matches, bool]:
        """What these rows, parsed as one text, define within first..last, in rows and bytes of the file; and whether they have errors.
        `closes` adds the closers that they lack."""
        text = b"\n".join([self.lines[row] for row in rows]) + b"\n"
        if closes and (lack := self.lack(text)) > 0:
            text += lack * (b"end\n" if self.rules.language in _ENDED else b"}\n")
        tree = parse(text, self.rules, max(0.01, self.deadline - time.process_time()))
        has_error = tree.root_node.has_error
        starts = list(accumulate([len(self.lines[row]) + 1 for row in rows], initial=0))

        def byte(position: int) -> int:
            at = min(bisect_right(starts, position), len(rows)) - 1
            return self.starts[rows[at]] + position - starts[at]

        def line(row: int) -> int:
            return rows[min(row, len(rows) - 1)]

        read = find_matches(tree, text, self.rules)
        mine = Matches()
        for *_, name_byte, pattern, item in read.items:
            if not first <= line(item.first_row) <= last:
                continue
            item.first_row, item.last_row = line(item.first_row), line(item.last_row)
            item.start_byte, item.end_byte, item.body_byte = map(byte, (item.start_byte, item.end_byte, item.body_byte))
            if item.last_row > last:  # closed by what closes the block around it
                self.reach(item, last)
            mine.items.append((0, 0, byte(name_byte), pattern, item))
        mine.imports = [(line(low), line(high)) for low, high in read.imports if first <= line(low) <= last]
        mine.leads = {line(high): line(low) for high, low in read.leads.items() if first <= line(low) <= last}
        return mine, has_error

    def lack(self, text: bytes) -> int:
        """How many closers the text lacks; negative where it has too many. Those in strings count too, which mostly balance."""
        if self.rules.language in _ENDED:
            return len(_BEGINS.findall(text)) - len(_ENDS.findall(text))
        return text.count(b"{") - text.count(b"}")

    def note(self, matches: Matches) -> None:
        """Keep for the outline what was found."""
        self.found.items += matches.items
        self.found.imports += matches.imports
        self.found.leads.update(matches.leads)

    def follow_namespaces(self, matches: Matches, first: int, last: int) -> None:
        """A namespace whose inside is not indented is a block of its own; it reaches to the line that closes it."""
        text = b"\n".join(self.lines[first : last + 1])
        balance = self.lack(text)
        while balance < 0 and self.open:
            self.reach(self.open.pop(), last)
            balance += 1
        if balance > 0 and (modules := [row[4] for row in matches.items if row[4].kind == "module"]):
            self.open += modules[-balance:]

    def reach(self, item: Definition, last: int) -> None:
        """Let a definition end with a row."""
        item.last_row, item.end_byte = last, self.starts[last + 1] - 1

    def matches(self) -> Matches:
        """All that was noted, ready to be made a tree."""
        while self.open:
            self.reach(self.open.pop(), len(self.lines) - 1)
        self.found.items = [
            (item.start_byte, -item.end_byte, name_byte, pattern, item)
            for _, _, name_byte, pattern, item in self.found.items
        ]
        return self.found
