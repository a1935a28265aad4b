"""Whole words for a half-typed filter, and names near a misspelt one, from an engine."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.heads import Heads, Published
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.completions import LIMIT, completions_of
from mgrep_tui.search.scope import is_meant

LIMITS = Limits(time_s=1.0, memory_bytes=1_000_000_000)
NEAR = 2_000


def completions(prefix: str, connection: Connection, heads: Heads, every: Sequence[Published] = ()) -> tuple[str, ...]:
    """At most `LIMIT` whole words that begin as `prefix` does, the likeliest first. A leading `-` is kept. Never raises."""
    dash = "-" if prefix.startswith("-") else ""
    key, colon, value = prefix.removeprefix("-").partition(":")
    if not colon or key not in ("lang", "path", "file", "sym", "class", "repo"):
        return completions_of(prefix, None)
    try:
        values = _branches(value, every) if key == "repo" and "@" in value else _values(key, value, connection, heads)
    except MgrepError:
        return ()
    return tuple(f"{dash}{key}:{_quoted(found)}" for found in values[:LIMIT])


def _branches(value: str, every: Sequence[Published]) -> list[str]:
    """The published branches of the repositories that are meant before the `@`."""
    name, _, start = value.rpartition("@")
    found = [
        f"{one.repository}@{one.branch}"
        for one in every
        if one.branch.startswith(start) and is_meant(name, (one.repository,))
    ]
    return list(dict.fromkeys(found))


def _values(key: str, value: str, connection: Connection, heads: Heads) -> list[str]:
    if key == "repo":
        names = sorted(one.repository for one in heads.by_state.values())
        return [name for name in names if value.lower() in name.lower()]
    bound = Bound()
    states = bound.numbers(list(heads.by_state))
    database = connection.database
    if key == "lang":
        statement = (
            f"SELECT language FROM {database}.files WHERE state IN {states} AND language != ''"
            f" AND startsWith(language, {bound.text(value.lower())}) GROUP BY language ORDER BY count() DESC LIMIT {LIMIT:d}"
        )
    elif key in ("sym", "class"):
        types = "" if key == "sym" else " AND kind NOT IN ('function', 'method')"
        statement = (
            f"SELECT DISTINCT name FROM {database}.symbols WHERE startsWith(folded, {bound.text(value.casefold())}){types}"
            f" LIMIT {LIMIT:d}"
        )
    else:
        base, slash, _ = value.rpartition("/")
        start = bound.text(base + slash)
        statement = (
            f"SELECT arrayElement(splitByChar('/', substring(path, length({start}) + 1)), 1) AS name,"
            f" countSubstrings(substring(path, length({start}) + 1), '/') > 0 AS is_folder"
            f" FROM {database}.files WHERE state IN {states} AND startsWith(path, {bound.text(value)}) AND isValidUTF8(path)"
            f" GROUP BY name, is_folder ORDER BY is_folder DESC, count() DESC, name LIMIT {LIMIT:d}"
        )
        found = rows(connection.batches(statement, bound.values, limits=LIMITS))
        return [f"{base}{slash}{name.decode()}{'/**' if is_folder else ''}" for name, is_folder in found]
    return [
        name.decode("utf-8", "replace") for (name,) in rows(connection.batches(statement, bound.values, limits=LIMITS))
    ]


def nearest_name(word: str, connection: Connection) -> list[str]:
    """Names that begin like `word`; with the word itself first when it is a name."""
    bound = Bound()
    statement = (
        f"SELECT DISTINCT name FROM {connection.database}.symbols WHERE startsWith(folded, {bound.text(word[:2].casefold())})"
        f" ORDER BY folded != {bound.text(word.casefold())} LIMIT {NEAR:d}"
    )
    try:
        return [
            name.decode("utf-8", "replace")
            for (name,) in rows(connection.batches(statement, bound.values, limits=LIMITS))
        ]
    except MgrepError:
        return []


def _quoted(value: str) -> str:
    return f'"{value}"' if any(character in value for character in ' "()') else value
