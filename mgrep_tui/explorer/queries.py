"""What can be told of a query without any index: its filters and its words. Imported late: with the first key, not with the first paint."""

from __future__ import annotations

from mgrep_tui.errors import QueryError
from mgrep_tui.explorer.protocol import Chip
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse


def chips_of(text: str, mode: Mode) -> tuple[Chip, ...]:
    """The filters of a query, in order; none when it cannot be parsed."""
    try:
        query = parse(text, mode)
    except QueryError:
        return ()
    return tuple(Chip(chip.label, chip.start, chip.end) for chip in query.chips)


def words_of(text: str, mode: Mode) -> tuple[str, ...]:
    """The bare words of a query; none when it cannot be parsed."""
    try:
        return tuple(parse(text, mode).words)
    except QueryError:
        return ()
