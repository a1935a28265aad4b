r"""A pattern's tree becomes RE2's syntax again, for one purpose at a time.

- `EXACT_ASCII`: for text that is ASCII, to be compiled as Latin-1. `\w`, `\d`, `\s` and `\b` are then what RE2 has, and `k` and `s` fold
  within ASCII, which lets RE2 look for a literal at full speed.
- `EXACT`: for any line. `\w`, `\d` and `\s` are Unicode's; of assertions only the line's ends can be written.
- `LOOSE`: for any buffer of lines. Assertions that RE2 has not, and the line's end (which a `\r` may hide), are left out, so it finds
  every line that matches and perhaps more.
- `PLAN`: for the planner of the n-gram index, in plain spelling.

`search.marks` has a purpose of its own. In all of them a newline is never taken unless the whole file is matched at once.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable

import re2

from mgrep_tui.search.pattern_tree import (
    MAX_CODE,
    Assertion,
    Border,
    Char,
    CharSet,
    Choice,
    Dot,
    Named,
    Node,
    Place,
    Range,
    Repeat,
    Sequence,
    border,
)

# What Unicode calls alphabetic, marks, decimal digits, connecting punctuation and joiners, as far as RE2 has names for them. The ranges are
# the circled and squared letters, which are alphabetic but symbols.
WORD_ITEMS = r"\pL\pM\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}"
_ITEMS_ASCII = {"w": r"0-9A-Za-z_", "d": "0-9", "s": r"\t-\r "}
UNICODE_ITEMS = {"w": WORD_ITEMS, "d": r"\p{Nd}", "s": r"\t-\r \x{85}\pZ"}
_ITEMS_PLAN = {"w": r"\w", "d": r"\d", "s": r"\s"}


class Purpose(enum.Enum):
    EXACT_ASCII = enum.auto()
    EXACT = enum.auto()
    LOOSE = enum.auto()
    PLAN = enum.auto()


def print_tree(tree: Node, purpose: Purpose, *, folds: bool, keeps_return: bool = False) -> tuple[str, bool]:
    """The pattern's text, and whether it says all of the pattern (False: something was left out, which widens it).

    `folds` is the case option that RE2 will be given; characters that differ from it say so. With `keeps_return` the `\\r` before a
    newline belongs to the line.
    """
    printer = _Printer(tree, purpose, folds, keeps_return)
    return printer.node(tree), printer.is_whole


class _Printer:
    def __init__(self, tree: Node, purpose: Purpose, folds: bool, keeps_return: bool) -> None:
        self._tree = tree
        self._purpose = purpose
        self._folds = folds
        self._keeps_return = keeps_return
        self.is_whole = True

    def node(self, node: Node) -> str:
        return print_with(node, self._atom, self._assertion)

    def _atom(self, atom: Char | CharSet | Dot) -> str:
        if isinstance(atom, Dot):
            return "(?s:.)" if atom.takes_newline else "."
        if self._purpose is Purpose.EXACT_ASCII:
            atom = _within_ascii(atom)
        text = char_text(atom.code) if isinstance(atom, Char) else self._set(atom)
        if atom.folds != self._folds and not (isinstance(atom, Char) and not _has_case(atom.code)):
            return f"(?i:{text})" if atom.folds else f"(?-i:{text})"
        return text

    def _set(self, atom: CharSet) -> str:
        names = {
            Purpose.EXACT_ASCII: _ITEMS_ASCII,
            Purpose.PLAN: _ITEMS_PLAN,
        }.get(self._purpose, UNICODE_ITEMS)
        return print_set(atom, names)

    def _assertion(self, place: Place) -> str:
        if self._purpose is Purpose.PLAN:
            return {Place.LINE_START: "^", Place.LINE_END: "$", Place.EDGE: r"\b", Place.NO_EDGE: r"\B"}.get(place, "")
        if place is Place.LINE_START:
            return "(?m:^)"
        if place is Place.TEXT_START:
            self.is_whole = False
            return "(?m:^)"
        if place is Place.LINE_END:
            if self._purpose is Purpose.LOOSE and not self._keeps_return:
                self.is_whole = False
                return ""
            return r"(?m:\r?$)" if self._keeps_return else "(?m:$)"
        if self._purpose is Purpose.EXACT_ASCII and place in (Place.EDGE, Place.NO_EDGE):
            return r"\b" if place is Place.EDGE else r"\B"
        if self._purpose is Purpose.EXACT_ASCII and place in (Place.AFTER_NO_WORD, Place.BEFORE_NO_WORD):
            kind = border(self._tree, is_first=place is Place.AFTER_NO_WORD)
            if kind is not Border.MIXED:
                return r"\b" if kind is Border.WORD else r"\B"
        self.is_whole = False
        return ""


_FOLDS_TO_ASCII = {0x212A: ord("k"), 0x17F: ord("s")}  # the Kelvin sign and the long s
_NOTHING = Range(0x80, 0x80)


def _within_ascii(atom: Char | CharSet) -> Char | CharSet:
    """The part of an atom that ASCII text can match."""
    if isinstance(atom, Char):
        code = _FOLDS_TO_ASCII.get(atom.code, atom.code) if atom.folds else atom.code
        return Char(code, atom.folds) if code < 0x80 else CharSet((_NOTHING,))
    items: list[Range | Named] = []
    for item in atom.items:
        if isinstance(item, Named):
            items.append(item)
            continue
        if item.low < 0x80:
            items.append(Range(item.low, min(item.high, 0x7F)))
        if atom.folds:
            items += [
                Range(code, code) for foreign, code in _FOLDS_TO_ASCII.items() if item.low <= foreign <= item.high
            ]
    return CharSet(tuple(items) or (_NOTHING,), atom.is_negated, atom.folds)


def print_with(node: Node, atom: Callable[[Char | CharSet | Dot], str], assertion: Callable[[Place], str]) -> str:
    """Print a tree whose leaves are printed by `atom` and `assertion`, each result being one unit or empty."""
    match node:
        case Assertion(place):
            return assertion(place)
        case Sequence(parts):
            return "".join(
                f"(?:{print_with(part, atom, assertion)})"
                if isinstance(part, Choice)
                else print_with(part, atom, assertion)
                for part in parts
            )
        case Choice(options):
            return "|".join(print_with(option, atom, assertion) for option in options)
        case Repeat(inner, low, high, is_lazy):
            text = print_with(inner, atom, assertion)
            if not text or high == 0:
                return ""
            if not isinstance(inner, Char | CharSet | Dot) or len(text) > 1:
                text = f"(?:{text})"
            return text + _limits(low, high) + ("?" if is_lazy else "")
        case _:
            return atom(node)


def _limits(low: int, high: int | None) -> str:
    match (low, high):
        case (0, None):
            return "*"
        case (1, None):
            return "+"
        case (0, 1):
            return "?"
        case (_, None):
            return f"{{{low},}}"
        case _:
            return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def print_set(atom: CharSet, names: dict[str, str], excluded: str = "") -> str:
    """A class in RE2's syntax. `names` spells `w`, `d` and `s` as items; the items `excluded` are in no class.

    RE2 has no intersection, so a class that holds a negated one, such as `[a\\W]`, becomes a choice.
    """
    plain: list[str] = []
    others: list[str] = []
    for item in atom.items:
        text = item_text(item, names)
        if isinstance(item, Named) and item.is_negated:
            others.append(f"[^{text}{excluded}]")
        else:
            plain.append(text)
    if atom.is_negated:
        if not others:
            return f"[^{''.join(plain)}{excluded}]"
        negated = [_negated_item(item, names) for item in atom.items if isinstance(item, Named) and item.is_negated]
        return f"[^{''.join(plain)}{''.join(negated)}{excluded}]"
    choices = ([f"[{''.join(plain)}]"] if plain else []) + others
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"


def item_text(item: Range | Named, names: dict[str, str]) -> str:
    """The item as it stands between brackets, not negated."""
    if isinstance(item, Range):
        low = set_char_text(item.low)
        return low if item.low == item.high else f"{low}-{set_char_text(item.high)}"
    if item.name.startswith(":"):
        return f"[{item.name}]"
    return names.get(item.name, f"\\{item.name}")


def _negated_item(item: Named, names: dict[str, str]) -> str:
    """A negated class as an item of a class, `[^\\W]`. RE2 can write that for single properties and in ASCII only."""
    if item.name.startswith(":"):
        return f"[:^{item.name[1:]}]"
    if item.name not in names:
        return f"\\P{item.name[1:]}"
    if names is UNICODE_ITEMS:
        return _complement(names[item.name])
    return f"\\{item.name.upper()}"


@functools.lru_cache(maxsize=8)
def _complement(items: str) -> str:
    """The ranges of all characters that a class of these items does not have, told by RE2 itself: about 20 ms, once."""
    every = "".join(chr(code) for code in range(MAX_CODE + 1) if not 0xD800 <= code < 0xE000)
    options = re2.Options()
    options.max_mem = 64 << 20
    text = every.encode()
    ranges = []
    for match in re2.compile(f"[^{items}]+".encode(), options).finditer(text):
        found = match.group().decode()
        low, high = ord(found[0]), ord(found[-1])
        # The surrogates are not in the text, so a run may reach over them; they are in no text at all.
        ranges.append(f"\\x{{{low:x}}}-\\x{{{high:x}}}")
    return "".join(ranges)


def char_text(code: int) -> str:
    """One character outside brackets."""
    char = chr(code)
    if char.isalnum() or char == "_" or code > 0xA0:
        return char
    return "\\" + char if 0x20 < code < 0x7F else f"\\x{{{code:x}}}"


def set_char_text(code: int) -> str:
    """One character between brackets."""
    return chr(code) if chr(code).isalnum() and code < 0x7F else f"\\x{{{code:x}}}"


def _has_case(code: int) -> bool:
    char = chr(code)
    return char.lower() != char or char.upper() != char
