"""A pattern as a tree, and what can be told from it without matching: whether it can match nothing, how it begins and ends.

The tree has no captures, since nobody asks for them, and no flags: each character says whether its case counts.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

NEWLINE = 10
RETURN = 13
MAX_CODE = 0x10FFFF
MIN_INNER_CHARS = 4
MAX_INNER_TEXTS = 6


class Place(enum.Enum):
    """Where an assertion holds. A line is a text of its own; `TEXT_…` are the file's ends."""

    LINE_START = "^"
    LINE_END = "$"
    TEXT_START = "\\A"
    TEXT_END = "\\z"
    EDGE = "\\b"
    NO_EDGE = "\\B"
    AFTER_NO_WORD = "no word character before"
    BEFORE_NO_WORD = "no word character after"


@dataclass(frozen=True, slots=True)
class Char:
    """One character; with `folds` in any case."""

    code: int
    folds: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """The characters from `low` to `high`, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Named:
    r"""A class by its name: `w`, `d`, `s`, `[:alpha:]` (as `:alpha:`) or a Unicode property (as `p{Greek}`)."""

    name: str
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class CharSet:
    """One character out of a class."""

    items: tuple[Range | Named, ...]
    is_negated: bool = False
    folds: bool = False


@dataclass(frozen=True, slots=True)
class Dot:
    """Any character; the newline only if `takes_newline`."""

    takes_newline: bool = False


@dataclass(frozen=True, slots=True)
class Assertion:
    place: Place


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first option that leads to a match is taken."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`high` is None when there is no upper limit."""

    inner: Node
    low: int
    high: int | None
    is_lazy: bool = False


Atom = Char | CharSet | Dot
Node = Atom | Assertion | Sequence | Choice | Repeat

EMPTY = Sequence(())


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it."""
    yield node
    if isinstance(node, Sequence):
        for part in node.parts:
            yield from walk(part)
    elif isinstance(node, Choice):
        for option in node.options:
            yield from walk(option)
    elif isinstance(node, Repeat):
        yield from walk(node.inner)


def is_nullable(node: Node) -> bool:
    """Whether it can match the empty text somewhere."""
    match node:
        case Sequence(parts):
            return all(is_nullable(part) for part in parts)
        case Choice(options):
            return any(is_nullable(option) for option in options)
        case Repeat(inner, low, _, _):
            return low == 0 or is_nullable(inner)
        case Assertion():
            return True
        case _:
            return False


def literal_of(node: Node) -> str | None:
    """The text that the pattern stands for, when it stands for exactly one; None otherwise."""
    parts = node.parts if isinstance(node, Sequence) else (node,)
    chars = []
    for part in parts:
        if not isinstance(part, Char) or (part.folds and _has_case(chr(part.code))):
            return None
        chars.append(chr(part.code))
    return "".join(chars) or None


def folded_literal_of(node: Node) -> str | None:
    """The ASCII text, in lower case, that the pattern stands for in any case; None for any other pattern."""
    parts = node.parts if isinstance(node, Sequence) else (node,)
    chars = []
    for part in parts:
        if not isinstance(part, Char) or not part.folds or not 0 < part.code < 0x80:
            return None
        chars.append(chr(part.code).lower())
    return "".join(chars) or None


def literals_of(node: Node) -> list[str]:
    """The texts of ASCII, all in their own case, of which the pattern stands for the first that is there; empty for any other pattern."""
    if not isinstance(node, Choice) or len(node.options) > MAX_INNER_TEXTS:
        return []
    texts = [literal_of(option) or "" for option in node.options]
    return texts if all(text and text.isascii() and not set(text) & {"\n", "\r"} for text in texts) else []


def inner_texts(node: Node) -> tuple[tuple[str, ...], bool] | None:
    """Texts of ASCII, of which every match holds one, and whether their case is ignored; each of at least 4 characters.

    None where RE2 is as quick by itself: it looks for a text at the beginning of a pattern with all its power, and for one further in, or
    for several, at every byte.
    """
    if isinstance(node, Choice):
        if len(node.options) > MAX_INNER_TEXTS:
            return None
        runs = [_longest_run(option) for option in node.options]
    else:
        longest = _longest_run(node)
        first = node.parts[: len(longest)] if isinstance(node, Sequence) else (node,)
        if tuple(longest) == first:
            return None
        runs = [longest]
    if not all(len(run) >= MIN_INNER_CHARS and run[0].folds == runs[0][0].folds for run in runs):
        return None
    return tuple("".join(chr(char.code) for char in run) for run in runs), runs[0][0].folds


def _longest_run(node: Node) -> list[Char]:
    """The longest text of ASCII that every match holds."""
    parts = node.parts if isinstance(node, Sequence) else (node,)
    runs: list[list[Char]] = [[]]
    for part in parts:
        if not isinstance(part, Char) or part.code >= 0x80 or part.code == NEWLINE:
            runs.append([])
        elif runs[-1] and runs[-1][-1].folds != part.folds:
            runs.append([part])
        else:
            runs[-1].append(part)
    return max(runs, key=len)


def _has_case(char: str) -> bool:
    return char.lower() != char or char.upper() != char


class Border(enum.Enum):
    """What the first or last characters of all matches are, as far as ASCII goes."""

    WORD = "word characters"
    OTHER = "other characters"
    MIXED = "either"


def border(node: Node, *, is_first: bool) -> Border:
    """The kind of the first (or last) character that the pattern takes. For a nullable pattern the answer is `MIXED`."""
    found = set(_border_kinds(node, is_first))
    return found.pop() if len(found) == 1 and not is_nullable(node) else Border.MIXED


def _border_kinds(node: Node, is_first: bool) -> Iterator[Border]:
    match node:
        case Char(code, _):
            yield Border.WORD if chr(code).isalnum() or code == ord("_") else Border.OTHER
        case CharSet(items, is_negated, _):
            yield _set_kind(items, is_negated)
        case Dot():
            yield Border.MIXED
        case Sequence(parts):
            for part in parts if is_first else reversed(parts):
                yield from _border_kinds(part, is_first)
                if not is_nullable(part):
                    return
        case Choice(options):
            for option in options:
                yield from _border_kinds(option, is_first)
        case Repeat(inner, _, _, _):
            yield from _border_kinds(inner, is_first)
        case Assertion():
            return


def _set_kind(items: tuple[Range | Named, ...], is_negated: bool) -> Border:
    if is_negated:
        return Border.MIXED
    kinds = set()
    for item in items:
        if isinstance(item, Named):
            is_word = item.name in ("w", "d") and not item.is_negated
            is_other = (item.name == "s" and not item.is_negated) or (item.name == "w" and item.is_negated)
            kinds.add(Border.WORD if is_word else Border.OTHER if is_other else Border.MIXED)
        elif item.high - item.low > 200:
            kinds.add(Border.MIXED)
        else:
            codes = range(item.low, item.high + 1)
            kinds |= {Border.WORD if chr(code).isalnum() or code == ord("_") else Border.OTHER for code in codes}
    return kinds.pop() if len(kinds) == 1 else Border.MIXED


def sequence(parts: list[Node]) -> Node:
    """Parts one after the other, flat."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Sequence) else (part,))
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def choice(options: list[Node]) -> Node:
    return options[0] if len(options) == 1 else Choice(tuple(options))


def without_empty(node: Node) -> Node | None:
    """The pattern that matches what `node` matches, but never the empty text; None when nothing is left.

    `x*` becomes `x+`, `^x*` becomes `^x+`, `(a|)b?` becomes `ab?|b`. A pattern that cannot match nothing is itself.
    """
    if not is_nullable(node):
        return node
    match node:
        case Choice(options):
            kept = [rest for option in options if (rest := without_empty(option)) is not None]
            return choice(kept) if kept else None
        case Sequence(parts):
            kept = []
            for index, part in enumerate(parts):
                rest = without_empty(part)
                if rest is not None:
                    before = [_only_empty(earlier) for earlier in parts[:index]]
                    kept.append(sequence([*before, rest, *parts[index + 1 :]]))
            return choice(kept) if kept else None
        case Repeat(inner, low, high, is_lazy):
            rest = without_empty(inner)
            if rest is None or high == 0:
                return None
            left = None if high is None else high - 1
            if not is_nullable(inner):
                return Repeat(inner, 1, high, is_lazy)
            first = sequence([rest, Repeat(inner, max(0, low - 1), left, is_lazy)])
            if low < 2:
                return first
            later = sequence([_only_empty(inner), rest, Repeat(inner, 0, None if high is None else high - 2, is_lazy)])
            return choice([first, later])
        case _:
            return None


def _only_empty(node: Node) -> Node:
    """What remains of a nullable pattern when it takes no character: its assertions."""
    match node:
        case Assertion():
            return node
        case Sequence(parts):
            return sequence([_only_empty(part) for part in parts])
        case Choice(options):
            kept = [_only_empty(option) for option in options if is_nullable(option)]
            return EMPTY if EMPTY in kept else choice(kept)
        case Repeat(inner, low, _, _):
            return EMPTY if low == 0 else _only_empty(inner)
        case _:
            raise AssertionError(node)


def file_edges(node: Node) -> Node | None:
    """For a pattern that matches only the empty text, and only at an end of the file (`\\z`): its assertions. None for any other."""
    if without_empty(node) is not None or not is_nullable(node):
        return None
    rest = _only_empty(node)
    return rest if _needs_file_edge(rest) else None


def _needs_file_edge(node: Node) -> bool:
    match node:
        case Assertion(place):
            return place in (Place.TEXT_START, Place.TEXT_END)
        case Sequence(parts):
            return any(_needs_file_edge(part) for part in parts)
        case Choice(options):
            return all(_needs_file_edge(option) for option in options)
        case Repeat(inner, low, _, _):
            return low > 0 and _needs_file_edge(inner)
        case _:
            return False
