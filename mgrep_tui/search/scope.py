"""What a query asks of one root among several: `repo:` is decided, paths may hold the root's name, and nested roots are left out.

The roots are seen as folders of one large tree, named by their labels: `path:flask/src/**` means the folder `src` of the root `flask`,
`path:src/**` the folder `src` of every root.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mgrep_tui.search.filters import NOTHING, And, Below, Condition, Filters, Not, Or, PathLike, Repository, leaves
from mgrep_tui.search.globs import WILDCARD, path_test
from mgrep_tui.search.query import Query

LEAST_COMMIT = 6  # characters of a commit that name it
NEVER = Or(())
# Everything, but asked for: a query of `repo:` alone lists what is there, where one of nothing lists nothing.
ALL = And((NOTHING,))


@dataclass(frozen=True, slots=True)
class Scope:
    """One root among those that are open.

    `names` are what `repo:` may call it: its label first, then `owner/name` where it came from a forge. `known` are the names of all open
    roots, in lower case. `prefix` is the label with a slash when there are several roots, else empty. `nested` are the folders of other
    roots inside this one, each with a slash at its end: they answer for themselves. Where there are several states of a root, `refs` are
    the branch and the commit of this one, as in `repo:name@branch`; without `@` that one is meant which `is_default`.
    """

    names: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    prefix: bytes = b""
    nested: tuple[bytes, ...] = ()
    refs: tuple[str, str] | None = None
    is_default: bool = True


def scoped(query: Query, scope: Scope) -> Query | None:
    """The query as this root is to answer it; None when its filters leave the whole root out. Pure."""
    condition = _resolved(query.filters.condition, scope)
    if condition == NEVER:
        return None
    if scope.nested:
        outside = tuple(Not(Below(folder)) for folder in scope.nested)
        own = condition.parts if isinstance(condition, And) else (condition,)
        # Without a filter of the person's the query stays one that lists nothing: an empty one is not asked of the engines.
        condition = And((*own, *outside)) if query.filters or not query.is_empty else condition
    elif condition == NOTHING and query.filters:
        condition = ALL
    return query if condition == query.filters.condition else replace(query, filters=Filters(condition))


def is_meant(value: str, names: Sequence[str], known: frozenset[str] = frozenset()) -> bool:
    """Whether `repo:value` means the root with these names: by its whole name where any root has that name, else by a part of it or by a
    pattern with wildcards. Capitals do not count."""
    wanted = value.strip("/").lower()
    folded = [name.lower() for name in names]
    if wanted in known:
        return wanted in folded
    if WILDCARD.search(value):
        matches = path_test(value.strip("/").lower())
        return any(matches(name.encode("utf-8", "surrogateescape")) for name in folded)
    if value.endswith("/"):  # `repo:pallets/`: every repository of that owner
        return any(re.search(rf"(?:^|/){re.escape(wanted)}/", name) for name in folded)
    return any(wanted in name for name in folded)


def split_ref(value: str, known: frozenset[str] = frozenset()) -> tuple[str, str]:
    """The name and the branch or commit of `repo:name@ref`; the latter empty where there is none, or where a root is called so."""
    name, at, ref = value.rpartition("@")
    return (name, ref) if at and ref and value.lower() not in known else (value, "")


def is_ref(ref: str, branch: str, commit: str) -> bool:
    """Whether `ref` is that branch, or the beginning of that commit."""
    return ref == branch or (len(ref) >= LEAST_COMMIT and commit.startswith(ref.lower()))


def _means(value: str, scope: Scope) -> bool:
    if scope.refs is None:
        return is_meant(value, scope.names, scope.known)
    name, ref = split_ref(value, scope.known)
    if not is_meant(name, scope.names, scope.known):
        return False
    return is_ref(ref, *scope.refs) if ref else scope.is_default


def names_repository(query: Query) -> bool:
    """Whether some filter asks for a root by name."""
    return any(isinstance(leaf, Repository) for leaf in leaves(query.filters.condition))


def _resolved(condition: Condition, scope: Scope) -> Condition:
    match condition:
        case Repository(value):
            return NOTHING if _means(value, scope) else NEVER
        case PathLike(value) if scope.prefix:
            return PathLike(value, scope.prefix)
        case Not(inner):
            found = _resolved(inner, scope)
            return NEVER if found == NOTHING else NOTHING if found == NEVER else Not(found)
        case And(parts):
            found_parts = [_resolved(part, scope) for part in parts]
            if NEVER in found_parts:
                return NEVER
            kept = tuple(part for part in found_parts if part != NOTHING)
            return kept[0] if len(kept) == 1 and len(parts) > 1 else And(kept)
        case Or(parts):
            found_parts = [_resolved(part, scope) for part in parts]
            if NOTHING in found_parts:
                return NOTHING
            kept = tuple(part for part in found_parts if part != NEVER)
            return kept[0] if len(kept) == 1 else Or(kept)
    return condition
