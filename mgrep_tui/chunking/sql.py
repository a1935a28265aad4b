"""SQL by statement: what is created gives the symbol. A scanner of our own, since no one grammar reads every dialect."""

from __future__ import annotations

import re

from mgrep_tui.chunking.pieces import Piece, merge_small, number_parts
from mgrep_tui.chunking.source import Source
from mgrep_tui.chunking.windows import cut_windows
from mgrep_tui.model import Symbol
from mgrep_tui.settings.config import ChunkingSettings

# A statement is one piece up to this many times the target size.
STATEMENT_TARGETS = 4

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|`[^`]*`|(\$\w*\$).*?\1|\n|;|[A-Za-z_]+|^[ \t]*(?:GO|/)[ \t]*$""",
    re.DOTALL | re.MULTILINE,
)
_IDENTIFIER = r"""(?:"[^"]+"|`[^`]+`|\[[^\]]+\]|[\w$#]+)"""
_CREATE = re.compile(
    r"\s*(?:CREATE|ALTER)\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?"
    r"(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNLOGGED|EXTERNAL|FOREIGN|MATERIALIZED|RECURSIVE|UNIQUE|CLUSTERED|NONCLUSTERED|FULLTEXT|SPATIAL"
    r"|CONSTRAINT|VIRTUAL|EDITIONABLE|NONEDITIONABLE|DEFINER\s*=\s*\S+|CONCURRENTLY)\s+)*"
    r"(TABLE|VIEW|INDEX|FUNCTION|PROCEDURE|PROC|TRIGGER|SEQUENCE|TYPE|SCHEMA|DATABASE|EXTENSION|DOMAIN|PACKAGE(?:\s+BODY)?|AGGREGATE|POLICY"
    r"|ROLE|USER|EVENT|RULE|OPERATOR)\s+"
    r"(?:CONCURRENTLY\s+)?(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+)?"
    rf"({_IDENTIFIER}(?:\s*\.\s*{_IDENTIFIER})*)",
    re.IGNORECASE,
)
_KINDS = {
    "function": "function",
    "procedure": "function",
    "proc": "function",
    "aggregate": "function",
    "trigger": "function",
    "table": "table",
    "view": "table",
    "type": "type",
    "domain": "type",
    "schema": "module",
    "package": "module",
}
_ROUTINE = re.compile(r"\s*CREATE\b[^;]*?\b(?:FUNCTION|PROCEDURE|PROC|TRIGGER|PACKAGE|EVENT)\b", re.IGNORECASE)
_OPENERS = frozenset({"BEGIN", "CASE"})


def chunk_sql(source: Source, settings: ChunkingSettings) -> tuple[list[Piece], list[Symbol]]:
    """One piece a statement, small neighbours merged; comments go with the statement below them."""
    pieces: list[Piece] = []
    symbols: list[Symbol] = []
    limit = STATEMENT_TARGETS * settings.target_tokens
    cursor = 0
    for first, last, text in _statements(source.lines):
        if last < cursor:
            continue
        found = _created(text)
        start = cursor
        cursor = last + 1
        names: list[str] = []
        kind, container = "statement", ""
        if found is not None:
            kind, container, name = found
            names = [name]
            if text.lstrip()[:1] in "cC":
                symbols.append(Symbol(name, kind, container, first, last))
        if source.tokens(start, last) <= limit and last - start < settings.max_unit_lines:
            pieces.append(Piece(kind, names, container, start, last))
            continue
        parts = [
            Piece(kind, list(names), container, low, high, is_fixed=True)
            for low, high in cut_windows(source, start, last, limit, settings.overlap_lines)
        ]
        number_parts(parts)
        pieces += parts
    if cursor < len(source.lines):
        if pieces and source.tokens(cursor, len(source.lines) - 1) < settings.target_tokens:
            pieces[-1].last = len(source.lines) - 1
        else:
            pieces += [
                Piece("code", [], "", low, high)
                for low, high in cut_windows(source, cursor, len(source.lines) - 1, limit, settings.overlap_lines)
            ]
    return merge_small(source, pieces, settings.target_tokens), symbols


def _created(text: str) -> tuple[str, str, str] | None:
    """Kind, container and name of what a statement creates or alters."""
    match = _CREATE.match(text)
    if match is None:
        return None
    parts = [part.strip().strip('"`[]') for part in match.group(2).split(".")]
    return _KINDS.get(match.group(1).split()[0].lower(), "statement"), ".".join(parts[:-1]), parts[-1]


def _statements(lines: list[str]) -> list[tuple[int, int, str]]:
    """First row (of its first word), last row and text (from that word) of each statement. `;` ends one outside of strings, comments and
    the BEGIN … END of a routine; a line `GO` or `/` ends one as well."""
    text = "\n".join(lines)
    found: list[tuple[int, int, str]] = []
    row = 0
    start = -1
    start_row = 0
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            row += 1
            continue
        is_comment = token.startswith(("--", "/*"))
        is_batch_end = not is_comment and token.strip() in ("GO", "/", "go")
        if start < 0 and not is_comment and not is_batch_end and token != ";":
            start, start_row = match.start(), row
        if token[0].isalpha() and start >= 0 and not is_batch_end:
            word = token.upper()
            is_routine = depth > 0 or (word == "BEGIN" and _ROUTINE.match(text[start : start + 2_000]) is not None)
            if word in _OPENERS and is_routine:
                depth += 1
            elif word == "END" and depth:
                # `END IF`, `END LOOP` and their like close what was never counted.
                following = text[match.end() : match.end() + 12].lstrip().upper()
                if not following.startswith(("IF", "LOOP", "WHILE", "REPEAT", "FOR")):
                    depth -= 1
        row += token.count("\n")
        if is_batch_end or (token == ";" and not depth):
            if start >= 0:
                found.append((start_row, row, text[start : match.end()]))
            start, depth = -1, 0
    if start >= 0:
        found.append((start_row, len(lines) - 1, text[start:]))
    return found
