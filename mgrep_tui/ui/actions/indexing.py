"""The health panel and what can be done from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mgrep_tui.errors import MgrepError
from mgrep_tui.model import Hit, IndexState, Skip
from mgrep_tui.ui import panels
from mgrep_tui.ui.pick import picked
from mgrep_tui.ui.screens.overlay import Overlay

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

REBUILD = "rebuild:"
LEFT_OUT = "What a push left out, only the tree that it read can tell."
SHARED = "This index is an engine's: mgrep-tui push makes it."
_PARTS = {"ngrams": "The n-gram index", "keywords": "The keywords", "vectors": "The vectors", "all": "The index"}


class HealthPanel(Overlay):
    """The panel; it follows the health while it is open."""

    def refresh_rows(self) -> None:
        """The health has changed; the cursor stays on its action."""
        self.list.replace_rows(self._rows_for(""))


class Indexing:
    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    def health(self) -> None:
        screen = self._screen
        panel = HealthPanel(
            screen.palette,
            "Index",
            lambda _typed: panels.health_rows(
                screen.explorer.health(), tuple(screen.presenter.rates), screen.now(), screen.size.width
            ),
            is_tall=True,
            has_cursor=False,
            leave_keys=("f8",),
            hint="Enter does it · Esc closes",
        )

        def run(value: object) -> None:
            if not isinstance(value, str):
                return
            if value.startswith(REBUILD):
                self.rebuild(value.removeprefix(REBUILD))
            else:
                screen.perform(value)

        screen.app.push_screen(panel, run)

    def skipped(self) -> None:
        """The list is fetched beside the screen: it may be long."""
        screen = self._screen
        if screen.explorer.health().is_shared:
            screen.tell(LEFT_OUT)
            return

        def job(_has_newer: Callable[[], bool]) -> None:
            try:
                found = screen.explorer.skipped()
            except MgrepError as error:
                failure = error
                screen.post(lambda: screen.complain(failure))
                return
            screen.post(lambda: self._show_skipped(found))

        screen.asking.submit(job)

    def _show_skipped(self, found: Sequence[Skip]) -> None:
        screen = self._screen
        if not found:
            screen.tell("Every file is searched.")
            return
        picks = panels.skip_picks(found)

        def open_file(value: object) -> None:
            if isinstance(value, Skip):
                screen.open([Hit(value.path, 0, 0, "")])

        screen.app.push_screen(
            Overlay(
                screen.palette,
                f"Not searched: {len(found):,}",
                lambda typed: picked(picks, typed),
                placeholder="find a file or a reason",
                hint="Enter opens it · Esc closes",
            ),
            open_file,
        )

    def pause(self) -> None:
        screen = self._screen
        if screen.explorer.health().is_shared:
            screen.tell(SHARED)
        elif screen.explorer.health().state is IndexState.PAUSED:
            screen.explorer.resume()
            screen.tell("Indexing goes on.")
        else:
            screen.explorer.pause()
            screen.tell("Indexing is paused. Search goes on, and still reads what is on the disk.")

    def rebuild(self, part: str = "all") -> None:
        if self._screen.explorer.health().is_shared:
            self._screen.tell(SHARED)
            return
        self._screen.explorer.rebuild(part)
        self._screen.tell(f"{_PARTS[part]} is being built anew.")

    def log(self) -> None:
        path = self._screen.explorer.log_path()
        if path is None:
            self._screen.tell("There is no log file.")
        else:
            self._screen.open([Hit(os.fsencode(path), 0, 0, "")])


def commands(screen: MainScreen) -> dict[str, Callable[[], None]]:
    indexing = Indexing(screen)
    return {
        "health": indexing.health,
        "skipped": indexing.skipped,
        "pause": indexing.pause,
        "rebuild": indexing.rebuild,
        "log": indexing.log,
    }
