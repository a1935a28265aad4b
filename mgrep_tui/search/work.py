"""Candidates become file groups: filtered, looked into, ranked, some at a time."""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.courtesy import COURTESY
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.facts import FactsOf
from mgrep_tui.search.filters import ChunkFacts, FileFacts, Filters
from mgrep_tui.search.hits import FileGroup, Row
from mgrep_tui.search.looking import LineMatcher, Looker, Ranked, ranked
from mgrep_tui.search.rank import file_rank
from mgrep_tui.search.second import Lease, Order, SecondProcess

FIRST_FILES = 4  # so that the first answer does not wait
MOST_FILES = 48
"""Of one window: what is gained by more is less than what the caches of the processor lose."""

SECOND_FROM = 40
"""With fewer candidates the second process costs more than it saves."""
LEAST_SHARE = 12
COURTESY_MS = 40
"""While somebody types the second process works alone, and is waited for so long at a time."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Where chunks begin and end, for filters that ask for symbols: `facts` holds for lines `first_line` to `last_line`."""

    first_line: int
    last_line: int
    facts: ChunkFacts


LinesOf = Callable[[bytes, FileFacts], Sequence[Lines] | None]
"""The chunks of a file, or None when it has not been cut into chunks yet."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is looked for, and where; shared by all threads of one search."""

    root: Root
    matcher: LineMatcher
    filters: Filters
    facts_of: FactsOf
    lines_of: LinesOf | None
    max_file_bytes: int
    is_ranked: bool
    most_lines: int  # of one file; more are not looked for
    second: SecondProcess | None = None
    order: Order | None = None  # the same for the second process


@dataclass(frozen=True, slots=True)
class Looked:
    """Some candidates that were looked into, or refused by their names: how many, how many of them were read whole, and what was found."""

    files: int
    scanned: int
    groups: list[FileGroup]


def look_into(task: Task, candidates: Iterable[Candidate], cancel: CancelToken, count: int = 0) -> Iterator[Looked]:
    """Look into each candidate, some at a time; in order when nothing is ranked. Ends early, without a word, when cancelled.

    `count` is how many there are; with many of them the second process takes its share.
    """
    source = iter(candidates)
    size = 1 if task.matcher.is_serial else FIRST_FILES
    with contextlib.ExitStack() as stack:
        looker = stack.enter_context(
            Looker(task.root, task.matcher, task.max_file_bytes, most_lines=task.most_lines, is_ranked=task.is_ranked)
        )
        lease: Lease | None = None
        is_asked = False
        left = count
        while not cancel.is_cancelled:
            gives_way = lease is not None and lease.is_waiting and COURTESY.is_due
            wanted = 0 if gives_way else size if lease is None else min(size, _share(left))
            part = list(itertools.islice(source, wanted))
            left -= len(part)
            if part:
                yield from _look(task, looker, part, cancel)
            elif lease is None or not lease.is_waiting:
                return
            if not task.matcher.is_serial:
                size = min(MOST_FILES, 3 * size)
            if lease is None and (not is_asked or COURTESY.is_due):
                is_asked = True  # not before the first answer is out
                lease = _lease(task, count)
                if lease is not None:
                    stack.callback(lease.close)
            if lease is None:
                continue
            if gives_way:
                lease.wait(COURTESY_MS)
            elif not part and not lease.wait():
                yield from _look(task, looker, lease.take_back(), cancel)
            for given, found, closely in lease.answers():
                if found is None:
                    yield from _look(task, looker, given, cancel)
                else:
                    yield from _grouped(task, looker, given, found, closely, cancel)
            while lease.has_room and (part := list(itertools.islice(source, _share(left)))):
                left -= len(part)
                let_through = _let_through(task, part)
                if len(let_through) < len(part):
                    yield Looked(len(part) - len(let_through), 0, [])
                if let_through and not lease.give(let_through):
                    yield from _look(task, looker, let_through, cancel)


def _lease(task: Task, count: int) -> Lease | None:
    if task.second is None or task.order is None or count < SECOND_FROM or not task.is_ranked:
        return None
    return task.second.take(task.order) if task.matcher.can_join else None


def _share(left: int) -> int:
    """How many to take next, so that both processes end at about the same time."""
    return max(LEAST_SHARE, min(MOST_FILES, left // 6))


def _look(task: Task, looker: Looker, part: Sequence[Candidate], cancel: CancelToken) -> Iterator[Looked]:
    let_through = _let_through(task, part)
    if len(let_through) < len(part):
        yield Looked(len(part) - len(let_through), 0, [])
    if let_through:
        found, closely = looker.look(let_through)
        yield from _grouped(task, looker, let_through, found, closely, cancel)


def _grouped(
    task: Task,
    looker: Looker,
    part: Sequence[Candidate],
    found: dict[int, Ranked],
    closely: Sequence[int],
    cancel: CancelToken,
) -> Iterator[Looked]:
    groups: Iterable[FileGroup | None]
    if task.filters.needs_chunk and task.lines_of is not None:
        by_line = ((number, sorted(found[number][0], key=_line_of)) for number in sorted(found))
        groups = [group_of(task, part[number].path, rows) for number, rows in by_line]
    else:
        groups = [_shown(part[number].path, found[number]) for number in sorted(found)]
    scanned = [candidate.blocks for candidate in part].count(None)
    yield Looked(len(part) - len(closely), scanned, [group for group in groups if group is not None])
    for number in closely:
        if cancel.is_cancelled:
            return
        path = part[number].path
        group = group_of(task, path, looker.look_closely(part[number], cancel))
        yield Looked(1, 0, [] if group is None else [group])


def _let_through(task: Task, part: Sequence[Candidate]) -> Sequence[Candidate]:
    return [candidate for candidate in part if is_let_through(task, candidate.path)] if task.filters else part


_line_of = operator.itemgetter(0)


def is_let_through(task: Task, path: bytes) -> bool:
    """Whether the filters accept the file."""
    return not task.filters or task.filters.accepts_file(task.facts_of(path))


def group_of(task: Task, path: bytes, rows: list[Row]) -> FileGroup | None:
    """The rows of a file, by line, as they are shown; None when the filters leave none."""
    if task.filters.needs_chunk and task.lines_of is not None:
        rows = _in_chunks(task, path, rows, task.lines_of)
    if not rows:
        return None
    return _shown(path, ranked(path, rows, task.matcher) if task.is_ranked else (rows, 0.0, None))


def _shown(path: bytes, found: Ranked) -> FileGroup:
    rows, score, reasons = found
    return FileGroup(path, score, rows, None if reasons is None else file_rank(reasons))


def _in_chunks(task: Task, path: bytes, rows: list[Row], lines_of: LinesOf) -> list[Row]:
    chunks = lines_of(path, task.facts_of(path))
    if chunks is None:
        return rows
    begins = task.matcher.lists_chunks
    return [row for row in rows if _is_in_chunk(task.filters, chunks, row[0], begins)]


def _is_in_chunk(filters: Filters, chunks: Sequence[Lines], line: int, begins: bool) -> bool:
    return any(
        chunk.first_line <= line <= (chunk.first_line if begins else chunk.last_line)
        and filters.accepts_chunk(chunk.facts)
        for chunk in chunks
    )
