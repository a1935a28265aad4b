"""One regex search while it runs: what was found so far, when it is shown, and when it is time to stop."""

from __future__ import annotations

import heapq
import itertools
import operator
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Entry, Hits, Outcome, Progress, Sink, Symbol
from mgrep_tui.ngram.snapshot import Candidate, Candidates
from mgrep_tui.search.backtracking import BacktrackingMatcher
from mgrep_tui.search.hits import FileGroup, enclosing
from mgrep_tui.search.matcher import Matcher
from mgrep_tui.search.ordering import best_first, by_path
from mgrep_tui.search.query import Query
from mgrep_tui.search.streaming import LineSink, stream_lines
from mgrep_tui.search.work import Looked, Task, is_let_through, look_into

if TYPE_CHECKING:
    # The package brings the whole index along.
    from mgrep_tui.index.results import CheckResult

BATCH_LINES = 1000
BATCH_S = 0.03
EARLY_S = 0.0005
"""From then on the first file with hits is shown at once."""
SETTLE_S = 0.03
"""Until then the order may still change: nobody has seen it."""
PROGRESS_S = 0.1
AHEAD_FILES = 256
"""How far in the order of paths one looks for good files (no tests, nothing generated) to read first. So few are read within `SETTLE_S`,
and need no such order."""
MANY_FILES = 1 << 20  # for a tree that is still being listed
NAMED_LINES = 300
NAMING_S = 0.05
"""So many of the first hits, or what can be looked up in that time, carry the symbol around them."""
FIRST_AHEAD_FILES = 32  # so that the first answer does not wait for the description of many


SymbolsOf = Callable[[bytes], Sequence[Symbol]]
"""The symbols of a file by their first lines; nothing when they are not known, or not of the file as it is now."""


class Extent(Protocol):
    """How much there is to look into, and how it is looked for."""

    @property
    def count(self) -> int: ...

    @property
    def has_index(self) -> bool: ...

    @property
    def has_scan(self) -> bool: ...


class Arriving:
    """The paths of a tree that is still being listed: whoever goes through them, once, waits for each part."""

    def __init__(self, parts: Iterable[Sequence[Entry]]) -> None:
        self._parts = parts
        self._count = 0

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            self._count += len(part)
            for entry in part:
                yield entry.path

    def __len__(self) -> int:
        """How many have come."""
        return self._count

    def __bool__(self) -> bool:
        return True


class Places:
    """Where to look, by path: what the index leads to, what it does not know, and what a check of the disk said before the search.

    While nothing is known of the tree, its files are looked into in the order in which they are listed.
    """

    def __init__(
        self, candidates: Candidates | None, unlisted: Sequence[bytes] | Arriving, checked: CheckResult | None
    ) -> None:
        self._candidates = candidates
        self._checked = checked if checked is not None and checked.is_complete else None
        changed = self._checked.changed if self._checked is not None else ()
        self._whole = sorted({*unlisted, *changed}) if changed else unlisted
        self.is_arriving = isinstance(self._whole, Arriving)
        self.has_index = candidates is not None and candidates.indexed_count > 0
        self.has_scan = bool(self._whole) or candidates is None or bool(candidates.extra)
        self.is_checked = self._checked is not None

    @property
    def count(self) -> int:
        return (len(self._candidates) if self._candidates is not None else 0) + len(self._whole)

    def __iter__(self) -> Iterator[Candidate]:
        indexed: Iterable[Candidate] = self._candidates if self._candidates is not None else ()
        if self._checked is not None:
            hidden = {*self._checked.changed, *self._checked.deleted}
            if hidden:
                indexed = (candidate for candidate in indexed if candidate.path not in hidden)
        if not self._whole:
            return iter(indexed)
        whole = (Candidate(path, None, None) for path in self._whole)
        return heapq.merge(indexed, whole, key=operator.attrgetter("path"))


# A rough guess, for the order of reading only: what the hits say of their files comes from `text.languages`.
_WORSE = re.compile(
    rb"(?:^|[/_.-])(?:tests?|testing|testdata|spec|specs|fixtures|vendor|third_party|node_modules|generated|min)(?:[/_.-]|$)"
)


def _good_first(stream: Iterable[Candidate]) -> Iterator[Candidate]:
    """The same candidates, tests and what nobody wrote here after the others, within stretches of `AHEAD_FILES`."""
    source = iter(stream)
    size = FIRST_AHEAD_FILES
    while stretch := list(itertools.islice(source, size)):
        size = AHEAD_FILES
        later = []
        for candidate in stretch:
            if _WORSE.search(candidate.path):
                later.append(candidate)
            else:
                yield candidate
        yield from later


@dataclass(slots=True)
class Run:
    """One search while it runs."""

    query: Query
    task: Task
    sink: Sink
    cancel: CancelToken
    most: int | None
    limit_s: float | None
    is_ranked: bool
    is_exhaustive: bool
    began: float = field(default_factory=time.monotonic)
    places: Extent | None = None
    first_hit: float | None = None
    shown: dict[bytes, FileGroup] = field(default_factory=dict)  # in the order of display
    waiting: list[FileGroup] = field(default_factory=list)
    files: int = 0
    lines: int = 0
    waiting_lines: int = 0
    looked: int = 0
    scanned: int = 0
    batches: int = 0
    last_batch: float = 0.0
    last_progress: float = 0.0
    is_capped: bool = False
    is_late: bool = False
    is_settled: bool = False
    is_verified: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def is_stopped(self) -> bool:
        """Whether cap or time ended the search, so that there is nothing to verify."""
        return self.is_capped or self.is_late

    def answer(self, places: Places) -> None:
        """Look into everything, in good order."""
        self.places = places
        self.is_verified = places.is_checked
        matcher = self.task.matcher
        if (
            self.is_exhaustive
            and self.most is None
            and isinstance(self.sink, LineSink)
            and isinstance(matcher, Matcher)
            and not self.task.filters.needs_chunk
        ):
            self._stream(places, matcher, self.sink)
            return
        count = MANY_FILES if places.is_arriving else places.count
        stream: Iterable[Candidate] = _good_first(places) if self.is_ranked and count > AHEAD_FILES else places
        self.consume(look_into(self.task, stream, self.cancel, count), places)

    def consume(self, found: Iterable[Looked], places: Extent) -> None:
        """Take what was found by whoever looked, and show it in batches, until it ends or a limit is met."""
        self.places = places
        for looked in found:
            self._take(looked, places.count)
            if self.is_stopped:
                break
        self.cancel.check()
        self._flush(time.monotonic())

    def _stream(self, places: Places, matcher: Matcher, sink: LineSink) -> None:
        """The same as printed lines."""
        task = self.task
        candidates = (candidate for candidate in places if is_let_through(self.task, candidate.path))
        for text, lines, files, looked in stream_lines(
            task.root, self.query, matcher, candidates, places.count, sink.prefix, task.max_file_bytes, self.cancel
        ):
            self.looked += looked
            self.lines += lines
            self.files += files
            if lines:
                self.first_hit = self.first_hit or time.monotonic()
                sink.lines(text, lines)
        self.cancel.check()

    def _take(self, looked: Looked, count: int) -> None:
        self.looked += looked.files
        self.scanned += looked.scanned
        now = time.monotonic()
        for group in looked.groups:
            self._add(group, now)
            if self.is_capped:
                break
        if self.waiting and self._is_due(now):
            self._flush(now)
        matcher = self.task.matcher
        if isinstance(matcher, BacktrackingMatcher) and matcher.is_exhausted:
            self.is_late = True
            self.notes.append(f"The pattern takes too long: stopped with {self.looked:,} of {count:,} files searched.")
        elif self.limit_s is not None and now - self.began > self.limit_s:
            self.is_late = True
            self.notes.append(f"Stopped after {self.limit_s:g} s, {self.looked:,} of {count:,} files were searched.")
        elif now - self.last_progress > PROGRESS_S:
            self.last_progress = now
            self.sink.progress(Progress(self.looked, count))

    def _add(self, group: FileGroup, now: float) -> None:
        if self.first_hit is None:
            self.first_hit = now
        count = len(group.rows)
        if self.most is not None and self.lines + count > self.most:
            self.is_capped = True
            count = self.most - self.lines
            if not count:
                return
            group = group._replace(rows=group.rows[:count])
        self.waiting.append(group)
        self.files += 1
        self.lines += count
        self.waiting_lines += count

    def _is_due(self, now: float) -> bool:
        if self.waiting_lines >= BATCH_LINES:
            return True
        if not self.batches:
            return now - self.began > EARLY_S
        return now - self.last_batch > BATCH_S

    def _flush(self, now: float) -> None:
        if not self.waiting:
            return
        order = best_first if self.is_ranked else by_path
        groups = self.waiting
        self.waiting, self.waiting_lines = [], 0
        self.batches += 1
        self.last_batch = now
        if self.is_ranked and self.batches > 1 and not self.is_settled:
            groups = order([*self.shown.values(), *groups])
            self.shown = {group.path: group for group in groups}
            self.is_settled = now - self.began > SETTLE_S
            self.sink.replace(Hits(groups))
            return
        groups = order(groups)
        if not self.is_exhaustive:
            self.shown.update((group.path, group) for group in groups)
        self.sink.batch(Hits(groups))

    def verify(self, result: CheckResult) -> None:
        """Let what differs on the disk join or leave."""
        self.cancel.check()
        if not result.is_complete:
            self.notes.append("The files are changing faster than they can be checked.")
            return
        self.is_verified = True
        gone = [path for path in {*result.changed, *result.deleted} if path in self.shown]
        before = {path: self.shown[path] for path in gone}
        found: dict[bytes, FileGroup] = {}
        candidates = [Candidate(path, None, None) for path in result.changed]
        for looked in look_into(self.task, candidates, self.cancel, len(candidates)):
            self.scanned += looked.files
            found.update((group.path, group) for group in looked.groups)
        if all(found.get(path) == group for path, group in before.items()) and all(path in before for path in found):
            return
        new = [group for path, group in found.items() if path not in before]
        for path in before:
            if path in found:
                self.shown[path] = found[path]
            else:
                del self.shown[path]
        order = best_first if self.is_ranked else by_path
        groups = [*self.shown.values(), *order(new)] if self.is_ranked else order([*self.shown.values(), *new])
        self.shown = {group.path: group for group in groups}
        self.lines = sum(len(group.rows) for group in groups)
        if new and self.first_hit is None:
            self.first_hit = time.monotonic()
        if not before and self.is_ranked:
            self.sink.batch(Hits(order(new)))
        else:
            self.sink.replace(Hits(groups))

    def name_symbols(self, symbols_of: SymbolsOf) -> None:
        """Say of the first hits in which function or class they are. They have been shown without, as this takes some milliseconds."""
        left = NAMED_LINES
        end = time.monotonic() + NAMING_S
        has_names = False
        for path, group in self.shown.items():
            if left <= 0 or self.cancel.is_cancelled or time.monotonic() > end:
                break
            left -= len(group.rows)
            symbols = symbols_of(path)
            if symbols:
                names = [enclosing(symbols, row[0]) for row in group.rows[:NAMED_LINES]]
                if any(names):
                    self.shown[path] = group._replace(symbols=names + [None] * (len(group.rows) - len(names)))
                    has_names = True
        if has_names:
            self.sink.replace(Hits(list(self.shown.values())))

    def outcome(self) -> Outcome:
        """What was done."""
        now = time.monotonic()
        places = self.places
        assert places is not None
        matcher = self.task.matcher
        if isinstance(matcher, BacktrackingMatcher) and matcher.given_up and not self.is_late:
            self.is_late = True
            self.notes.append(f"In {matcher.given_up:,} places the pattern took too long; they were left out.")
        return Outcome(
            hits=self.lines,
            files=self.files if self.is_exhaustive else len(self.shown),
            searched_files=self.looked,
            candidate_files=places.count,
            scanned_files=self.scanned,
            engine=self._engine(places),
            is_capped=self.is_capped,
            is_partial=self.is_late,
            is_verified=self.is_verified,
            elapsed_ms=(now - self.began) * 1000,
            first_hit_ms=None if self.first_hit is None else (self.first_hit - self.began) * 1000,
            notes=tuple(self.notes),
        )

    def _engine(self, places: Extent) -> str:
        if isinstance(self.task.matcher, BacktrackingMatcher):
            return "backtracking"
        if places.has_index and places.has_scan:
            return "index + scan"
        return "scan" if places.has_scan else "index"
