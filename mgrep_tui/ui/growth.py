"""Asks a query again while the index grows, so that an answer which was incomplete completes itself.

It does so quietly: the list keeps its cursor, and nothing is said. At most once a second, less often when the search takes long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgrep_tui.model import Health, Mode, Outcome
from mgrep_tui.ui.flow import Ask

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

EVERY_S = 1.0
# The pause is at least so many times as long as the search took.
PAUSE_TO_SEARCH = 4.0


def is_incomplete(outcome: Outcome) -> bool:
    """Whether more of the index could make the answer better."""
    return outcome.is_partial or (outcome.vector_coverage is not None and outcome.vector_coverage < 0.9995)


def grown(health: Health, mode: Mode) -> tuple[object, ...]:
    """What an answer depends on. A partial answer to a pattern changes only when there is another way to search."""
    ways = (health.state, health.regex_ready, health.keywords_ready)
    return ways if mode is Mode.REGEX else (*ways, health.files_chunked, health.chunks, health.vectors)


class Growth:
    """Owned by the presenter; its methods belong to the screen's thread."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._health = Health()
        self._asked: tuple[Ask, tuple[object, ...]] | None = None  # the query, and the health it was last asked with
        self._is_waiting = False

    def health_changed(self, health: Health) -> None:
        self._health = health
        flow = self._screen.flow
        if flow.is_searching:
            return
        now = (flow.ask, grown(health, flow.ask.mode))
        if self._asked is None or self._asked[0] != flow.ask:
            # The first look at this query: an answer from before this change.
            self._asked = (flow.ask, ()) if flow.outcome is not None else None
        if self._asked is not None and self._asked != now and not self._is_waiting and self._is_worth_it():
            self._is_waiting = True
            self._screen.after(max(EVERY_S, PAUSE_TO_SEARCH * flow.took_s), self._ask)

    def search_changed(self) -> None:
        """A search has begun or ended. While it ran the health may have moved on, and may not move again."""
        self.health_changed(self._health)

    def _is_worth_it(self) -> bool:
        flow = self._screen.flow
        return flow.is_idle and flow.error is None and flow.outcome is not None and is_incomplete(flow.outcome)

    def _ask(self) -> None:
        self._is_waiting = False
        if self._is_worth_it():
            flow = self._screen.flow
            self._asked = (flow.ask, grown(self._health, flow.ask.mode))
            flow.search(is_quiet=True)
