"""The words of a query's text: which are filters, and where they stand.

A filter is a word of its own: after a blank, the text's beginning or a filter group's parenthesis, and before a blank, the end or the
group's end. `or` between two of them joins them, tighter than standing side by side does; a `-` before one negates it. A pair of
parentheses is a group only when it holds nothing but such terms; any other is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from mgrep_tui.errors import QueryError
from mgrep_tui.model import Mode
from mgrep_tui.search.filters import And, Condition, Not, Or
from mgrep_tui.search.leaves import KEYS, text_leaf, word_leaf

_BLANK = re.compile(r"\s*")
_BARE = re.compile(r"\S+")
_KEY = re.compile(r"(" + "|".join(KEYS) + r"):(?!//)(?=\S)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SLASHED = re.compile(r"/((?:[^/\\\n]|\\.)+)/")
_SLASHED_WORD = re.compile(r"/(?=\S)((?:[^/\\\n]|\\.)+)/")
_WORD = re.compile(r"[^\W\d]\w+")
_OR = re.compile(r"(?:or|OR)(?=\s)")
MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Term:
    """A filter, or a group of them, at `text[start:end]`. `case` is set by `case:` alone, which has no condition."""

    start: int
    end: int
    condition: Condition | None = None
    case: str = ""
    phrase: str = ""  # the text of a quoted term that is asked for


@dataclass(frozen=True, slots=True)
class Joint:
    """An `or` that may join the terms around it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Word:
    """What is no filter; in regex mode a piece of the pattern."""

    start: int
    end: int


Item = Term | Joint | Word


def scan(text: str, mode: Mode, *, case: str, takes_slashes: bool = False) -> list[Item]:
    """The items of `text` in order. Raises `QueryError` when a filter's value means nothing.

    `case` is how quoted texts are compared when nothing says otherwise. With `takes_slashes` a first word that begins with a slash
    reaches to the closing one, whatever stands between.
    """
    scanner = _Scanner(text, mode, case)
    items: list[Item] = []
    position = 0
    while (position := scanner.skip(position)) < len(text):
        if takes_slashes and (slashed := slashed_pattern(text, position)):
            items.append(Word(*slashed.span()))
            takes_slashes = False
            position = slashed.end()
            continue
        bare = _BARE.match(text, position)
        assert bare is not None
        item = scanner.joint(position) or scanner.term(position, closes=False, depth=0) or Word(position, bare.end())
        takes_slashes = takes_slashes and not isinstance(item, Word)
        items.append(item)
        position = item.end
    return items


def joined(items: list[Item]) -> tuple[list[tuple[list[Term], int, int]], list[Word | Joint]]:
    """Chains of terms that `or` joins, each with its range, and what is left: words, and every `or` that joins no two terms."""
    chains: list[tuple[list[Term], int, int]] = []
    rest: list[Word | Joint] = []
    index = 0
    while index < len(items):
        item = items[index]
        if not isinstance(item, Term):
            rest.append(item)
            index += 1
            continue
        chain = [item]
        while index + 2 < len(items):
            joint, following = items[index + 1], items[index + 2]
            if not (isinstance(joint, Joint) and isinstance(following, Term)) or chain[-1].case or following.case:
                break
            chain.append(following)
            index += 2
        chains.append((chain, chain[0].start, chain[-1].end))
        index += 1
    return chains, rest


def either(conditions: list[Condition]) -> Condition:
    """`Or` in its flat form."""
    if len(conditions) == 1:
        return conditions[0]
    parts: list[Condition] = []
    for condition in conditions:
        parts.extend(condition.parts if isinstance(condition, Or) else (condition,))
    return Or(tuple(parts))


def every(conditions: list[Condition]) -> Condition:
    """`And` in its flat form."""
    if len(conditions) == 1:
        return conditions[0]
    parts: list[Condition] = []
    for condition in conditions:
        parts.extend(condition.parts if isinstance(condition, And) else (condition,))
    return And(tuple(parts))


class _Scanner:
    def __init__(self, text: str, mode: Mode, case: str) -> None:
        self._text = text
        self._mode = mode
        self._case = case

    def skip(self, position: int) -> int:
        blank = _BLANK.match(self._text, position)
        assert blank is not None
        return blank.end()

    def joint(self, position: int) -> Joint | None:
        found = _OR.match(self._text, position)
        return Joint(position, found.end()) if found else None

    def term(self, start: int, *, closes: bool, depth: int) -> Term | None:
        """The term that begins here, or None. Within a group (`closes`) a parenthesis may end it."""
        position = start
        is_negated = self._text.startswith("-", position)
        if is_negated:
            position += 1
        found = self._one(position, is_negated, closes, depth)
        if found is None or (is_negated and found.condition is None) or not self._ends(found.end, closes):
            return None
        if is_negated and found.condition is not None:
            return Term(start, found.end, Not(found.condition))
        return Term(start, found.end, found.condition, found.case, found.phrase)

    def _ends(self, position: int, closes: bool) -> bool:
        text = self._text
        return position >= len(text) or text[position].isspace() or (closes and text[position] == ")")

    def _one(self, position: int, is_negated: bool, closes: bool, depth: int) -> Term | None:
        text = self._text
        if text.startswith("(", position):
            return self._group(position, depth + 1)
        if key := _KEY.match(text, position):
            return self._filter(key.group(1), key.end(), position, closes)
        if self._mode is Mode.REGEX:
            return None
        if quoted := _QUOTED.match(text, position):
            value = unescape(quoted.group(1))
            if not value.strip():
                return None
            return Term(position, quoted.end(), self._content(value, False, position + 1), phrase=value)
        if slashed := _SLASHED_WORD.match(text, position):
            return Term(position, slashed.end(), self._content(slashed.group(1), True, position + 1))
        if is_negated and (word := _WORD.match(text, position)):
            return Term(position, word.end(), word_leaf(word.group(), self._case))
        return None

    def _content(self, value: str, is_pattern: bool, position: int) -> Condition:
        return text_leaf(value, is_pattern, self._case, position)

    def _filter(self, key: str, position: int, start: int, closes: bool) -> Term | None:
        end, value = self._value(position, closes)
        if not value:
            return None
        make: Callable[[str, int], Condition | str] = KEYS[key]
        made = make(value, position)
        if isinstance(made, str):
            # `case:` says how to search, not what to let through: it has no meaning within a group.
            return None if closes else Term(start, end, case=made)
        return Term(start, end, made)

    def _value(self, position: int, closes: bool) -> tuple[int, str]:
        if quoted := _QUOTED.match(self._text, position):
            return quoted.end(), unescape(quoted.group(1))
        depth = 0
        end = position
        while end < len(self._text) and not self._text[end].isspace():
            depth += {"(": 1, ")": -1}.get(self._text[end], 0)
            if depth < 0 and closes:
                break
            end += 1
        return end, self._text[position:end]

    def _group(self, start: int, depth: int) -> Term | None:
        if depth > MAX_DEPTH:
            raise QueryError("The query is nested too deeply.", start)
        items: list[Item] = []
        position = start + 1
        while (position := self.skip(position)) < len(self._text):
            if self._text[position] == ")":
                return self._closed(items, start, position + 1)
            item = self.joint(position) or self.term(position, closes=True, depth=depth)
            if item is None:
                return None
            items.append(item)
            position = item.end
        return None

    def _closed(self, items: list[Item], start: int, end: int) -> Term | None:
        chains, rest = joined(items)
        if rest or not chains:
            return None
        parts = [either([term.condition for term in chain if term.condition is not None]) for chain, _, _ in chains]
        return Term(start, end, every(parts))


def unescape(text: str) -> str:
    r"""The inside of a quoted text: `\"` is a quote, `\\` a backslash; any other backslash is itself."""
    return re.sub(r'\\(["\\])', r"\1", text)


def slashed_pattern(text: str, position: int) -> re.Match[str] | None:
    """A `/pattern/` that begins here and ends its word. A comment in the manner of C is text."""
    found = _SLASHED.match(text, position)
    if found is None or found.group(1).startswith(("*", "\\*")):
        return None
    return found if found.end() == len(text) or text[found.end()].isspace() else None
