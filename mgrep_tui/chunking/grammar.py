"""Grammars by name, and parsing that refuses what is known to hang or to kill a parser.

Parsing holds the interpreter's lock and some inputs crash the process, so this is called in child processes only; what gets past the
guards here is the caller's to note (by content hash).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache

from tree_sitter import Language, Parser, Query, Tree
from tree_sitter_language_pack import get_language

from mgrep_tui.chunking.nesting import is_too_deep
from mgrep_tui.chunking.rules import Rules

# Below this size no grammar was seen to take longer than a tenth of a second, and a plain parse is quicker than one that can be stopped.
_UNTIMED_BYTES = 100_000
_READ_BYTES = 65_536

# A parse may last this many times its limit on a machine that is busy with other things.
_CLOCK_SHARE = 3


class ParseRefused(Exception):  # noqa: N818  # not an error: the reason why a file is cut by lines
    """Why a file has no usable tree, as a short phrase."""


@lru_cache(maxsize=256)
def given_names(rules: Rules) -> tuple[str | None, ...]:
    """By pattern of the query: the name that the query file gives to what has none."""
    _, query = load(rules)
    return tuple([query.pattern_settings(pattern).get("name") for pattern in range(query.pattern_count)])


# Compiling a query takes up to 0.2 s, and tree-sitter 0.26 is not sound when queries are made and freed in numbers: one a process.
@lru_cache(maxsize=256)
def load(rules: Rules) -> tuple[Language, Query]:
    """The grammar and the compiled query. Raises `ParseRefused` when the grammar is missing or the query does not fit it."""
    try:
        language = get_language(rules.grammar)  # type: ignore[arg-type]  # its type is a Literal of all names
    except (LookupError, ImportError, OSError) as error:
        raise ParseRefused("grammar missing") from error
    try:
        return language, Query(language, rules.query)
    except Exception as error:  # QueryError, and whatever else a user's file may provoke
        raise ParseRefused(f"the query file of {rules.language} does not fit its grammar: {error}") from error


def _limit(timeout_s: float) -> Callable[[], bool]:
    """Whether the time is over: by what this process worked, so that a busy machine cuts no file short, and by the clock in the end."""
    worked, clock = time.process_time() + timeout_s, time.monotonic() + _CLOCK_SHARE * timeout_s
    return lambda: time.process_time() > worked or time.monotonic() > clock


def parse(buffer: bytes, rules: Rules, timeout_s: float) -> Tree:
    """Parse UTF-8 text. Raises `ParseRefused` when it nests too deep or takes longer than `timeout_s`."""
    language, _ = load(rules)
    if is_too_deep(buffer):
        raise ParseRefused("nested too deep")
    parser = Parser(language)
    if len(buffer) < _UNTIMED_BYTES:
        tree = parser.parse(buffer)
    else:
        is_over = _limit(timeout_s)
        try:
            tree = parser.parse(
                lambda offset, _point: buffer[offset : offset + _READ_BYTES],
                progress_callback=lambda _offset, _has_error: is_over(),
            )
        except ValueError as error:
            parser.reset()
            raise ParseRefused("took too long") from error
    if tree is None:
        raise ParseRefused("no tree")
    return tree
