"""What a query's text asks for: the pattern or the words, and the filters.

Both modes
    `lang:python` `path:src/api/**` (or `file:`) `repo:name` `sym:name` `class:Name` `kind:method` `is:dirty` `case:yes`, a `-` before one
    for "not", `or` between two, parentheses around some: a filter stands as a word of its own (see `terms`). A value may be quoted.
    An unknown `x:`, a key without a value and `file://…` are text, and so is `lang\\:python`.

Regex mode
    What is left when the filters are taken out, each with the blanks after it, is one pattern, exactly as typed: blanks, quotes,
    parentheses, dashes and `or` belong to it. A left-over that is wholly `/pattern/` is that pattern, which is how one writes blanks at
    its ends or words that look like filters; `/* … */` is a comment and stays as it is.

Semantic mode
    Words are asked for softly. `"quoted text"` and `/pattern/` must be in a chunk; `-word`, `-"quoted text"` and `-/pattern/` must not,
    when anything else is asked for. `or` and parentheses work on all of these but bare words, where they are words themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mgrep_tui.model import Mode
from mgrep_tui.search.filters import (
    EVERYTHING,
    And,
    Below,
    ClassLike,
    Condition,
    Filters,
    HasText,
    HasWord,
    Is,
    KindIs,
    Language,
    Not,
    Or,
    PathLike,
    Repository,
    SymbolLike,
)
from mgrep_tui.search.leaves import KEYS
from mgrep_tui.search.terms import Term, Word, either, every, joined, scan, slashed_pattern


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter as the screen shows it: `text[start:end]`, in the words of `label`. An `or` chain or a group is one chip."""

    label: str
    start: int
    end: int
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """`length` characters of the pattern stand at `in_text` in the query's text."""

    in_pattern: int
    in_text: int
    length: int


@dataclass(frozen=True)
class Query:
    """A parsed query. In regex mode `pattern` is the expression and `words` is empty; in semantic mode `words` are the bare words,
    `phrases` the quoted ones that are asked for, and `plain` both as one text in the order typed.

    `case` is smart, yes or no.
    """

    text: str
    mode: Mode
    pattern: str = ""
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    plain: str = ""
    filters: Filters = EVERYTHING
    chips: tuple[Chip, ...] = ()
    case: str = "smart"
    is_literal: bool = False
    is_word: bool = False
    is_multiline: bool = False
    typed_case: str = ""  # what `case:` says in the text, else ""
    pieces: tuple[Piece, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for; with filters alone a search lists what they let through."""
        return not (self.pattern or self.words or self.phrases or self.filters)

    def position_of(self, position: int) -> int:
        """Where a place in the pattern stands in the text."""
        for piece in self.pieces:
            if position < piece.in_pattern + piece.length or piece is self.pieces[-1]:
                return piece.in_text + position - piece.in_pattern
        return len(self.text)

    def without(self, chip: Chip) -> str:
        """The text with that filter taken out and the gap closed."""
        before, after = self.text[: chip.start].rstrip(), self.text[chip.end :].lstrip()
        return f"{before} {after}" if before and after else before + after


def parse(
    text: str,
    mode: Mode,
    *,
    case: str = "smart",
    is_literal: bool = False,
    is_word: bool = False,
    is_multiline: bool = False,
) -> Query:
    """Read a query. Pure. Raises `QueryError` with a position when a filter's value means nothing.

    The pattern itself is not looked at here: `search.matcher` does that.
    """
    query = Query(text, mode, case=case, is_literal=is_literal, is_word=is_word, is_multiline=is_multiline)
    return _parse_regex(query) if mode is Mode.REGEX else _parse_semantic(query)


def _parse_regex(query: Query) -> Query:
    text = query.text
    if not query.is_literal:
        chains, rest = joined(scan(text, Mode.REGEX, case=query.case, takes_slashes=True))
        if len(rest) == 1 and (slashed := slashed_pattern(text, rest[0].start)):
            piece = Piece(0, slashed.start(1), len(slashed.group(1)))
            return replace(_filtered(query, chains), pattern=slashed.group(1), pieces=(piece,))
    chains, rest = joined(scan(text, Mode.REGEX, case=query.case))
    pattern, pieces = _left_over(text, [(start, end) for _, start, end in chains])
    if query.is_literal:
        for key in KEYS:
            pattern = pattern.replace(f"{key}\\:", f"{key}:")
    return replace(_filtered(query, chains), pattern=pattern, pieces=pieces)


def _parse_semantic(query: Query) -> Query:
    text = query.text
    chains, rest = joined(scan(text, Mode.SEMANTIC, case=query.case))
    if not rest and all(_is_dashed_word(chain) for chain, _, _ in chains):
        # `-e` or `-info` alone: there is nothing to take it away from, so it is what is looked for.
        rest = [Word(start, end) for _, start, end in chains]
        chains = []
    words = [(item.start, text[item.start : item.end]) for item in rest]
    phrases = [(chain[0].start, chain[0].phrase) for chain, _, _ in chains if len(chain) == 1 and chain[0].phrase]
    return replace(
        _filtered(query, chains),
        words=tuple(word for _, word in words),
        phrases=tuple(phrase for _, phrase in phrases),
        plain=" ".join(part for _, part in sorted(words + phrases)),
    )


def _is_dashed_word(chain: Sequence[Term]) -> bool:
    condition = chain[0].condition
    return len(chain) == 1 and isinstance(condition, Not) and isinstance(condition.inner, HasWord)


def _filtered(query: Query, chains: Sequence[tuple[list[Term], int, int]]) -> Query:
    conditions: list[Condition] = []
    chips: list[Chip] = []
    case = ""
    for chain, start, end in chains:
        found = [term.condition for term in chain if term.condition is not None]
        case = chain[0].case or case
        if found:
            conditions.append(either(found))
        if not chain[0].phrase or len(chain) > 1:
            chips.append(Chip(" ".join(query.text[start:end].split()), start, end, query.text[start] == "-"))
    filters = Filters(every(conditions)) if conditions else EVERYTHING
    return replace(query, filters=filters, chips=tuple(chips), case=case or query.case, typed_case=case)


def _left_over(text: str, cuts: Sequence[tuple[int, int]]) -> tuple[str, tuple[Piece, ...]]:
    """`text` without the ranges `cuts`, each with the blanks after it, the last also with the blanks before it."""
    if not cuts:
        return (text, (Piece(0, 0, len(text)),)) if text.strip() else ("", ())
    edges = [0, *(edge for cut in cuts for edge in cut), len(text)]
    pattern = ""
    pieces: list[Piece] = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        segment = text[start:end]
        if start:
            stripped = segment.lstrip()
            start += len(segment) - len(stripped)
            segment = stripped
        if segment:
            pieces.append(Piece(len(pattern), start, len(segment)))
            pattern += segment
    if pieces and cuts[-1][0] > pieces[-1].in_text:
        last = pieces[-1]
        shorter = pattern.rstrip()
        pieces[-1] = replace(last, length=last.length - (len(pattern) - len(shorter)))
        pattern = shorter
    return (pattern, tuple(pieces)) if pattern.strip() else ("", ())


def write(query: Query) -> str:
    """A text that parses to an equal query, in a plain form: what is searched first, the filters after it.

    A literal pattern with blanks at its ends comes back without them when there are filters.
    """
    filters = _written(query.filters.condition, is_top=True)
    if query.typed_case:
        filters = f"{filters} case:{query.typed_case}".strip()
    if query.mode is Mode.SEMANTIC:
        return " ".join(part for part in (" ".join(query.words), filters) if part)
    pattern = query.pattern
    if query.is_literal:
        for key in KEYS:
            pattern = pattern.replace(f"{key}:", f"{key}\\:")
    text = " ".join(part for part in (pattern, filters) if part)
    if not query.is_literal and _pattern_of(text) != query.pattern:
        text = " ".join(part for part in (f"/{_guarded(pattern)}/", filters) if part)
    return text


def narrowed(text: str, languages: Sequence[str], paths: Sequence[str]) -> str:
    """The query that asks the same of files in one of `languages` and on one of `paths` only, where any are given."""
    groups = [[f"{key}:{_quoted(value)}" for value in values] for key, values in (("lang", languages), ("path", paths))]
    filters = " ".join(f"({' or '.join(group)})" if len(group) > 1 else group[0] for group in groups if group)
    # Blanks at the other end of a pattern belong to it.
    parts = (text, filters) if text[:1].isspace() else (filters, text)
    return " ".join(part for part in parts if part)


def _pattern_of(text: str) -> str:
    return _parse_regex(Query(text, Mode.REGEX)).pattern


def _guarded(pattern: str) -> str:
    r"""`pattern` with every bare slash written as `\/`, which means the same."""
    parts = []
    is_escaped = False
    for char in pattern:
        parts.append("\\/" if char == "/" and not is_escaped else char)
        is_escaped = char == "\\" and not is_escaped
    return "".join(parts)


def _written(condition: Condition, *, is_top: bool = False) -> str:
    match condition:
        case And(parts):
            inner = " ".join(_written(part) for part in parts)
            return inner if is_top or not parts else f"({inner})"
        case Or(parts):
            return " or ".join(f"({_written(part)})" if isinstance(part, Or) else _written(part) for part in parts)
        case Not(inner_condition):
            inner = _written(inner_condition)
            return f"-({inner})" if isinstance(inner_condition, Or | Not) else f"-{inner}"
        case Language(value, _):
            return f"lang:{_quoted(value)}"
        case PathLike(value):
            return f"path:{_quoted(value)}"
        case Below(folder):
            return f"path:{_quoted('/' + folder.decode('utf-8', 'surrogateescape'))}"
        case Repository(value):
            return f"repo:{_quoted(value)}"
        case SymbolLike(value):
            return f"sym:{_quoted(value)}"
        case ClassLike(value):
            return f"class:{_quoted(value)}"
        case KindIs(value, _):
            return f"kind:{_quoted(value)}"
        case Is(value):
            return f"is:{value}"
        case HasWord(value):
            return value
        case HasText(value, is_pattern):
            return f"/{value}/" if is_pattern else _in_quotes(value)
    raise AssertionError(condition)


def _quoted(value: str) -> str:
    needs_quotes = any(char.isspace() or char in '"()' for char in value) or value.startswith("//")
    return _in_quotes(value) if needs_quotes else value


def _in_quotes(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
