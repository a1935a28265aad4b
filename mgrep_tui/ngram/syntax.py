"""Pattern → syntax tree, for planning only: the subset on which RE2, Rust's regex and the backtracking engine agree.

The engines decide what a pattern means and whether it is valid. This parser only has to be sure of what it claims: a part whose
meaning it does not know, but whose end it does, becomes `Unknown` (it may match anything); where even the end is unsure it raises
`NotUnderstood`, as it does for what no engine accepts. Letter case is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

MAX_PATTERN_CHARS = 8_000
MAX_DEPTH = 100
"""Groups inside groups; the tree is walked recursively."""

MAX_CLASS_MEMBERS = 16
"""A class of more characters is `Unknown`: its grams would say little and cost many lookups."""


class NotUnderstood(Exception):  # noqa: N818  # not an error: the answer is a scan
    """The pattern, or its extent, is not surely understood."""


@dataclass(frozen=True, slots=True)
class Empty:
    """Matches nothing but a place: anchors, word edges, look-around."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """May match any text, the empty one included."""


@dataclass(frozen=True, slots=True)
class Chars:
    """Matches one of these characters; never empty."""

    chars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Concat:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`most` is None without an upper limit."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Empty | Unknown | Chars | Concat | Alternatives | Repeat

_EMPTY = Empty()
_UNKNOWN = Unknown()
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_PLACES = "AzZbB"
_CLASSES = "dDwWsS"
_COUNT = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}")
_FLAGS = re.compile(r"\(\?([imsU]*(?:-[imsU]+)?)([:)])")
_NAMED = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z_0-9]*)>")
_PROPERTY = re.compile(r"[pP](?:\{\^?[A-Za-z_0-9=:. -]+\}|[A-Za-z])")
_HEX = re.compile(r"x(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))")
_POSIX = re.compile(r"\[:\^?[a-z]+:\]")
_OPEN_CLASS_SIGNS = ("&&", "--", "~~", "||")


def parse(pattern: str) -> Node:
    """The tree of a pattern; raises `NotUnderstood`."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise NotUnderstood
    parser = _Parser(pattern)
    node = parser.alternatives(0)
    if parser.at < len(pattern):
        raise NotUnderstood
    if parser.is_backtracking and parser.has_loose_brace:
        # The backtracking engine reads `x{e<=1}` as "about x".
        raise NotUnderstood
    return node


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.is_backtracking = False
        self.has_loose_brace = False

    def alternatives(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise NotUnderstood
        parts = [self._concat(depth)]
        while self._peek() == "|":
            self.at += 1
            parts.append(self._concat(depth))
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def _concat(self, depth: int) -> Node:
        parts: list[Node] = []
        while (sign := self._peek()) and sign not in "|)":
            if self.pattern.startswith("\\Q", self.at):
                parts += self._quoted()
                if parts:
                    parts[-1] = self._repeats(parts[-1])
                continue
            parts.append(self._repeats(self._atom(depth)))
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def _quoted(self) -> list[Node]:
        start = self.at + 2
        end = self.pattern.find("\\E", start)
        text = self.pattern[start:] if end < 0 else self.pattern[start:end]
        self.at = len(self.pattern) if end < 0 else end + 2
        if not text and self._peek() in ("*", "+", "?", "{"):
            raise NotUnderstood
        return [Chars((char,)) for char in text]

    def _repeats(self, node: Node) -> Node:
        sign = self._peek()
        if sign == "" or sign not in "*+?{":
            return node
        if sign == "{":
            found = self._take(_COUNT)
            if not found:
                if self.pattern.startswith("{,", self.at) or isinstance(node, Empty):
                    # `{,3}` repeats in one engine only; `\b{start}` is an assertion in another.
                    raise NotUnderstood
                return node
            least = int(found[1])
            most = least if not found[2] else int(found[3]) if found[3] else None
            if most is not None and most < least:
                raise NotUnderstood
        else:
            self.at += 1
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        follow = self._peek()
        if follow == "+":
            self.is_backtracking = True
        if follow in ("?", "+"):  # lazy, possessive: no other texts
            self.at += 1
            follow = self._peek()
        if follow in ("*", "+", "?") or (follow == "{" and _COUNT.match(self.pattern, self.at)):
            raise NotUnderstood
        return Repeat(node, least, most)

    def _atom(self, depth: int) -> Node:
        sign = self._peek()
        match sign:
            case "(":
                return self._group(depth)
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise NotUnderstood
            case ".":
                self.at += 1
                return _UNKNOWN
            case "^" | "$":
                self.at += 1
                return _EMPTY
            case "{":
                if _COUNT.match(self.pattern, self.at) or self.pattern.startswith("{,", self.at):
                    raise NotUnderstood
                self.has_loose_brace = True
        self.at += 1
        return Chars((sign,))

    def _group(self, depth: int) -> Node:
        text = self.pattern
        wrap: Callable[[Node], Node] = _same
        if not text.startswith("(?", self.at):
            if text.startswith("(*", self.at):
                raise NotUnderstood
            self.at += 1
        elif found := self._take(_FLAGS):
            if found[2] == ")":
                if self._peek() in ("*", "+", "?", "{"):
                    # RE2 repeats what stands before the flags.
                    raise NotUnderstood
                return _EMPTY
        elif text.startswith(("(?=", "(?!"), self.at):
            self.at += 3
            wrap = self._look_around
        elif text.startswith(("(?<=", "(?<!"), self.at):
            self.at += 4
            wrap = self._look_around
        elif text.startswith("(?>", self.at):
            self.at += 3
            self.is_backtracking = True
        elif not self._take(_NAMED):
            raise NotUnderstood
        node = self.alternatives(depth + 1)
        if self._peek() != ")":
            raise NotUnderstood
        self.at += 1
        return wrap(node)

    def _look_around(self, _: Node) -> Node:
        self.is_backtracking = True
        return _EMPTY

    def _escape(self) -> Node:
        self.at += 1
        sign = self._peek()
        if sign == "":
            raise NotUnderstood
        if sign.isdecimal():
            # A back-reference, or an octal number in one engine: unknown with all digits that follow.
            while self._peek().isdecimal():
                self.at += 1
            self.is_backtracking = True
            return _UNKNOWN
        if found := self._take(_HEX):
            return Chars((_character(found[1] or found[2]),))
        if self._take(_PROPERTY):
            return _UNKNOWN
        self.at += 1
        if sign in _CONTROLS:
            return Chars((_CONTROLS[sign],))
        if sign in _PLACES:
            return _EMPTY
        if sign in _CLASSES or sign == "C":
            return _UNKNOWN
        if sign in "<>":  # word edges in one engine
            return _UNKNOWN
        if sign.isascii() and not sign.isalnum():
            return Chars((sign,))
        raise NotUnderstood

    def _class(self) -> Node:
        """A bracket expression; small ones become their members, the others are unknown."""
        self.at += 1
        is_negated = self._peek() == "^"
        self.at += is_negated
        members: dict[str, None] | None = {}
        is_first = True
        while True:
            sign = self._peek()
            if sign == "":
                raise NotUnderstood
            if sign == "]" and not is_first:
                self.at += 1
                break
            is_first = False
            if self.pattern.startswith(_OPEN_CLASS_SIGNS, self.at):
                raise NotUnderstood
            low = self._member()
            high = low
            if self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._member()
                if low is None or high is None or high < low:
                    raise NotUnderstood
            if low is None or high is None or ord(high) - ord(low) >= MAX_CLASS_MEMBERS:
                members = None
            elif members is not None:
                members.update((chr(char), None) for char in range(ord(low), ord(high) + 1))
        if is_negated or members is None or not 0 < len(members) <= MAX_CLASS_MEMBERS:
            return _UNKNOWN
        return Chars(tuple(members))

    def _member(self) -> str | None:
        """One character of a class; None for a set of them."""
        if self._take(_POSIX):
            return None
        sign = self._peek()
        self.at += 1
        if sign == "[" or sign == "":
            raise NotUnderstood
        if sign != "\\":
            return sign
        if found := self._take(_HEX):
            return _character(found[1] or found[2])
        if self._take(_PROPERTY):
            return None
        sign = self._peek()
        self.at += 1
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign and sign in _CLASSES:
            return None
        if sign and sign.isascii() and not sign.isalnum():
            return sign
        raise NotUnderstood


def _same(node: Node) -> Node:
    return node


def _character(digits: str) -> str:
    number = int(digits, 16)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise NotUnderstood
    return chr(number)
