"""Whether a path is meant by what stands after `path:`.

- No wildcard: a part of the path anywhere (`upload`, `src/api/`); with a leading `/` the path's beginning.
- A wildcard and no slash: the file's name (`*.py`, `test_?.c`).
- A wildcard and a slash: the whole path from the root (`src/api/**`, `src/*/main.go`, `**/fixtures/**`).

`*` and `?` stop at a slash, `**` does not, and `{a,b}` offers a choice. Brackets are themselves, since routes are named `[id]`.
Capitals count only when the pattern has one.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from typing import NamedTuple

WILDCARD = re.compile(r"[*?]|\{[^{}]*,[^{}]*\}")
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}]*,[^{}]*\}|.", re.DOTALL)


@functools.lru_cache(maxsize=256)
def path_test(pattern: str) -> Callable[[bytes], bool]:
    """A predicate over paths relative to the root. Pure; the result may be called from any thread."""
    source, folds, starts, ends, is_of_name = path_pattern(pattern)
    found = re.compile(source, (re.IGNORECASE if folds else 0) | re.DOTALL)
    test = found.fullmatch if ends else found.match if starts else found.search
    if is_of_name:
        return lambda path: test(_text(path).rpartition("/")[2]) is not None
    return lambda path: test(_text(path)) is not None


class PathPattern(NamedTuple):
    """A path's pattern as a regular expression that `re` and RE2 read alike; in it a dot matches a newline.

    `starts` and `ends` say whether it must begin and end where the path does; `is_of_name` that only the file's name counts.
    """

    source: str
    folds: bool
    starts: bool
    ends: bool
    is_of_name: bool


def path_pattern(pattern: str) -> PathPattern:
    """What stands after `path:`, for whoever matches it with another engine."""
    folds = not any(char.isupper() for char in pattern)
    if not WILDCARD.search(pattern):
        return PathPattern(re.escape(pattern.removeprefix("/")), folds, pattern.startswith("/"), False, False)
    return PathPattern(_source(pattern.removeprefix("/")), folds, True, True, "/" not in pattern)


def _source(pattern: str) -> str:
    parts = []
    for match in _TOKEN.finditer(pattern):
        token = match.group()
        if token == "**/":
            parts.append("(?:.*/)?")
        elif token == "**":
            parts.append(".*")
        elif token == "*":
            parts.append("[^/]*")
        elif token == "?":
            parts.append("[^/]")
        elif len(token) > 1:
            parts.append("(?:" + "|".join(_source(choice) for choice in token[1:-1].split(",")) + ")")
        else:
            parts.append(re.escape(token))
    return "".join(parts)


def _text(path: bytes) -> str:
    return os.fsdecode(path) if os.name == "posix" else path.decode("utf-8", "surrogateescape")
