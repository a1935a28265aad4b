"""Regex mode on an engine: blocks that can hold a match come as a stream, and our own matcher decides on their text.

    pattern → plan (ours) → grams (the engine's text index) → blocks with their text → matcher (ours) → groups, ranked and shown as locally

The engine narrows, it never decides: an answer is what a scan of the same files with the same matcher gives. A pattern without literals has
no plan; then the engine reads every block, within the limits of time and memory that go along with the statement, and the outcome says so.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mgrep_tui.clickhouse.allowed import label_of
from mgrep_tui.clickhouse.bound import Bound
from mgrep_tui.clickhouse.conditions import FileColumns, of_files
from mgrep_tui.clickhouse.connection import Connection, Limits, rows
from mgrep_tui.clickhouse.errors import EngineLimitError
from mgrep_tui.clickhouse.grams import block_condition, content_condition
from mgrep_tui.clickhouse.heads import Heads, Narrowed
from mgrep_tui.clickhouse.here import HereChunks
from mgrep_tui.clickhouse.overlay import Overlay
from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Outcome, Sink
from mgrep_tui.ngram.plan import plan
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.backtracking import BacktrackingMatcher
from mgrep_tui.search.facts import facts_of_path
from mgrep_tui.search.filters import ChunkFacts, FileFacts
from mgrep_tui.search.hits import Row, row_of
from mgrep_tui.search.looking import LineMatcher
from mgrep_tui.search.query import Query
from mgrep_tui.search.reading import Part
from mgrep_tui.search.regex import NO_LIMIT, matcher_of
from mgrep_tui.search.running import Run
from mgrep_tui.search.work import Lines, LinesOf, Looked, Task, group_of, look_into
from mgrep_tui.settings.config import Settings

CONTENTS_AT_ONCE = 32
"""Contents whose files are looked up together; the first lookup is for few, so that the first hit does not wait."""
FIRST_CONTENTS = 4
MEMORY_BYTES = 4_000_000_000
TELL_S = 0.1


@dataclass(frozen=True, slots=True)
class _Extent:
    """How much there is to look into: what is published, and how it is looked for."""

    count: int
    has_index: bool
    has_scan: bool


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a content: the state that has it, and its path there."""

    state: int
    path: bytes


class LineSearch:
    """Regex searches on an engine; any number of threads."""

    def __init__(self, connection: Connection, settings: Settings, makes: HereChunks | None = None) -> None:
        """`makes` tells what is defined in files that differ on this disk."""
        self._connection = connection
        self._settings = settings
        self._makes = makes

    def search(
        self,
        query: Query,
        heads: Heads,
        overlay: Overlay | None,
        sink: Sink,
        cancel: CancelToken,
        *,
        sort: str = "rank",
        is_exhaustive: bool = False,
        limit: int | None = None,
    ) -> Outcome:
        """Run a search in the caller's thread; hits go to `sink`. As `RegexEngine.search`, but for what is printed line by line.

        Raises `QueryError`, `EngineError` and `Cancelled`.
        """
        if query.is_empty:
            return Outcome()
        with contextlib.ExitStack() as stack:
            matcher = matcher_of(query, self._settings, cancel)
            if isinstance(matcher, BacktrackingMatcher):
                stack.callback(matcher.close)
            return self._run(query, matcher, heads, overlay, sink, cancel, sort, is_exhaustive, limit)

    def _run(
        self,
        query: Query,
        matcher: LineMatcher,
        heads: Heads,
        overlay: Overlay | None,
        sink: Sink,
        cancel: CancelToken,
        sort: str,
        is_exhaustive: bool,
        limit: int | None,
    ) -> Outcome:
        settings = self._settings
        is_ranked = sort == "rank" and not is_exhaustive
        most = limit if limit is not None else None if is_exhaustive else settings.regex.max_hits
        narrowed = heads.narrowed(query)
        limit_s = None if is_exhaustive else settings.regex.time_limit_s
        looking = _Looking(
            self._connection, matcher, narrowed, overlay, settings, is_ranked, most, cancel, self._makes, limit_s
        )
        run = Run(query, looking.task, sink, cancel, most, limit_s, is_ranked, is_exhaustive)
        count = sum(one.files for one in heads.by_state.values())
        extent = _Extent(count, looking.is_planned, not looking.is_planned or overlay is not None)
        if not looking.is_planned and query.pattern:
            run.notes.append("The pattern has no literal for the index: the engine reads every text.")
        try:
            run.consume(looking.found(), extent)
        except EngineLimitError as error:
            run.is_late = True
            run.notes.append(f"{error.message} {error.hint}".rstrip())
            run.consume((), extent)  # what was found by then is shown
        outcome = run.outcome()
        return replace(outcome, is_verified=not run.is_stopped, candidate_files=looking.candidates)


class _Looking:
    """One search's way from statements to groups."""

    def __init__(
        self,
        connection: Connection,
        matcher: LineMatcher,
        narrowed: Narrowed,
        overlay: Overlay | None,
        settings: Settings,
        is_ranked: bool,
        most: int | None,
        cancel: CancelToken,
        makes: HereChunks | None,
        limit_s: float | None,
    ) -> None:
        self._ends = None if limit_s is None else time.monotonic() + limit_s
        self._makes = makes
        self._connection = connection
        self._matcher = matcher
        self._narrowed = narrowed
        self._overlay = overlay
        self._cancel = cancel
        self._limits = Limits(settings.regex.time_limit_s, MEMORY_BYTES)
        self._most_lines = NO_LIMIT if most is None else most + 1
        self._is_ranked = is_ranked
        self._places: dict[bytes, _File] = {}  # by the path of a hit
        self._plan = plan(matcher.plan_pattern, multiline=matcher.is_multiline)
        self.is_planned = not self._plan.is_all
        self.candidates = 0
        self.task = Task(
            overlay.root if overlay is not None else Root(Path("/")),
            matcher,
            narrowed.filters,
            self._facts_of,
            self._lines_of,
            settings.corpus.max_file_bytes,
            is_ranked,
            self._most_lines,
        )
        self._tasks: dict[int, Task] = {}
        self._symbols: dict[_File, list[Lines]] = {}

    def found(self) -> Iterator[Looked]:
        """What is found, some files at a time: first what the disk says of the files that differ from what is published."""
        overlay = self._overlay
        if overlay is not None and overlay.changed:
            candidates = [Candidate(path, None, None) for path in overlay.changed]
            self.candidates += len(candidates)
            yield from look_into(self._task_of_disk(), candidates, self._cancel)
        waiting: list[tuple[bytes, list[Row]]] = []
        size = FIRST_CONTENTS
        told, seen = time.monotonic(), 0
        for content, parts in self._contents():
            lines = self._rows_of(parts)
            seen += 1
            if lines:
                waiting.append((content, lines))
            # Also where nothing is found: whoever takes it looks at the clock.
            if len(waiting) >= size or time.monotonic() - told > TELL_S:
                yield replace(self._looked(waiting), files=seen)
                waiting, size = [], CONTENTS_AT_ONCE
                told, seen = time.monotonic(), 0
        yield replace(self._looked(waiting), files=seen)

    # --- from the engine

    def _contents(self) -> Iterator[tuple[bytes, list[Part]]]:
        """Every content that can hold a match, with the parts of its text to look into."""
        is_whole = self._matcher.is_multiline or self._matcher.lists_chunks or not self._matcher.plan_pattern
        bound = Bound()
        database = self._connection.database
        tests = []
        if is_whole and self.is_planned:
            having = content_condition(self._plan, bound)
            if having:
                tests.append(f"content IN (SELECT content FROM {database}.blocks GROUP BY content HAVING {having})")
        elif not is_whole:
            blocks = block_condition(self._plan, bound)
            if blocks:
                tests.append(blocks)
        files = self._file_condition(bound)
        if files:
            tests.append(f"content IN (SELECT content FROM {database}.files WHERE {files})")
        where = " WHERE " + " AND ".join(tests) if tests else ""
        statement = (
            f"SELECT content, number, first_line, is_last, text FROM {database}.blocks{where} ORDER BY content, number"
        )
        last: bytes | None = None
        seen = -1
        parts: list[Part] = []
        for batch in self._connection.batches(statement, bound.values, limits=self._limits, cancel=self._cancel):
            columns = [column.to_pylist() for column in batch.columns]
            for content, number, first_line, is_last, text in zip(*columns, strict=True):
                if content != last:
                    if last is not None:
                        yield last, parts
                    last, parts, seen = content, [], -1
                if number != seen:  # a block that was written twice has not been merged yet
                    parts.append(Part(text, first_line, number == 0, bool(is_last)))
                    seen = number
        if last is not None:
            yield last, parts

    def _file_condition(self, bound: Bound) -> str:
        """What files must be, when some filter or the choice of repositories says so; else they are looked up once something is found."""
        narrowed = self._narrowed
        columns = FileColumns("path", "named", "named_flags", label_of(narrowed, bound))
        condition = of_files(narrowed.filters.condition, columns, bound) if narrowed.filters else ""
        if narrowed.is_everything and not condition:
            return ""
        states = f"state IN {bound.numbers(narrowed.states)}"
        return f"{states} AND {condition}" if condition else states

    def _is_over(self) -> bool:
        return self._ends is not None and time.monotonic() > self._ends

    def _rows_of(self, parts: list[Part]) -> list[Row]:
        matcher = self._matcher
        if matcher.is_multiline:
            text = matcher.text_of(b"".join(part.data for part in parts))
            return [row_of(text, line, self._is_ranked) for line in matcher.lines(text, limit=self._most_lines)]
        found: list[Row] = []
        for part in parts:
            lines = matcher.lines(
                part.data,
                first_line=part.first_line,
                starts_file=part.starts_file,
                ends_file=part.ends_file,
                limit=self._most_lines - len(found),
            )
            found += [row_of(part.data, line, self._is_ranked) for line in lines]
            if len(found) >= self._most_lines or self._cancel.is_cancelled or self._is_over():
                break
        return found

    def _looked(self, waiting: Sequence[tuple[bytes, list[Row]]]) -> Looked:
        """The groups of some contents: one for every file that has such a content, in the order of paths."""
        if not waiting:
            return Looked(0, 0, [])
        files = self._files_of([content for content, _ in waiting])
        found: list[tuple[bytes, int, bytes, list[Row]]] = []
        held: list[tuple[_File, bytes]] = []
        hidden = self._overlay.hidden if self._overlay is not None else frozenset()
        for content, lines in waiting:
            for file in files.get(content, ()):
                place = self._narrowed.place(file.state)
                if place is None or file.path in hidden:
                    continue
                found.append((place.prefix + file.path, file.state, file.path, lines))
                held.append((file, content))
        if self.task.filters.needs_chunk and found:
            self._learn_symbols(held)
        groups = []
        for path, state, inner, lines in sorted(found, key=lambda one: one[:2]):
            task = self._task_of(state)
            if task.filters and not task.filters.accepts_file(facts_of_path(inner)):
                continue
            self._places[path] = _File(state, inner)
            group = group_of(task, path, lines)
            if group is not None:
                groups.append(group)
        self.candidates += len(found)
        return Looked(len(found), 0 if self.is_planned else len(found), groups)

    def _files_of(self, contents: list[bytes]) -> Mapping[bytes, list[_File]]:
        bound = Bound()
        statement = (
            f"SELECT content, state, path FROM {self._connection.database}.files"
            f" WHERE content IN {bound.hashes(contents)} AND state IN {bound.numbers(self._narrowed.states)}"
        )
        found: dict[bytes, set[tuple[int, bytes]]] = {}
        for content, state, path in rows(
            self._connection.batches(statement, bound.values, limits=self._limits, cancel=self._cancel)
        ):
            found.setdefault(content, set()).add((state, path))
        return {content: [_File(state, path) for state, path in sorted(some)] for content, some in found.items()}

    # --- what filters and ranks ask

    def _task_of(self, state: int) -> Task:
        """The task with the filters as that repository reads them."""
        task = self._tasks.get(state)
        if task is None:
            place = self._narrowed.place(state)
            filters = place.query.filters if place is not None else self._narrowed.filters
            task = self._tasks[state] = replace(self.task, filters=filters)
        return task

    def _task_of_disk(self) -> Task:
        """For the files of the overlay, which the engine knows nothing of."""
        only = next(iter(self._narrowed.states), None)
        task = self.task if only is None else self._task_of(only)
        return replace(
            task,
            facts_of=lambda path: replace(facts_of_path(path), is_dirty=True),
            lines_of=self._lines_here() if task.filters.needs_chunk else None,
        )

    def _lines_here(self) -> LinesOf | None:
        """The definitions of the files that differ on the disk; those of too many are not known, and nothing of them is left out."""
        if self._makes is None or self._overlay is None:
            return None
        symbols = self._makes.symbols(self._overlay, self._cancel)

        def lines_of(path: bytes, facts: FileFacts) -> list[Lines] | None:
            found = symbols.get(path)
            if found is None:
                return None
            return [
                Lines(one.first_line, one.last_line, ChunkFacts(facts, one.kind, one.name, one.container))
                for one in found
            ]

        return lines_of

    def _facts_of(self, path: bytes) -> FileFacts:
        """What is known of a file: as of a path in its repository, under the path that is shown."""
        file = self._places.get(path)
        return facts_of_path(path) if file is None else replace(facts_of_path(file.path), path=path)

    def _lines_of(self, path: bytes, facts: FileFacts) -> list[Lines] | None:
        """The definitions of a file."""
        file = self._places.get(path)
        return None if file is None else self._symbols.get(file, [])

    def _learn_symbols(self, files: Sequence[tuple[_File, bytes]]) -> None:
        """Look up the definitions of some files at once; each with its content."""
        bound = Bound()
        database = self._connection.database
        statement = (
            "SELECT DISTINCT state, path, first_line, last_line, kind, name, container"
            f" FROM (SELECT state, path, document FROM {database}.files WHERE content IN {bound.hashes([content for _, content in files])}"
            f" AND state IN {bound.numbers(sorted({file.state for file, _ in files}))}) AS held"
            f" INNER JOIN (SELECT bitShiftRight(chunk, 15) AS document, first_line, last_line, kind, name, container"
            f" FROM {database}.symbols WHERE bitShiftRight(chunk, 15) IN (SELECT document FROM {database}.files"
            f" WHERE content IN {bound.hashes([content for _, content in files])})) AS named ON held.document = named.document"
        )
        for state, path, first, last, kind, name, container in rows(
            self._connection.batches(statement, bound.values, limits=self._limits, cancel=self._cancel)
        ):
            facts = ChunkFacts(facts_of_path(path), kind.decode(), _text(name), _text(container))
            self._symbols.setdefault(_File(state, path), []).append(Lines(first, last, facts))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
