"""What stands before and after the colon of a filter, and what it means.

Each entry of `KEYS` makes a condition from a value, or a text for `case:`. A value that means nothing raises `QueryError` at its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from mgrep_tui.errors import QueryError
from mgrep_tui.search.filters import (
    ClassLike,
    Condition,
    HasText,
    HasWord,
    Is,
    KindIs,
    Language,
    PathLike,
    Repository,
    SymbolLike,
)
from mgrep_tui.search.names import KIND_ALIASES, KINDS, PROPERTIES, languages_named

_CASES = {"yes": "yes", "no": "no", "auto": "smart", "smart": "smart"}


def _language(value: str, position: int) -> Condition:
    names = languages_named(value)
    if not names:
        raise QueryError(f"No language is called “{value}”.", position)
    return Language(value, names)


def _path(value: str, position: int) -> Condition:
    return PathLike(value)


def _repository(value: str, position: int) -> Condition:
    return Repository(value)


def _symbol(value: str, position: int) -> Condition:
    return SymbolLike(value)


def _class(value: str, position: int) -> Condition:
    return ClassLike(value)


def _kind(value: str, position: int) -> Condition:
    names: set[str] = set()
    for part in value.lower().split(","):
        known = KIND_ALIASES.get(part)
        found = known if known is not None else {part} & KINDS or {kind for kind in KINDS if kind.startswith(part)}
        if not found or not part:
            raise QueryError(f"No kind is called “{part}”.", position, f"Kinds: {', '.join(sorted(KINDS))}.")
        names |= found
    return KindIs(value, frozenset(names))


def _is(value: str, position: int) -> Condition:
    if value not in PROPERTIES:
        raise QueryError(f"A file cannot be “{value}”.", position, f"After is: comes one of {', '.join(PROPERTIES)}.")
    return Is(value)


def _case(value: str, position: int) -> str:
    found = {case for word, case in _CASES.items() if word.startswith(value.lower())}
    if len(found) != 1:
        raise QueryError(f"“{value}” says nothing about case.", position, "After case: comes yes, no or auto.")
    return found.pop()


KEYS: dict[str, Callable[[str, int], Condition | str]] = {
    "lang": _language,
    "path": _path,
    "file": _path,
    "repo": _repository,
    "sym": _symbol,
    "class": _class,
    "kind": _kind,
    "is": _is,
    "case": _case,
}


def text_leaf(value: str, is_pattern: bool, case: str, position: int) -> Condition:
    """A condition on the text of a chunk. A wrong pattern raises `QueryError` at its place in the query."""
    # Late: compiling brings re2 along, which a query without such a part does not need.
    from mgrep_tui.search.hits import row_of
    from mgrep_tui.search.matcher import compile_pattern

    try:
        matcher = compile_pattern(value, case=case, is_literal=not is_pattern)
    except QueryError as error:
        raise QueryError(error.message, position + (error.position or 0), error.hint) from error

    def lines(text: str) -> list[tuple[int, list[tuple[int, int]]]]:
        content = matcher.text_of(text.encode("utf-8", "replace"))
        found = []
        for one in matcher.lines(content):
            line, _, places, _, *window = row_of(content, one, False)
            offset = window[2] if window else 0
            found.append((line, [(start + offset, end + offset) for start, end in places]))
        return found

    return HasText(value, is_pattern, lambda text: matcher.is_in(text.encode("utf-8", "replace")), lines)


def word_leaf(value: str, case: str) -> Condition:
    """A condition that a text holds a word as a whole."""
    ignores = case == "no" or (case == "smart" and value == value.lower())
    found = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE if ignores else 0)
    return HasWord(value, lambda text: found.search(text) is not None)
