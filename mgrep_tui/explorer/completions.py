"""Whole words for a half-typed filter: languages, folders, names, kinds and states."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from mgrep_tui.errors import IndexDamagedError

if TYPE_CHECKING:
    from mgrep_tui.index.catalog import Catalog

LIMIT = 50
LIKENESS = 0.75  # names nearer than this are taken for a slip of the pen
STATES = ("dirty", "untracked", "test", "generated", "vendored")
CASES = ("yes", "no", "auto")
KINDS = ("function", "method", "class", "interface", "struct", "enum", "trait", "module", "type", "constant", "section")
KEYS = ("lang:", "path:", "repo:", "sym:", "class:", "kind:", "is:", "case:")


def completions_of(prefix: str, catalog: Catalog | None, names: Sequence[str] = ()) -> tuple[str, ...]:
    """At most `LIMIT` whole words that begin as `prefix` does, likeliest first. A leading `-` is kept. `names` are those of the root."""
    dash = "-" if prefix.startswith("-") else ""
    key, colon, value = prefix.removeprefix("-").partition(":")
    if not colon:
        return tuple(dash + name for name in KEYS if name.startswith(key))
    if key == "repo":
        return tuple(f"{dash}repo:{_quoted(name)}" for name in names if value.lower() in name.lower())
    try:
        values = _values(key, value, catalog)
    except IndexDamagedError:
        values = ()
    return tuple(f"{dash}{key}:{_quoted(found)}" for found in values[:LIMIT])


def united_completions(
    prefix: str, labels: Sequence[str], askers: Sequence[Callable[[str], tuple[str, ...]]]
) -> tuple[str, ...]:
    """As `completions_of` over several roots: their names for `repo:`, folders that begin with a root's name, and what each root offers,
    taken in turns."""
    dash = "-" if prefix.startswith("-") else ""
    key, colon, value = prefix.removeprefix("-").partition(":")
    if colon and key == "repo":
        return tuple(f"{dash}repo:{_quoted(label)}" for label in labels if value.lower() in label.lower())[:LIMIT]
    found: dict[str, None] = {}
    if colon and key in ("path", "file"):
        label, slash, rest = value.partition("/")
        if not slash:
            found |= {f"{dash}{key}:{_quoted(name + '/**')}": None for name in labels if name.startswith(value)}
        elif label in labels:
            for word in askers[labels.index(label)](f"{dash}{key}:{rest}"):
                start, _, own = word.partition(":")
                found[f"{start}:{_quoted(label + '/' + own.strip(chr(34)))}"] = None
            return tuple(found)[:LIMIT]
    answers = [ask(prefix) for ask in askers]
    for turn in zip_longest(*answers):
        found |= {word: None for word in turn if word is not None}
    return tuple(found)[:LIMIT]


def nearest_symbol(word: str, catalog: Catalog | None) -> str:
    """The name in the symbol table that is most like `word`; empty when none is near, or when the word is a name itself."""
    if catalog is None or len(word) < 4:
        return ""
    try:
        if catalog.symbols_named(word, limit=1):
            return ""
        names = {row.name for row in catalog.symbols_starting(word[:2], limit=2_000)}
    except IndexDamagedError:
        return ""
    near = difflib.get_close_matches(word, sorted(names), 1, LIKENESS)
    return near[0] if near else ""


def _values(key: str, value: str, catalog: Catalog | None) -> tuple[str, ...]:
    fixed = {"is": STATES, "case": CASES, "kind": KINDS}.get(key)
    if fixed is not None:
        return tuple(name for name in fixed if name.startswith(value.lower()))
    if catalog is None:
        return ()
    if key == "lang":
        return tuple(name for name, _ in catalog.languages() if name.startswith(value.lower()))
    if key in ("path", "file"):
        return _folders(value, catalog)
    if key in ("sym", "class"):
        names = dict.fromkeys(
            row.name
            for row in catalog.symbols_starting(value, limit=400)
            if key == "sym" or row.kind not in ("function", "method")
        )
        return tuple(names)
    return ()


def _folders(value: str, catalog: Catalog) -> tuple[str, ...]:
    """Folders one level below what is typed, those with the most files first, then the files there."""
    base, _, name = value.rpartition("/")
    start = f"{base}/" if base else ""
    folders: Counter[str] = Counter()
    files = []
    for row in catalog.files():
        path = os.fsdecode(row.path)
        if not path.startswith(start) or not path[len(start) :].startswith(name):
            continue
        below, slash, _ = path[len(start) :].partition("/")
        if slash:
            folders[f"{start}{below}/**"] += 1
        else:
            files.append(start + below)
    return (*(folder for folder, _ in folders.most_common()), *sorted(files))


def _quoted(value: str) -> str:
    return f'"{value}"' if any(character in value for character in ' "()') else value
