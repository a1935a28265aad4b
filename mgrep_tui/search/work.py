"""Candidates become file groups: read, matched, filtered, ranked, in the order given, on one thread or two.

Most searches have a few hundred candidates of some kilobytes; handing these to a second thread costs more than it saves. A scan of many
files is another matter: reading and RE2 let other threads run.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from mgrep_tui.corpus.decode import decode_line
from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.buffers import LineMatch
from mgrep_tui.search.facts import FactsOf
from mgrep_tui.search.filters import ChunkFacts, FileFacts, Filters
from mgrep_tui.search.hits import hits_of
from mgrep_tui.search.rank import FileGroup, rank_file, ranked_group
from mgrep_tui.search.reading import CandidateReader

SCAN_THREADS = 2
INLINE_FILES = 256
"""Up to this many candidates stay on the search's own thread."""
FILES_A_TASK = 64
TASKS_AHEAD = 6

MAX_NAME_BYTES = 200


class LineMatcher(Protocol):
    """What a search needs of a pattern: `matcher.Matcher` and what stands in its place."""

    @property
    def is_multiline(self) -> bool: ...

    @property
    def is_serial(self) -> bool:
        """Whether only one thread may use it."""

    @property
    def lists_chunks(self) -> bool:
        """Whether of all lines those count that begin a chunk."""

    @property
    def plan_pattern(self) -> str:
        """The pattern for the planner of the n-gram index."""

    def lines(
        self,
        buffer: bytes,
        *,
        first_line: int = 0,
        starts_file: bool = True,
        ends_file: bool = True,
        limit: int = 1 << 60,
    ) -> list[LineMatch]: ...

    def text_of(self, content: bytes) -> bytes: ...

    def is_in_path(self, path: bytes) -> bool: ...


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
    """A candidate that was looked into; `group` is None when nothing was found. `is_left_out` when the filters refuse it by its name."""

    candidate: Candidate
    group: FileGroup | None
    is_left_out: bool = False


def look_into(task: Task, candidates: Iterable[Candidate], count: int, cancel: CancelToken) -> Iterator[Looked]:
    """Look into each candidate, in order. Ends early, without a word, when cancelled."""
    if count <= INLINE_FILES or task.matcher.is_serial:
        yield from _inline(task, candidates, cancel)
        return
    source = iter(candidates)
    # The first answers come from here, while nothing has been started yet.
    yield from _inline(task, itertools.islice(source, INLINE_FILES // 4), cancel)
    with ThreadPoolExecutor(SCAN_THREADS, "scan") as pool:
        waiting: deque[Future[list[Looked]]] = deque()
        stop = CancelToken()
        try:
            while True:
                while len(waiting) < TASKS_AHEAD and (part := list(itertools.islice(source, FILES_A_TASK))):
                    waiting.append(pool.submit(_part, task, part, cancel, stop))
                if not waiting or cancel.is_cancelled:
                    return
                yield from waiting.popleft().result()
        finally:
            stop.cancel()
            for future in waiting:
                future.cancel()


def _part(task: Task, candidates: Sequence[Candidate], cancel: CancelToken, stop: CancelToken) -> list[Looked]:
    found = []
    for looked in _inline(task, candidates, cancel):
        found.append(looked)
        if stop.is_cancelled:
            break
    return found


def _inline(task: Task, candidates: Iterable[Candidate], cancel: CancelToken) -> Iterator[Looked]:
    with CandidateReader(task.root, task.max_file_bytes) as reader:
        for candidate in candidates:
            if cancel.is_cancelled:
                return
            yield _look(task, reader, candidate, cancel)


def _look(task: Task, reader: CandidateReader, candidate: Candidate, cancel: CancelToken) -> Looked:
    path = candidate.path
    facts: FileFacts | None = None
    if task.filters:
        facts = task.facts_of(path)
        if not task.filters.accepts_file(facts):
            return Looked(candidate, None, True)
    matcher = task.matcher
    found: list[tuple[bytes, list[LineMatch]]] = []
    if matcher.is_multiline:
        content = reader.whole(path)
        if content is not None:
            text = matcher.text_of(content)
            if lines := matcher.lines(text, limit=task.most_lines):
                found.append((text, lines))
    else:
        left = task.most_lines
        for part in reader.parts(candidate):
            lines = matcher.lines(
                part.data,
                first_line=part.first_line,
                starts_file=part.starts_file,
                ends_file=part.ends_file,
                limit=left,
            )
            if lines:
                found.append((part.data, lines))
                left -= len(lines)
            if left <= 0 or cancel.is_cancelled:
                break
    if not found:
        return Looked(candidate, None)
    return Looked(candidate, _group(task, facts or task.facts_of(path), found))


def _group(task: Task, facts: FileFacts, found: Sequence[tuple[bytes, list[LineMatch]]]) -> FileGroup | None:
    file_rank = None
    if task.is_ranked:
        buffer, lines = found[0]
        start, end = lines[0][3][0]
        matched = decode_line(buffer[start:end]) if end - start < MAX_NAME_BYTES else ""
        file_rank = rank_file(facts, matches_path=task.matcher.is_in_path(facts.path), matched=matched)
    hits = hits_of(facts, found, file_rank)
    if task.filters.needs_chunk and task.lines_of is not None:
        chunks = task.lines_of(facts.path, facts)
        if chunks is not None:
            begins = task.matcher.lists_chunks
            hits = [hit for hit in hits if _is_in_chunk(task.filters, chunks, hit.line, begins)]
    if not hits:
        return None
    return ranked_group(facts.path, hits) if task.is_ranked else FileGroup(facts.path, 0.0, tuple(hits))


def _is_in_chunk(filters: Filters, chunks: Sequence[Lines], line: int, begins: bool) -> bool:
    return any(
        chunk.first_line <= line <= (chunk.first_line if begins else chunk.last_line)
        and filters.accepts_chunk(chunk.facts)
        for chunk in chunks
    )
