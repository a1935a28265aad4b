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
# The pause is so many times as long as the first hits took, up to the most that a person should look at an old answer.
PAUSE_TO_SEARCH = 4.0
AT_MOST_S = 5.0
# Longer than the transformer needs when it is loaded, so that it is not started over for ever.
REFINING_S = 3.0
# So often a whole index is asked again for an answer that is not.
CHANCES = 5


def is_incomplete(outcome: Outcome) -> bool:
    """Whether more of the index could make the answer better."""
    return outcome.is_partial or (outcome.vector_coverage is not None and outcome.vector_coverage < 0.9995)


def is_whole(health: Health) -> bool:
    """Whether the index has all that it can have of this tree."""
    return health.keywords_ready and not health.files_pending and health.vectors >= health.chunks


def grown(health: Health, mode: Mode) -> tuple[object, ...]:
    """What an answer depends on. A partial answer to a pattern changes only when there is another way to search."""
    ways = (health.state, health.regex_ready, health.keywords_ready, health.roots_open)
    return ways if mode is Mode.REGEX else (*ways, health.files_chunked, health.chunks, health.vectors)


class Growth:
    """Owned by the presenter; its methods belong to the screen's thread."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._health = Health()
        self._epoch = -1
        self._ask_of_epoch: Ask | None = None
        self._began: Health = Health()  # what the index was when the search of this epoch began
        self._is_waiting = False
        self._chances = CHANCES

    def health_changed(self, health: Health) -> None:
        self._health = health
        self._look()

    def search_changed(self) -> None:
        """A search has begun, has its first hits or has ended. While it ran the health may have moved on, and may not move again."""
        if self._screen.flow.epoch != self._epoch:
            if self._screen.flow.ask != self._ask_of_epoch:
                self._ask_of_epoch, self._chances = self._screen.flow.ask, CHANCES
            self._epoch = self._screen.flow.epoch
            self._began = self._health
        self._look()

    def _look(self) -> None:
        if self._is_waiting or not self._is_worth_it():
            return
        flow = self._screen.flow
        pause = REFINING_S if flow.is_refining else min(AT_MOST_S, PAUSE_TO_SEARCH * flow.first_s)
        self._is_waiting = True
        self._screen.after(max(EVERY_S, pause), self._ask)

    def _is_worth_it(self) -> bool:
        """Whether the answer was incomplete, and the index has more by now."""
        flow = self._screen.flow
        if flow.error is not None:
            return False
        if grown(self._began, flow.ask.mode) == grown(self._health, flow.ask.mode):
            return self._is_behind()
        if flow.is_refining:
            # The better order of an incomplete answer can take half a minute, when the model is still being loaded.
            return not is_whole(self._began)
        return flow.is_idle and flow.outcome is not None and is_incomplete(flow.outcome)

    def _is_behind(self) -> bool:
        """Whether the index is said to be whole and its answer is not: what a search sees of it may come a moment later."""
        flow = self._screen.flow
        is_late = flow.is_idle and flow.outcome is not None and is_incomplete(flow.outcome)
        return flow.ask.mode is Mode.SEMANTIC and is_late and is_whole(self._health) and self._chances > 0

    def _ask(self) -> None:
        self._is_waiting = False
        if self._is_worth_it():
            self._chances = self._chances - 1 if self._is_behind() else CHANCES
            self._screen.flow.search(is_quiet=True)
