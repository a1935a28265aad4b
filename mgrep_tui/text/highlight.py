"""The colours of a few hundred lines of code: which stretch of a line is a keyword, a string, a comment, …

A window is coloured, never a whole file. A window that starts inside a comment or a string of many lines is coloured as if it started
outside: give `context`, the lines before it, and the lexer starts there.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mgrep_tui.text.languages import LANGUAGES

ROLES = (
    "keyword", "type", "function", "class", "name", "constant", "variable", "attribute", "decorator", "namespace", "builtin",
    "string", "escape", "regex", "number", "comment", "documentation", "operator", "punctuation", "preprocessor",
    "tag", "heading", "emphasis", "strong", "code", "link", "added", "removed", "error",
)  # fmt: skip
"""Every role a token may have. What is plain text has no token."""

# Lexers are quick per character, but a minified line is one that nobody reads, and some lexers are slow on it.
MAX_LINE_CHARS = 2000
# Colours that come later than this are not worth the wait; looked at between tokens.
TIME_LIMIT_S = 0.25
_TOKENS_A_LOOK = 128

_ROLE_BY_TYPE = {
    "Token.Keyword": "keyword",
    "Token.Keyword.Constant": "constant",
    "Token.Keyword.Type": "type",
    "Token.Keyword.Namespace": "keyword",
    "Token.Name.Function": "function",
    "Token.Name.Class": "class",
    "Token.Name.Exception": "class",
    "Token.Name.Decorator": "decorator",
    "Token.Name.Builtin": "builtin",
    "Token.Name.Builtin.Pseudo": "constant",
    "Token.Name.Constant": "constant",
    "Token.Name.Variable": "variable",
    "Token.Name.Attribute": "attribute",
    "Token.Name.Property": "attribute",
    "Token.Name.Namespace": "namespace",
    "Token.Name.Tag": "tag",
    "Token.Name.Entity": "escape",
    "Token.Name.Label": "constant",
    "Token.Literal": "string",
    "Token.Literal.String": "string",
    "Token.Literal.String.Doc": "documentation",
    "Token.Literal.String.Escape": "escape",
    "Token.Literal.String.Interpol": "escape",
    "Token.Literal.String.Regex": "regex",
    "Token.Literal.String.Backtick": "code",
    "Token.Literal.Number": "number",
    "Token.Comment": "comment",
    "Token.Comment.Preproc": "preprocessor",
    "Token.Comment.PreprocFile": "string",
    "Token.Operator": "operator",
    "Token.Operator.Word": "keyword",
    "Token.Punctuation": "punctuation",
    "Token.Generic.Heading": "heading",
    "Token.Generic.Subheading": "heading",
    "Token.Generic.Emph": "emphasis",
    "Token.Generic.Strong": "strong",
    "Token.Generic.EmphStrong": "strong",
    "Token.Generic.Inserted": "added",
    "Token.Generic.Deleted": "removed",
    "Token.Generic.Error": "error",
}


@dataclass(frozen=True, slots=True)
class Token:
    """A half-open range of characters of one line, and the role it plays (one of `ROLES`)."""

    start: int
    end: int
    role: str


@lru_cache(maxsize=64)
def _lexer_class(language: str) -> Any:
    """The class of the lexer for a language, or None. Loaded at first use: one takes 1 to 40 ms."""
    row = LANGUAGES.get(language)
    if row is None or not row.lexer:
        return None
    module, _, name = row.lexer.partition(":")
    with contextlib.suppress(ImportError, AttributeError):
        return getattr(importlib.import_module(f"pygments.lexers.{module}"), name)
    return None


def _lexer(language: str) -> Any:
    """A lexer of its own for each call, since some keep notes while they work and calls come from several threads."""
    made = _lexer_class(language)
    return None if made is None else made(stripnl=False, stripall=False, ensurenl=False)


@lru_cache(maxsize=1024)
def _role(kind: Any) -> str:
    while kind is not None:
        role = _ROLE_BY_TYPE.get(repr(kind))
        if role is not None:
            return role
        kind = kind.parent
    return ""


def can_highlight(language: str) -> bool:
    """Whether there are colours for a language."""
    row = LANGUAGES.get(language)
    return row is not None and bool(row.lexer)


def highlight(text: str, language: str, context: str = "", *, limit_s: float = TIME_LIMIT_S) -> list[list[Token]]:
    """The tokens of each line of `text`, in order, not overlapping; lines are separated by `\\n` only.

    `context` is what stands before `text` in the file, whole lines; the lexer starts there, but its tokens are left out. Lines longer than
    `MAX_LINE_CHARS` stay plain, and so does what is left when the time is over. About 10 ms for 200 lines. Never raises. Any thread.
    """
    lines = text.split("\n")
    lexer = _lexer(language)
    if lexer is None:
        return [[] for _ in lines]
    before = context.removesuffix("\n").split("\n") if context else []
    # A line too long to be coloured is left out of what the lexer sees. Some lexers know a heading or a comment by its line end.
    shown = [line if len(line) <= MAX_LINE_CHARS else "" for line in (*before, *lines)] + [""]
    found: list[list[Token]] = [[] for _ in shown]
    # A lexer's own fault (there are inputs for which one fails) costs the colours of the rest, not the preview.
    with contextlib.suppress(Exception):
        _collect(lexer, shown, found, time.monotonic() + limit_s)
    return found[len(before) : -1]


def _collect(lexer: Any, lines: list[str], found: list[list[Token]], end: float) -> None:
    """Put the tokens of `lines` into `found`, line by line, until the time `end`."""
    row, row_start, position = 0, 0, 0
    for number, (index, kind, value) in enumerate(lexer.get_tokens_unprocessed("\n".join(lines))):
        if number % _TOKENS_A_LOOK == 0 and time.monotonic() > end:
            return
        if index < position:
            continue  # some lexers hand out a stretch twice
        role = _role(kind)
        while index > row_start + len(lines[row]):
            row_start += len(lines[row]) + 1
            row += 1
        position = index + len(value)
        if not role or value.isspace():
            continue
        start = index
        while start < position:
            line_end = row_start + len(lines[row])
            stop = min(position, line_end)
            if stop > start and not (start == row_start and stop == line_end and lines[row].isspace()):
                _add(found[row], start - row_start, stop - row_start, role)
            if position <= line_end:
                break
            row_start = start = line_end + 1
            row += 1


def _add(tokens: list[Token], start: int, end: int, role: str) -> None:
    """Append a token, or make the last one longer when it ends here and plays the same role."""
    if tokens and tokens[-1].end == start and tokens[-1].role == role:
        start = tokens.pop().start
    tokens.append(Token(start, end, role))
