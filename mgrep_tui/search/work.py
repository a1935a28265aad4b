"""Candidates become file groups: filtered, looked into, ranked, some at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.facts import FactsOf
from mgrep_tui.search.filters import ChunkFacts, FileFacts, Filters
from mgrep_tui.search.hits import FileGroup, Row
from mgrep_tui.search.looking import LineMatcher, Looker
from mgrep_tui.search.rank import definitions_first, rank_file, score_of

FIRST_FILES = 4  # so that the first answer does not wait
MOST_FILES = 64
"""Of one window: what is gained by more is less than what the caches of the processor lose."""

MAX_NAME_CHARS = 200


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


@dataclass(frozen=True, slots=True)
class Looked:
    """Some candidates that were looked into, or refused by their names: how many, how many of them were read whole, and what was found."""

    files: int
    scanned: int
    groups: list[FileGroup]


def look_into(task: Task, candidates: Iterable[Candidate], cancel: CancelToken) -> Iterator[Looked]:
    """Look into each candidate, in order, some at a time. Ends early, without a word, when cancelled."""
    source = iter(candidates)
    size = 1 if task.matcher.is_serial else FIRST_FILES
    with Looker(
        task.root, task.matcher, task.max_file_bytes, most_lines=task.most_lines, is_ranked=task.is_ranked
    ) as looker:
        while part := list(itertools.islice(source, size)):
            if cancel.is_cancelled:
                return
            let_through = [candidate for candidate in part if is_let_through(task, candidate.path)]
            rows, closely = looker.look(let_through)
            groups = [_group(task, let_through[number].path, rows[number]) for number in sorted(rows)]
            scanned = sum(1 for candidate in part if candidate.blocks is None)
            yield Looked(len(part) - len(closely), scanned, [group for group in groups if group is not None])
            for number in closely:
                if cancel.is_cancelled:
                    return
                path = let_through[number].path
                group = _group(task, path, looker.look_closely(let_through[number], cancel))
                yield Looked(1, 0, [] if group is None else [group])
            if not task.matcher.is_serial:
                size = min(MOST_FILES, 3 * size)


def is_let_through(task: Task, path: bytes) -> bool:
    """Whether the filters accept the file."""
    return not task.filters or task.filters.accepts_file(task.facts_of(path))


def _group(task: Task, path: bytes, rows: list[Row]) -> FileGroup | None:
    if task.filters.needs_chunk and task.lines_of is not None:
        rows = _in_chunks(task, path, rows, task.lines_of)
    if not rows:
        return None
    if not task.is_ranked:
        return FileGroup(path, 0.0, rows)
    _, text, places, *_ = rows[0]
    start, finish = places[0] if places else (0, 0)
    rank = rank_file(
        task.facts_of(path),
        matches_path=task.matcher.is_in_path(path),
        matched=text[start:finish] if finish - start < MAX_NAME_CHARS else "",
    )
    return FileGroup(path, score_of(rows, rank), definitions_first(rows), rank)


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
