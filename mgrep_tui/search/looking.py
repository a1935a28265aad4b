"""Candidates are read and matched, many at a time: what a search does in its own process and in the second one alike."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

from mgrep_tui.corpus.root import Root
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.buffers import Buffer, FoundLines, LineMatch
from mgrep_tui.search.facts import kinds_of_path
from mgrep_tui.search.hits import LONG_BYTES, UNRANKED, Row, row_of
from mgrep_tui.search.ordering import definitions_first, score_of
from mgrep_tui.search.rank import Reasons, rank_file, rank_line
from mgrep_tui.search.reading import CandidateReader
from mgrep_tui.search.window import Window, give_back, take_window

MAX_NAME_CHARS = 200


class LineMatcher(Protocol):
    """What a search needs of a pattern: `matcher.Matcher` and what stands in its place."""

    @property
    def is_multiline(self) -> bool: ...

    @property
    def is_serial(self) -> bool:
        """Whether only one thread may use it, and a call can take long."""

    @property
    def lists_chunks(self) -> bool:
        """Whether of all lines those count that begin a chunk."""

    @property
    def can_join(self) -> bool:
        """Whether `lines_in` may be asked."""

    @property
    def plan_pattern(self) -> str:
        """The pattern for the planner of the n-gram index."""

    def lines_in(self, buffer: Buffer, length: int, *, is_ascii: bool, limit: int = 1 << 60) -> FoundLines | None: ...

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


Ranked = tuple[list[Row], float, Reasons | None]
"""The rows of a file in the order in which they are shown, its score, and the reasons that are the file's own; None when not ranked."""


def ranked(path: bytes, rows: list[Row], matcher: LineMatcher) -> Ranked:
    """The rows of a file, which come by line, in the order in which they are shown."""
    _, text, places, *_ = rows[0]
    start, finish = places[0] if places else (0, 0)
    reasons = rank_file(
        path,
        kinds_of_path(path),
        matches_path=matcher.is_in_path(path),
        matched=text[start:finish] if finish - start < MAX_NAME_CHARS else "",
    )
    return definitions_first(rows), score_of(rows, reasons), reasons


class Looker:
    """Looks into candidates of one root for one pattern. For one thread; close it after use.

    Of one file no more than `most_lines` are needed.
    """

    def __init__(
        self, root: Root, matcher: LineMatcher, max_file_bytes: int, *, most_lines: int, is_ranked: bool
    ) -> None:
        self._matcher = matcher
        self._most_lines = most_lines
        self._is_ranked = is_ranked
        self._reader = CandidateReader(root, max_file_bytes)
        self._window = take_window()

    def __enter__(self) -> Looker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()
        give_back(self._window)

    def look(self, candidates: Sequence[Candidate]) -> tuple[dict[int, Ranked], Sequence[int]]:
        """By its number what was found in each candidate that has anything, and the numbers of those to be looked into one by one."""
        matcher = self._matcher
        if not matcher.can_join:
            return {}, range(len(candidates))
        window = self._window
        window.clear()
        big = self._reader.fill(window, candidates)
        rows: dict[int, list[Row]] = {}
        if window.length and not self._match(window, rows):
            return {}, range(len(candidates))
        if not self._is_ranked:
            return {number: (own, 0.0, None) for number, own in rows.items()}, big
        return {number: ranked(candidates[number].path, own, matcher) for number, own in rows.items()}, big

    def _match(self, window: Window, rows: dict[int, list[Row]]) -> bool:
        """Whether it could be done together."""
        matcher = self._matcher
        found = matcher.lines_in(window.buffer, window.length, is_ascii=window.is_ascii)
        if found is None:
            # A part in which not every byte is a character keeps the others from being matched together.
            for odd in window.take_out_odd():
                lines = matcher.lines(
                    odd.data, first_line=odd.first_line, starts_file=odd.first_line == 0, ends_file=odd.ends_file
                )
                if lines:
                    rows.setdefault(odd.owner, []).extend(row_of(odd.data, line, self._is_ranked) for line in lines)
            if not window.length:
                return True
            found = matcher.lines_in(window.buffer, window.length, is_ascii=True)
            if found is None:
                return False
            odd_owners = set(rows)
        else:
            odd_owners = set()
        if found.begins:
            self._add_rows(window, found, rows)
        for owner in odd_owners:
            rows[owner].sort(key=operator.itemgetter(0))
        return True

    def _add_rows(self, window: Window, found: FoundLines, rows: dict[int, list[Row]]) -> None:
        buffer, view = window.buffer, window.view
        is_ranked = self._is_ranked
        has_return = buffer.find(b"\r", 0, window.length) >= 0
        owners, numbers = window.places_of(found.begins)
        last = -1
        for owner, line, begin, end, spans in zip(owners, numbers, found.begins, found.ends, found.spans, strict=True):
            if owner != last:
                own = rows.setdefault(owner, [])
                last = owner
            size = end - begin
            if size <= LONG_BYTES and not has_return:
                text = str(view[begin:end], "utf-8", "replace")
                if len(text) == size:
                    places = [(start - begin, finish - begin) for start, finish in spans]
                    own.append((line, text, places, rank_line(text, places).number if is_ranked else UNRANKED))
                    continue
            own.append(row_of(buffer, (line, begin, end, spans), is_ranked))

    def look_closely(self, candidate: Candidate, cancel: CancelToken) -> list[Row]:
        """The rows of one candidate, whatever it is. Ends early when cancelled."""
        matcher = self._matcher
        if matcher.is_multiline:
            content = self._reader.whole(candidate.path)
            if content is None:
                return []
            text = matcher.text_of(content)
            return [row_of(text, line, self._is_ranked) for line in matcher.lines(text, limit=self._most_lines)]
        rows: list[Row] = []
        for part in self._reader.parts(candidate):
            lines = matcher.lines(
                part.data,
                first_line=part.first_line,
                starts_file=part.starts_file,
                ends_file=part.ends_file,
                limit=self._most_lines - len(rows),
            )
            rows += [row_of(part.data, line, self._is_ranked) for line in lines]
            if len(rows) >= self._most_lines or cancel.is_cancelled:
                break
        return rows
