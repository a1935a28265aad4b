"""What is published on an engine, and which commits a search looks at: the newest of each repository's branch, or those that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mgrep_tui.clickhouse.connection import WORK, Connection, rows
from mgrep_tui.errors import QueryError
from mgrep_tui.search.filters import Filters, Repository, leaves
from mgrep_tui.search.query import Query
from mgrep_tui.search.scope import Scope, is_meant, is_ref, names_repository, scoped, split_ref


@dataclass(frozen=True, slots=True)
class Published:
    """A commit on a branch. `at_us` is when it was published, `committed_s` when it was made (0: unknown); both since 1970."""

    repository: str
    branch: str
    commit: str
    state: int
    committed_s: int
    at_us: int
    files: int
    chunks: int
    text_bytes: int
    model: str
    remote: str = ""
    is_searched: bool = False


def published(connection: Connection) -> list[Published]:
    """Every commit, by repository and branch, the newest first. `is_searched` marks the one of each repository that a search looks at."""
    database = connection.database
    chosen = {
        _text(repository): (_text(branch), _text(remote))
        for repository, branch, remote in rows(
            connection.batches(f"SELECT repository, branch, remote FROM {database}.repositories FINAL", limits=WORK)
        )
    }
    found = []
    for row in rows(
        connection.batches(
            "SELECT repository, branch, commit, state, committed_s, at, files, chunks, text_bytes, model"
            f" FROM {database}.commits FINAL ORDER BY repository, branch, at DESC, state",
            limits=WORK,
        )
    ):
        repository, branch, commit, state, committed_s, at, files, chunks, text_bytes, model = row
        name = _text(repository)
        found.append(
            Published(
                name,
                _text(branch),
                _text(commit),
                state,
                committed_s,
                at,
                files,
                chunks,
                text_bytes,
                _text(model),
                chosen.get(name, ("", ""))[1],
            )
        )
    searched: dict[str, int] = {}
    for number, one in enumerate(found):
        best = searched.get(one.repository)
        wanted = chosen.get(one.repository, ("", ""))[0]
        # Before its chosen branch was pushed the newest commit stands for the repository.
        if best is None or (found[best].branch != wanted and (one.branch == wanted or one.at_us > found[best].at_us)):
            searched[one.repository] = number
    return [replace(one, is_searched=searched[one.repository] == number) for number, one in enumerate(found)]


def _text(value: bytes) -> str:
    return bytes(value).decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Place:
    """A repository as one query sees it: its commit, the query in its own form, and what stands before its paths."""

    published: Published
    query: Query
    prefix: bytes


@dataclass(frozen=True, slots=True)
class Heads:
    """The commits that a search looks at, by state. `is_single` says that there is one repository, whose paths need no name before them.

    `asked` are those that a query named by their branch or commit, beside those that are searched anyway.
    """

    by_state: Mapping[int, Published]
    is_single: bool = False
    asked: frozenset[int] = frozenset()

    def label_of(self, state: int) -> str:
        """What the repository is called in paths: by its name, and where another branch was asked for by that too."""
        one = self.by_state[state]
        return f"{one.repository}@{one.branch or one.commit[:12]}" if state in self.asked else one.repository

    def with_named(self, every: Sequence[Published], query: Query) -> Heads:
        """These, and what the query names as `repo:name@branch` or `repo:name@commit`. Raises `QueryError` when there is none of a name."""
        known = frozenset(one.repository.lower() for one in every)
        found = dict(self.by_state)
        for leaf in leaves(query.filters.condition):
            if not isinstance(leaf, Repository) or self.is_single:
                continue
            name, ref = split_ref(leaf.value, known)
            if not ref:
                continue
            fits = [
                one for one in every if is_meant(name, (one.repository,), known) and is_ref(ref, one.branch, one.commit)
            ]
            if not fits:
                raise QueryError(
                    f"Nothing is published as {leaf.value}.", hint="repo:NAME@ lists the branches of a repository."
                )
            for one in fits:
                if not any(
                    other.repository == one.repository and is_ref(ref, other.branch, other.commit)
                    for other in found.values()
                ):
                    found[one.state] = one
        return replace(self, by_state=found, asked=frozenset(found.keys() - self.by_state.keys()))

    def prefix_of(self, state: int) -> bytes:
        if self.is_single:
            return b""
        return self.label_of(state).encode("utf-8", "surrogateescape") + b"/"

    def place_of(self, path: bytes) -> tuple[Published, bytes] | None:
        """The repository and the path in it of a hit's path."""
        if self.is_single:
            only = next(iter(self.by_state.values()), None)
            return None if only is None else (only, path)
        best: tuple[Published, bytes] | None = None
        for state, one in self.by_state.items():
            prefix = self.prefix_of(state)
            if path.startswith(prefix) and (best is None or len(prefix) > len(path) - len(best[1])):
                best = one, path[len(prefix) :]
        return best

    def narrowed(self, query: Query) -> Narrowed:
        """The query in the form of each repository, where it names any."""
        return Narrowed(self, query)


class Narrowed:
    """Which repositories a query means. What one repository makes of it is worked out when it is first needed."""

    def __init__(self, heads: Heads, query: Query) -> None:
        self._heads = heads
        self._query = query
        self._known = frozenset(one.repository.lower() for one in heads.by_state.values())
        self._places: dict[int, Place | None] = {}
        self.is_everything = not names_repository(query)
        self.states = (
            list(heads.by_state)
            if self.is_everything
            else [state for state in heads.by_state if self.place(state) is not None]
        )

    @property
    def filters(self) -> Filters:
        return self._query.filters

    @property
    def heads(self) -> Heads:
        return self._heads

    def place(self, state: int) -> Place | None:
        """None when the query leaves that repository out, or when it is none that is searched."""
        if state not in self._places:
            one = self._heads.by_state.get(state)
            own = None
            if one is not None:
                prefix = self._heads.prefix_of(state)
                refs = None if self._heads.is_single else (one.branch, one.commit)
                is_default = state not in self._heads.asked
                scope = Scope((one.repository,), self._known, prefix, refs=refs, is_default=is_default)
                own = scoped(self._query, scope)
            self._places[state] = None if own is None or one is None else Place(one, own, self._heads.prefix_of(state))
        return self._places[state]


def heads_of(every: list[Published], only: int | None = None) -> Heads:
    """The searched commits among all; with `only` that one state."""
    if only is not None:
        return Heads({one.state: one for one in every if one.state == only}, is_single=True)
    return Heads({one.state: one for one in every if one.is_searched})
