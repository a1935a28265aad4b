"""Regex mode: from a query and the index's snapshot to hits, first those that the index leads to, then those that the disk adds.

1. The pattern becomes a plan, the plan candidates. Without an index, or for what it does not cover yet, every file is a candidate.
2. Candidates are read and matched, many in one buffer (`window`), by this process and by a second one (`second`). Their lines stay rows
   until somebody looks at them (`hits`). Groups of them, one a file, go to the sink in batches, each ordered by rank. The first batches,
   up to `SETTLE_S`, are put in order once more together; what comes later is appended, so that nothing moves under the reader's eyes.
3. The disk is checked. Files that differ from the snapshot are read, and their hits join, or leave.
4. The first hits get the names of the symbols around them.

An exhaustive search (for a pipe) has no cap and no time limit and keeps the order of paths.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import list_files, stream_files
from mgrep_tui.errors import IndexDamagedError, QueryError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Outcome, Sink
from mgrep_tui.ngram.plan import plan
from mgrep_tui.ngram.snapshot import Candidates, Snapshot
from mgrep_tui.search.backtracking import BacktrackingMatcher
from mgrep_tui.search.facts import FactsOf, facts_of_path
from mgrep_tui.search.listing import ListMatcher
from mgrep_tui.search.looking import LineMatcher
from mgrep_tui.search.matcher import compile_pattern, read_pattern
from mgrep_tui.search.query import Query
from mgrep_tui.search.running import Arriving, Places, Run, SymbolsOf
from mgrep_tui.search.second import SECOND, Order
from mgrep_tui.search.work import LinesOf, Task
from mgrep_tui.settings.config import Settings

if TYPE_CHECKING:
    # The package brings the whole index along.
    from mgrep_tui.index.results import CheckResult

log = logging.getLogger(__name__)

STUCK_SHARE = 0.7
"""Of the time limit for backtracking, what may be lost on lines that take too long; the rest is for starting and killing the process."""
NO_LIMIT = 1 << 60

Check = Callable[[CancelToken], "CheckResult"]


class RegexEngine:
    """Regex searches over one root; any number of threads."""

    def __init__(self, root: Root, settings: Settings) -> None:
        self._root = root
        self._settings = settings
        self._is_warm = False

    def warm(self) -> None:
        """Start the second process, for a program that stays and searches again and again. Returns at once; `close` gives it back."""
        if not self._is_warm:
            self._is_warm = True
            SECOND.start()

    def close(self) -> None:
        """Give back what was started. Searches that run go on."""
        if self._is_warm:
            self._is_warm = False
            SECOND.stop()

    def search(
        self,
        query: Query,
        snapshot: Snapshot | None,
        check: Check | None,
        sink: Sink,
        cancel: CancelToken,
        *,
        facts_of: FactsOf = facts_of_path,
        lines_of: LinesOf | None = None,
        symbols_of: SymbolsOf | None = None,
        sort: str = "rank",
        is_exhaustive: bool = False,
        limit: int | None = None,
    ) -> Outcome:
        """Run a search in the caller's thread; hits go to `sink`. An exhaustive one without a limit gives printed lines to a
        `streaming.LineSink`.

        `check` compares the disk with this very snapshot, and is called after the first answer. `facts_of` tells what filters ask of a file
        (git's view included), `lines_of` what they ask of its symbols, and `symbols_of` in what the first hits are. `sort` is `rank` or
        `path`. `limit` caps the hits, else the settings do. Raises `QueryError` with a place in the query's text, and `Cancelled`.
        """
        if query.is_empty:
            return Outcome()
        with contextlib.ExitStack() as stack:
            matcher = matcher_of(query, self._settings, cancel)
            if isinstance(matcher, BacktrackingMatcher):
                stack.callback(matcher.close)
            return self._run(
                query,
                matcher,
                snapshot,
                check,
                sink,
                cancel,
                facts_of,
                lines_of,
                symbols_of,
                sort,
                is_exhaustive,
                limit,
            )

    def _run(
        self,
        query: Query,
        matcher: LineMatcher,
        snapshot: Snapshot | None,
        check: Check | None,
        sink: Sink,
        cancel: CancelToken,
        facts_of: FactsOf,
        lines_of: LinesOf | None,
        symbols_of: SymbolsOf | None,
        sort: str,
        is_exhaustive: bool,
        limit: int | None,
    ) -> Outcome:
        is_ranked = sort == "rank" and not is_exhaustive
        most = limit if limit is not None else None if is_exhaustive else self._settings.regex.max_hits
        task = Task(
            self._root,
            matcher,
            query.filters,
            facts_of,
            lines_of,
            self._settings.corpus.max_file_bytes,
            is_ranked,
            NO_LIMIT if most is None else most + 1,
            SECOND,
            _order_of(query, self._root, self._settings.corpus.max_file_bytes, most, is_ranked),
        )
        limit_s = None if is_exhaustive else self._settings.regex.time_limit_s
        run = Run(query, task, sink, cancel, most, limit_s, is_ranked, is_exhaustive)
        # Nothing that was printed can be taken back, so the disk is looked at first where the answer is a stream.
        checked = check(cancel) if check is not None and is_exhaustive else None
        try:
            candidates, unlisted = self._candidates(matcher, snapshot, cancel, waits=not is_ranked)
            run.answer(Places(candidates, unlisted, checked))
        except IndexDamagedError as error:
            if is_exhaustive and run.lines:
                raise
            log.warning("%s", error)
            if run.lines:
                sink.replace(())
            run = Run(query, task, sink, cancel, most, limit_s, is_ranked, is_exhaustive)
            run.notes.append("The n-gram index is damaged; every file was read instead.")
            candidates, unlisted = self._candidates(matcher, None, cancel, waits=True)
            run.answer(Places(candidates, unlisted, None))
        if check is not None and not is_exhaustive and not run.is_stopped:
            run.verify(check(cancel))
        if symbols_of is not None and not is_exhaustive:
            run.name_symbols(symbols_of)
        cancel.check()
        return run.outcome()

    def _candidates(
        self, matcher: LineMatcher, snapshot: Snapshot | None, cancel: CancelToken, *, waits: bool
    ) -> tuple[Candidates | None, Sequence[bytes] | Arriving]:
        """What the index leads to, and the paths that it knows nothing of; with `waits` in the order of paths."""
        candidates = None
        known: set[bytes] = set()
        if snapshot is not None:
            candidates = snapshot.candidates(plan(matcher.plan_pattern, multiline=matcher.is_multiline))
            if snapshot.covers:
                return candidates, ()
            known = set(snapshot.extra)
            for segment, dead in zip(snapshot.segments, snapshot.dead, strict=True):
                known.update(itertools.compress(segment.paths(), (~dead).tolist()))
        if not known and not waits:
            return candidates, Arriving(stream_files(self._root, self._settings.corpus, cancel))
        listing = list_files(self._root, self._settings.corpus, cancel)
        return candidates, [entry.path for entry in listing.entries if entry.path not in known]


def matcher_of(query: Query, settings: Settings, cancel: CancelToken) -> LineMatcher:
    """What runs the pattern; errors get their place in the query's text. One for backtracking is to be closed."""
    if not query.pattern:
        return ListMatcher(all_lines=query.filters.needs_chunk)
    try:
        parsed, folds = read_pattern(query.pattern, case=query.case, is_literal=query.is_literal)
        if parsed.beyond:
            return BacktrackingMatcher(
                query.pattern,
                parsed,
                folds=folds,
                is_word=query.is_word,
                is_multiline=query.is_multiline,
                stuck_s=settings.regex.backtracking_limit_s * STUCK_SHARE,
                cancel=cancel,
            )
        return compile_pattern(
            query.pattern,
            case=query.case,
            is_literal=query.is_literal,
            is_word=query.is_word,
            is_multiline=query.is_multiline,
        )
    except QueryError as error:
        place = None if error.position is None else query.position_of(error.position)
        raise QueryError(error.message, place, error.hint) from error


def _order_of(query: Query, root: Root, max_file_bytes: int, most: int | None, is_ranked: bool) -> Order:
    options = {
        "case": query.case,
        "is_literal": query.is_literal,
        "is_word": query.is_word,
        "is_multiline": query.is_multiline,
    }
    most_lines = NO_LIMIT if most is None else most + 1
    return os.fsencode(root.path), query.pattern, options, max_file_bytes, most_lines, is_ranked
