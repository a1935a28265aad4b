"""What the preview shows: the hit under the cursor, a row of the start page, or where the pane was scrolled to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgrep_tui.explorer.protocol import Preview
from mgrep_tui.model import Hit
from mgrep_tui.ui.preview_feed import PreviewFeed, Wish
from mgrep_tui.ui.widgets.code_lines import Lit, lit_by

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

# Hits of a file that are lit at a time; where there are more, those around what is seen.
MOST_LIT = 500


class Showing:
    """Owned by the main screen; methods belong to its thread."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.feed = PreviewFeed(screen.explorer, screen.post, screen.after, self._arrived)

    def hit(self) -> None:
        """Show what is under the cursor."""
        screen = self._screen
        hit = screen.list.hit
        if hit is not None:
            self.wish(Wish(hit.path, hit.line, hit.column, self._lit(hit, hit.line), jumps=True))
        elif isinstance(screen.start_list.value, bytes):
            self.wish(Wish(screen.start_list.value, 0, 0, Lit(), jumps=True))
        else:
            self.feed.forget()
            screen.presenter.hint()

    def wish(self, wish: Wish) -> None:
        pane = self._screen.pane
        self.feed.wish(wish, pane.body_height or 20, max(20, pane.size.width))

    def around(self, line: int) -> None:
        """The pane was scrolled to where it has no lines."""
        pane, hit = self._screen.pane, self._screen.list.hit
        shown, lit = pane.shown, pane.lit
        if shown is not None:
            if hit is not None and hit.path == shown.path and self._screen.flow.results.count_of(hit.path) > MOST_LIT:
                lit = self._lit(hit, line)
            self.wish(Wish(shown.path, line, 0, lit, jumps=False))

    def _lit(self, hit: Hit, line: int) -> Lit:
        """What is lit in the file of a hit, around a line."""
        flow = self._screen.flow
        asked = flow.shown_ask or flow.ask
        beside = flow.results.hits_around(hit.path, line, MOST_LIT)
        return lit_by(hit, beside, self._screen.explorer.words(asked.text, asked.mode))

    def _arrived(self, wish: Wish, preview: Preview) -> None:
        self._screen.pane.show(preview, wish.lit, jumps=wish.jumps)
        self._screen.list.note_gone(preview.path, preview.is_gone)
