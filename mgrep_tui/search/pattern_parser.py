r"""The text of a pattern becomes a tree, or an error with its place.

The syntax is RE2's, with these additions: `\uXXXX`, `\UXXXXXXXX`, `\Z` for `\z`, a repeat of a repeat (`a**`), long names of Unicode
categories. Captures are groups. What RE2 cannot do (look-around, back-references, atomic groups, possessive repeats, `(?x)`, repeats
over 1,000) is parsed for its brackets and reported as `beyond`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mgrep_tui.errors import QueryError
from mgrep_tui.search.pattern_tree import (
    EMPTY,
    MAX_CODE,
    NEWLINE,
    RETURN,
    Assertion,
    Char,
    CharSet,
    Choice,
    Dot,
    Named,
    Node,
    Place,
    Range,
    Repeat,
    sequence,
)

MAX_DEPTH = 200
MAX_REPEAT = 1000

_CONTROL = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ASSERTIONS = {"A": Place.TEXT_START, "z": Place.TEXT_END, "Z": Place.TEXT_END, "b": Place.EDGE, "B": Place.NO_EDGE}
_BEYOND_ESCAPES = {
    "K": "\\K",
    "G": "\\G",
    "R": "\\R",
    "X": "\\X",
    "h": "\\h",
    "H": "\\H",
    "k": "a back-reference",
    "g": "a back-reference",
}
_COUNT = re.compile(r"\{(\d{1,9})(?:(,)(\d{0,9}))?\}")
_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_NAME = re.compile(r"\?P?<([^\W\d]\w*)>")
_POSIX = re.compile(r"\[:(\^?)(alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]")
_POSIX_LIKE = re.compile(r"\[:\^?\w*:\]")
_PROPERTY = re.compile(r"(\^?)([A-Za-z_ -]+)")
_LOOKS = {"?=": "look-ahead", "?!": "look-ahead", "?<=": "look-behind", "?<!": "look-behind", "?>": "an atomic group"}
_LONG_PROPERTIES = {
    "alphabetic": "L",
    "letter": "L",
    "lowercase": "Ll",
    "lowercaseletter": "Ll",
    "mark": "M",
    "number": "N",
    "decimalnumber": "Nd",
    "punctuation": "P",
    "symbol": "S",
    "separator": "Z",
    "uppercase": "Lu",
    "uppercaseletter": "Lu",
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed pattern. With `beyond` (what RE2 cannot do, as a phrase) the tree only tells of letters, not of matches."""

    tree: Node
    beyond: str = ""
    has_literal: bool = False  # some character stands for itself
    has_capital: bool = False  # a literal capital is in it; escapes such as \S do not count
    has_newline: bool = False  # it names the newline
    has_return: bool = False  # it names the carriage return


@dataclass(slots=True)
class _Flags:
    folds: bool
    takes_newline: bool = False
    is_lazy: bool = False

    def copy(self) -> _Flags:
        return _Flags(self.folds, self.takes_newline, self.is_lazy)


def parse_pattern(source: str, *, folds: bool = False) -> Parsed:
    """Read a pattern. Pure. Raises `QueryError` with the place in `source`."""
    parser = _Parser(source)
    tree = parser.choice(_Flags(folds), 0)
    if parser.at < len(source):
        raise QueryError("There is no “(” for this “)”.", parser.at)
    return Parsed(
        tree, parser.beyond, bool(parser.named), parser.has_capital, NEWLINE in parser.named, RETURN in parser.named
    )


def literal_pattern(text: str, *, folds: bool = False) -> Parsed:
    """The pattern that matches exactly this text."""
    tree = sequence([Char(ord(char), folds) for char in text]) if text else EMPTY
    return Parsed(
        tree,
        "",
        bool(text),
        any(char.isupper() for char in text),
        "\n" in text,
        "\r" in text,
    )


@dataclass(slots=True)
class _Parser:
    source: str
    at: int = 0
    beyond: str = ""
    has_capital: bool = False
    named: set[int] = field(default_factory=set)

    def choice(self, flags: _Flags, depth: int) -> Node:
        """Alternatives up to a closing parenthesis or the end. `flags` change in place, as `(?i)` works to the group's end."""
        options = [self._sequence(flags, depth)]
        while self.source.startswith("|", self.at):
            self.at += 1
            options.append(self._sequence(flags, depth))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self, flags: _Flags, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            begin = self.at
            if self.source.startswith("\\Q", begin):
                parts.extend(self._quoted(flags))
                continue
            part = self._atom(flags, depth)
            if part is None:
                continue
            parts.append(self._repeated(part, flags))
        return sequence(parts) if parts else EMPTY

    def _quoted(self, flags: _Flags) -> list[Node]:
        end = self.source.find("\\E", self.at + 2)
        text = self.source[self.at + 2 : end if end >= 0 else len(self.source)]
        self.at = end + 2 if end >= 0 else len(self.source)
        return [self._char(ord(char), flags) for char in text]

    def _char(self, code: int, flags: _Flags) -> Char:
        self._note(code)
        return Char(code, flags.folds)

    def _note(self, code: int) -> None:
        self.has_capital = self.has_capital or chr(code).isupper()
        self.named.add(code)

    # --- repeats

    def _repeated(self, node: Node, flags: _Flags) -> Node:
        while self.at < len(self.source):
            limits = self._limits()
            if limits is None:
                return node
            low, high, begin = limits
            if high is not None and high < low:
                raise QueryError("The repeat's second number is smaller than its first.", begin)
            if max(low, high or 0) > MAX_REPEAT:
                self.beyond = self.beyond or f"a repeat over {MAX_REPEAT:,}"
            is_lazy = flags.is_lazy
            if self.source.startswith("?", self.at):
                self.at += 1
                is_lazy = not is_lazy
            elif self.source.startswith("+", self.at):
                self.at += 1
                self.beyond = self.beyond or "a possessive repeat"
            node = Repeat(node, low, high, is_lazy)
        return node

    def _limits(self) -> tuple[int, int | None, int] | None:
        begin = self.at
        char = self.source[begin]
        if char in "*+?":
            self.at += 1
            return (1 if char == "+" else 0, 1 if char == "?" else None, begin)
        found = _COUNT.match(self.source, begin) if char == "{" else None
        if found is None:
            return None
        self.at = found.end()
        low = int(found.group(1))
        high = low if found.group(2) is None else int(found.group(3)) if found.group(3) else None
        return low, high, begin

    # --- atoms

    def _atom(self, flags: _Flags, depth: int) -> Node | None:
        begin = self.at
        char = self.source[begin]
        if char in "*+?" or (char == "{" and _COUNT.match(self.source, begin)):
            raise QueryError(
                "There is nothing to repeat here.", begin, "Write \\" + char + " for the character itself."
            )
        self.at += 1
        match char:
            case "(":
                return self._group(flags, depth, begin)
            case "[":
                return self._set(flags, begin)
            case ".":
                return Dot(flags.takes_newline)
            case "^":
                return Assertion(Place.LINE_START)
            case "$":
                return Assertion(Place.LINE_END)
            case "\\":
                found = self._escape(begin, in_set=False)
                if isinstance(found, int):
                    return self._char(found, flags)
                if isinstance(found, Named):
                    return CharSet((found,), False, flags.folds)
                return Assertion(found) if isinstance(found, Place) else EMPTY
            case _:
                return self._char(ord(char), flags)

    def _group(self, flags: _Flags, depth: int, begin: int) -> Node | None:
        if depth >= MAX_DEPTH:
            raise QueryError("The pattern is nested too deeply.", begin)
        inner = flags.copy()
        if self.source.startswith("?", self.at):
            opened = self._special_group(flags, inner, begin)
            if not opened:
                return None
        node = self.choice(inner, depth + 1)
        if not self.source.startswith(")", self.at):
            raise QueryError("This “(” is not closed.", begin, "Write \\( for the character itself.")
        self.at += 1
        return node

    def _special_group(self, flags: _Flags, inner: _Flags, begin: int) -> bool:
        """Read what follows `(?`; False when that was all of the group."""
        source, at = self.source, self.at
        for mark in ("?<=", "?<!", "?=", "?!", "?>"):
            if source.startswith(mark, at):
                self.beyond = self.beyond or _LOOKS[mark]
                self.at += len(mark)
                return True
        if source.startswith("?#", at):
            end = source.find(")", at)
            if end < 0:
                raise QueryError("This comment is not closed.", begin)
            self.at = end + 1
            return False
        if source.startswith(("?P=", "?(", "?P>", "?&", "?R)", "?|"), at):
            self.beyond = "a back-reference" if source.startswith("?P=", at) else "a conditional or recursive group"
            self.at += 2
            if source.startswith("(", at + 1):
                self.at = max(source.find(")", at), at + 1) + 1
            return True
        if name := _NAME.match(source, at):
            self.at = name.end()
            return True
        found = _FLAGS.match(source, at)
        if found is None:
            raise QueryError(
                "This group is not understood.", begin, "Write (?:…) for a plain group, \\( for the character itself."
            )
        target = inner if found.group(3) == ":" else flags
        for letters, value in ((found.group(1), True), (found.group(2) or "", False)):
            for letter in letters:
                self._set_flag(target, letter, value, begin)
        self.at = found.end()
        return found.group(3) == ":"

    def _set_flag(self, flags: _Flags, letter: str, value: bool, begin: int) -> None:
        match letter:
            case "i":
                flags.folds = value
            case "s":
                flags.takes_newline = value
            case "U":
                flags.is_lazy = value
            case "m" | "u":
                pass  # lines and Unicode always count
            case "x":
                if value:
                    self.beyond = self.beyond or "(?x)"
            case _:
                raise QueryError(f"There is no flag “{letter}”.", begin)

    # --- escapes and sets

    def _escape(self, begin: int, *, in_set: bool) -> int | Named | Place | None:
        """What a backslash at `begin` stands for: a character's code, a class, a place, or None for what is beyond RE2."""
        source = self.source
        if self.at >= len(source):
            raise QueryError("A backslash needs something after it.", begin, "Write \\\\ for the character itself.")
        char = source[self.at]
        self.at += 1
        if char in _CONTROL:
            return _CONTROL[char]
        if char in "dDwWsS":
            return Named(char.lower(), char.isupper())
        if char in "pP":
            return self._property(char == "P", begin)
        if char in "xuU":
            return self._hex(char, begin)
        if char == "0" or (char in "1234567" and self.at < len(source) and source[self.at] in "01234567"):
            digits = re.compile(r"[0-7]{1,3}").match(source, self.at - 1)
            assert digits is not None
            self.at = digits.end()
            return int(digits.group(), 8)
        if char.isascii() and char.isalnum():
            if in_set and char == "b":
                return 8
            if not in_set and char in _ASSERTIONS:
                return _ASSERTIONS[char]
            if not in_set and (char.isdigit() or char in _BEYOND_ESCAPES):
                self.beyond = self.beyond or _BEYOND_ESCAPES.get(char, "a back-reference")
                return None
            raise QueryError(f"There is no escape \\{char}.", begin, "Write \\\\ for a backslash.")
        return ord(char)

    def _hex(self, char: str, begin: int) -> int:
        width = {"x": 2, "u": 4, "U": 8}[char]
        found = re.compile(rf"\{{([0-9A-Fa-f]{{1,8}})\}}|([0-9A-Fa-f]{{{width}}})").match(self.source, self.at)
        if found is None:
            raise QueryError(f"\\{char} needs {width} hexadecimal digits, or some in braces.", begin)
        self.at = found.end()
        code = int(found.group(1) or found.group(2), 16)
        if code > MAX_CODE or 0xD800 <= code < 0xE000:
            raise QueryError("There is no such character.", begin)
        return code

    def _property(self, is_negated: bool, begin: int) -> Named:
        source = self.source
        if source.startswith("{", self.at):
            end = source.find("}", self.at)
            if end < 0:
                raise QueryError("This property's name is not closed.", begin)
            name = source[self.at + 1 : end]
            self.at = end + 1
        else:
            name = source[self.at : self.at + 1]
            self.at += 1
        found = _PROPERTY.fullmatch(name)
        if found is None:
            raise QueryError("\\p needs the name of a property, such as \\p{Greek} or \\pL.", begin)
        short = _LONG_PROPERTIES.get(re.sub(r"[_ -]", "", found.group(2)).lower(), found.group(2))
        return Named(f"p{{{short}}}", is_negated != bool(found.group(1)))

    def _set(self, flags: _Flags, begin: int) -> CharSet:
        source = self.source
        is_negated = source.startswith("^", self.at)
        self.at += is_negated
        items: list[Range | Named] = []
        is_first = True
        while True:
            if self.at >= len(source):
                raise QueryError("This “[” is not closed.", begin, "Write \\[ for the character itself.")
            if source[self.at] == "]" and not is_first:
                self.at += 1
                return CharSet(tuple(items), is_negated, flags.folds)
            is_first = False
            if posix := _POSIX.match(source, self.at):
                self.at = posix.end()
                items.append(Named(f":{posix.group(2)}:", bool(posix.group(1))))
                continue
            if unknown := _POSIX_LIKE.match(source, self.at):
                raise QueryError(f"There is no class {unknown.group()}.", self.at)
            items.append(self._set_item())

    def _set_item(self) -> Range | Named:
        begin = self.at
        low = self._set_char()
        if isinstance(low, Named):
            return low
        source = self.source
        high = low
        if source.startswith("-", self.at) and self.at + 1 < len(source) and source[self.at + 1] != "]":
            self.at += 1
            upper = self._set_char()
            if isinstance(upper, Named):
                raise QueryError("A range cannot end with a class.", begin)
            high = upper
            if high < low:
                raise QueryError("This range runs backwards.", begin)
        self._note(high)
        self._note(low)
        return Range(low, high)

    def _set_char(self) -> int | Named:
        begin = self.at
        self.at += 1
        if self.source[begin] != "\\":
            return ord(self.source[begin])
        found = self._escape(begin, in_set=True)
        assert isinstance(found, int | Named)
        return found
