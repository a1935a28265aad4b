"""In which order the lines of a file and the files of an answer stand."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.search.hits import FileGroup, Row
from mgrep_tui.search.rank import DEFINED, RANKS, Reasons, file_rank

_SCORES = [rank.score for rank in RANKS]


def score_of(rows: Sequence[Row], reasons: Reasons) -> float:
    """What a file with these rows counts: its best line, and a little for having many."""
    best = _SCORES[rows[0][3]] if len(rows) == 1 else max([_SCORES[row[3]] for row in rows])
    return best + file_rank(reasons).score + min(1.0, len(rows) / 50)


def definitions_first(rows: list[Row]) -> list[Row]:
    """The rows of one file, which come by line: where something is defined first, then all the others by line."""
    first = [row for row in rows if row[3] == DEFINED]
    return [*first, *(row for row in rows if row[3] != DEFINED)] if first and len(rows) > 1 else rows


def best_first(groups: Sequence[FileGroup]) -> list[FileGroup]:
    """Files by score, then by path."""
    return sorted(groups, key=lambda group: (-group.score, group.path))


def by_path(groups: Sequence[FileGroup]) -> list[FileGroup]:
    """Files by path."""
    return sorted(groups, key=lambda group: group.path)
