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

WILDCARD = re.compile(r"[*?]|\{[^{}]*,[^{}]*\}")
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}]*,[^{}]*\}|.", re.DOTALL)


@functools.lru_cache(maxsize=256)
def path_test(pattern: str) -> Callable[[bytes], bool]:
    """A predicate over paths relative to the root. Pure; the result may be called from any thread."""
    flags = 0 if any(char.isupper() for char in pattern) else re.IGNORECASE
    if not WILDCARD.search(pattern):
        source = re.escape(pattern.removeprefix("/"))
        found = re.compile(source, flags)
        return (
            (lambda path: found.match(_text(path)) is not None)
            if pattern.startswith("/")
            else (lambda path: found.search(_text(path)) is not None)
        )
    source = _source(pattern.removeprefix("/"))
    whole = re.compile(source, flags | re.DOTALL)
    if "/" in pattern:
        return lambda path: whole.fullmatch(_text(path)) is not None
    return lambda path: whole.fullmatch(_text(path).rpartition("/")[2]) is not None


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
