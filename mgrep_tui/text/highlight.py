"""The colours of a few hundred lines of code: which stretch of a line is a keyword, a string, a comment, …

A window is coloured, never a whole file. A window that starts inside a comment or a string of many lines is coloured as if it started
outside: give `context`, the lines before it, and the lexer starts there.
"""

from __future__ import annotations

import contextlib
import importlib
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
def _lexer(language: str) -> Any:
    """The lexer for a language, or None. Loaded at first use: one takes 1 to 40 ms."""
    row = LANGUAGES.get(language)
    if row is None or not row.lexer:
        return None
    module, _, name = row.lexer.partition(":")
    with contextlib.suppress(ImportError, AttributeError):
        made = getattr(importlib.import_module(f"pygments.lexers.{module}"), name)
        return made(stripnl=False, stripall=False, ensurenl=False)
    return None


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


def highlight(text: str, language: str, context: str = "") -> list[list[Token]]:
    """The tokens of each line of `text`, in order, not overlapping; lines are separated by `\\n` only.

    `context` is what stands before `text` in the file, whole lines; the lexer starts there, but its tokens are left out. Lines longer than
    `MAX_LINE_CHARS` stay plain. About 10 ms for 200 lines. Never raises for any text. Any thread.
    """
    lines = text.split("\n")
    lexer = _lexer(language)
    if lexer is None:
        return [[] for _ in lines]
    before = context.split("\n") if context else []
    if before and before[-1] == "":
        before.pop()
    shown = [_calm(line) for line in (*before, *lines)]
    found: list[list[Token]] = [[] for _ in shown]
    row = column = 0
    for _, kind, value in lexer.get_tokens_unprocessed("\n".join(shown)):
        role = _role(kind)
        parts = value.split("\n")
        for number, part in enumerate(parts):
            if number:
                row += 1
                column = 0
            if part and role and not part.isspace():
                found[row].append(Token(column, column + len(part), role))
            column += len(part)
    return found[len(before) :]


def _calm(line: str) -> str:
    """What the lexer sees of a line: nothing of one that is too long, and no character that it would take for a line end."""
    return "" if len(line) > MAX_LINE_CHARS else line
