"""Notices that files of a finished answer are edited: their headings say so, in place, and the summary names the key that searches again.

Looked at when the index has news or the cursor moves, not more often than `EVERY_S`; only files that are seen, and the first ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mgrep_tui.explorer.edited import edited_since
from mgrep_tui.ui.background import Newest

if TYPE_CHECKING:
    from mgrep_tui.ui.results import Results
    from mgrep_tui.ui.screens.main import MainScreen

EVERY_S = 0.5
FIRST_FILES = 200


class Edits:
    """Owned by the main screen; methods belong to its thread."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._worker = Newest("edits")
        self._is_waiting = False

    @property
    def is_idle(self) -> bool:
        return self._worker.is_idle

    def close(self) -> None:
        self._worker.close()

    def look(self) -> None:
        """Look soon."""
        flow = self._screen.flow
        if not self._is_waiting and len(flow.results) and flow.is_idle:
            self._is_waiting = True
            self._screen.after(EVERY_S, self._ask)

    def _ask(self) -> None:
        self._is_waiting = False
        screen = self._screen
        flow = screen.flow
        if not flow.is_idle or not len(flow.results):
            return
        results, since_ns = flow.results, flow.shown_ns
        paths = {*(group.path for group in results.groups[:FIRST_FILES]), *screen.list.seen_paths()}

        def job(_has_newer: Callable[[], bool]) -> None:
            found = edited_since(paths, screen.explorer.absolute, since_ns)
            if found:
                screen.post(lambda: self._came(results, found))

        self._worker.submit(job)

    def _came(self, results: Results, found: frozenset[bytes]) -> None:
        if self._screen.flow.results is results and self._screen.list.note_edited(found):
            self._screen.presenter.query_changed()
