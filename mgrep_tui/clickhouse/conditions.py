"""A query's filters as conditions of a statement, so that the engine leaves out what they refuse before it counts or ranks anything.

A condition lets through at least what the filters let through. What the engine cannot tell (the text of a chunk, a path that is no UTF-8)
is let through, under a negation too; the exact word is spoken by the filters themselves, on what comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.index import rows
from mgrep_tui.search.filters import (
    CLASS_KINDS,
    And,
    Below,
    ClassLike,
    Condition,
    Is,
    KindIs,
    Language,
    Leaf,
    Not,
    Or,
    PathLike,
    Repository,
    SymbolLike,
)
from mgrep_tui.search.globs import path_pattern

_FLAGS = {"test": rows.TEST, "generated": rows.GENERATED, "vendored": rows.VENDORED}

TellLeaf = Callable[[Leaf], tuple[str, str] | None]
"""For a leaf what must hold where it may be true, and what where it may be false; None when nothing is known of it."""


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The names of the columns that say what a file is. `label` gives what stands before its path, empty where nothing does."""

    path: str
    language: str
    flags: str
    label: str = ""


def of_files(condition: Condition, columns: FileColumns, bound: Bound) -> str:
    """What a file must be so that something in it can be meant; empty when it can be anything."""
    return _simple(_maybe(condition, True, lambda leaf: _file_leaf(leaf, columns, bound)))


def of_names(condition: Condition, column: str, bound: Bound) -> str:
    """What name, kind and container must be, of a chunk or of something defined in it; `column` holds the name."""
    return _simple(_maybe(condition, True, lambda leaf: _name_leaf(leaf, column, bound)))


def _simple(sql: str) -> str:
    return "" if sql == "1" else sql


def _maybe(condition: Condition, wanted: bool, tell: TellLeaf) -> str:
    """Holds wherever the condition may be `wanted`."""
    match condition:
        case And(parts) | Or(parts):
            found = [_maybe(part, wanted, tell) for part in parts]
            if isinstance(condition, And) == wanted:
                return _all_of(found)
            return _any_of(found)
        case Not(inner):
            return _maybe(inner, not wanted, tell)
    told = tell(condition)
    return "1" if told is None else told[0 if wanted else 1]


def _all_of(parts: list[str]) -> str:
    kept = [part for part in parts if part != "1"]
    if "0" in kept:
        return "0"
    return "1" if not kept else kept[0] if len(kept) == 1 else "(" + " AND ".join(kept) + ")"


def _any_of(parts: list[str]) -> str:
    kept = [part for part in parts if part != "0"]
    if "1" in kept:
        return "1"
    return "0" if not kept else kept[0] if len(kept) == 1 else "(" + " OR ".join(kept) + ")"


def _exact(sql: str) -> tuple[str, str]:
    return sql, f"NOT {sql}"


def _file_leaf(leaf: Leaf, columns: FileColumns, bound: Bound) -> tuple[str, str] | None:
    match leaf:
        case Language(_, names):
            return _exact(f"({columns.language} IN {bound.texts(sorted(names))})")
        case PathLike(value):
            return _path(value, columns, bound)
        case Below(folder):
            return _exact(f"startsWith({columns.path}, {bound.raw(folder)})")
        case Is(value) if value in _FLAGS:
            return _exact(f"(bitAnd({columns.flags}, {_FLAGS[value]:d}) != 0)")
        case Is():
            # What was published is neither dirty nor untracked.
            return "0", "1"
        case Repository():
            return None
    return None


def _path(value: str, columns: FileColumns, bound: Bound) -> tuple[str, str] | None:
    pattern = path_pattern(value)
    if not _is_plain(value):
        return None  # what letters are equal is not the same to both engines
    start, end = r"\A" if pattern.starts else "", r"\z" if pattern.ends else ""
    source = f"(?s{'i' if pattern.folds else ''}){start}(?:{pattern.source}){end}"
    whole = pattern.is_of_name
    odd = f"NOT isValidUTF8({columns.path})"
    name = bound.text(source)
    tests = [f"match({columns.path if not whole else _last_of(columns.path)}, {name})"]
    if columns.label:
        # A path counts with the repository's name before it too.
        labelled = f"concat({columns.label}, '/', {columns.path})"
        tests.append(f"match({labelled if not whole else _last_of(labelled)}, {name})")
    test = "(" + " OR ".join(tests) + ")"
    return f"({test} OR {odd})", f"(NOT {test} OR {odd})"


def _last_of(path: str) -> str:
    return f"arrayElement(splitByChar('/', {path}), -1)"


def _is_plain(value: str) -> bool:
    """Folding is only the same everywhere for ASCII, and a pattern can be too large for the engine."""
    return value.isascii() and len(value) < 500


def _name_leaf(leaf: Leaf, column: str, bound: Bound) -> tuple[str, str] | None:
    match leaf:
        case SymbolLike(value):
            # Being wrong costs a candidate, so only the last name of a dotted one is asked for.
            own = value.rpartition(".")[2]
            test = _part(own, column, bound)
            return (test, "1") if "." in value else (test, f"NOT {test}")
        case ClassLike(value):
            kinds = bound.texts(sorted(CLASS_KINDS))
            return f"({_part(value, 'container', bound)} OR (kind IN {kinds} AND {_part(value, column, bound)}))", "1"
        case KindIs(_, names):
            return _exact(f"(kind IN {bound.texts(sorted(names))})")
    return None


def _part(value: str, column: str, bound: Bound) -> str:
    if not value:
        return "1"
    if any(char.isupper() for char in value):
        return f"(position({column}, {bound.text(value)}) > 0)"
    return f"(positionCaseInsensitiveUTF8({column}, {bound.text(value)}) > 0)"
