"""Mode, options and history of the query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mgrep_tui.model import Mode
from mgrep_tui.settings.state import PastQuery
from mgrep_tui.ui.pick import Pick, picked
from mgrep_tui.ui.screens.overlay import Overlay
from mgrep_tui.ui.words import MODES

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

RATIO_STEP = 0.1
_NEXT_CASE = {"smart": "yes", "yes": "no", "no": "smart"}


class Querying:
    """Remembers where in the history one is."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._past: Sequence[PastQuery] = ()
        self._at = 0
        self._draft: PastQuery | None = None
        self._taken: PastQuery | None = None

    def mode(self) -> None:
        ask = self._screen.flow.ask
        other = Mode.REGEX if ask.mode is Mode.SEMANTIC else Mode.SEMANTIC
        self._screen.ask_again(replace(ask, mode=other, options=replace(ask.options, like=None)))

    def filters(self) -> None:
        """Open the filter row, or go back to the query."""
        screen = self._screen
        is_open = not screen.has_class("-filtering")
        screen.set_class(is_open, "-filtering")
        screen.presenter.filters()
        (screen.filter_row if is_open else screen.query_input).focus()

    def options(self, **changes: object) -> None:
        ask = self._screen.flow.ask
        self._screen.ask_again(replace(ask, options=replace(ask.options, **changes)))  # type: ignore[arg-type]

    def case(self) -> None:
        self.options(case=_NEXT_CASE[self._screen.flow.ask.options.case])

    def word(self) -> None:
        self.options(word=not self._screen.flow.ask.options.word)

    def literal(self) -> None:
        self.options(literal=not self._screen.flow.ask.options.literal)

    def beyond(self, name: str) -> None:
        """Also look into hidden or ignored files, or no longer."""
        ask = self._screen.flow.ask
        if ask.mode is Mode.SEMANTIC:
            self._screen.tell("What the index leaves out is searched by regular expression only. F2 switches.")
            return
        self.options(**{name: not getattr(ask.options, name)})

    def sort(self) -> None:
        self.options(sort="path" if self._screen.flow.ask.options.sort == "rank" else "rank")

    def weigh(self, by: float) -> None:
        """Move the slider; past its end it stays there."""
        ask = self._screen.flow.ask
        if ask.mode is Mode.REGEX:
            self._screen.tell("Only search by meaning has this scale. F2 switches.")
            return
        ratio = min(1.0, max(0.0, round(ask.options.ratio + by, 2)))
        if ratio != ask.options.ratio:
            self.options(ratio=ratio)

    def again(self) -> None:
        self._screen.list.redraw()
        self._screen.flow.search()

    # --- history

    def step(self, by: int) -> None:
        """Older (-1) or newer (+1). What was typed before the first step comes back at the end."""
        screen = self._screen
        ask = screen.flow.ask
        current = PastQuery(ask.text, ask.mode)
        if self._draft is None or current != self._taken:
            self._past = [past for past in screen.explorer.history() if past != current]
            self._draft = current
            self._at = len(self._past)
        at = min(max(self._at + by, 0), len(self._past))
        if at == self._at:
            return
        self._at = at
        past = self._past[at] if at < len(self._past) else self._draft
        self._taken = past
        screen.ask_again(replace(ask, text=past.text, mode=past.mode))

    def history(self) -> None:
        """Find in the history by typing."""
        screen = self._screen
        past = list(dict.fromkeys(reversed(screen.explorer.history())))
        picks = [Pick(each.text, MODES[each.mode], each) for each in past]

        def take(value: object) -> None:
            if value is not None:
                screen.take(value)

        screen.app.push_screen(
            Overlay(
                screen.palette, "Former queries", lambda typed: picked(picks, typed), placeholder="find in history"
            ),
            take,
        )


def commands(screen: MainScreen) -> dict[str, Callable[[], None]]:
    querying = Querying(screen)
    return {
        "mode": querying.mode,
        "filters": querying.filters,
        "case": querying.case,
        "word": querying.word,
        "literal": querying.literal,
        "hidden": lambda: querying.beyond("hidden"),
        "ignored": lambda: querying.beyond("ignored"),
        "sort": querying.sort,
        "wordier": lambda: querying.weigh(-RATIO_STEP),
        "meaningful": lambda: querying.weigh(RATIO_STEP),
        "again": querying.again,
        "older": lambda: querying.step(-1),
        "newer": lambda: querying.step(1),
        "history": querying.history,
    }
