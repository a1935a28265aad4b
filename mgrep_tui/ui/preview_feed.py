"""Brings the preview what it shows: plain text at once when the colours take their time; the newest wish wins."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Explorer, Preview
from mgrep_tui.ui.background import Newest
from mgrep_tui.ui.flow import Stoppable
from mgrep_tui.ui.widgets.code_lines import Lit

# The window is so many screens high, so that scrolling has something to show at once.
SCREENS_READ = 3
# Colours that come sooner than this are waited for: to draw the pane twice is most of what a step of the cursor costs.
PATIENCE_S = 0.03
# The pane is not drawn more often than this: a cursor that is held down passes thirty hits a second, each of which is 12 kB of screen.
DRAW_EVERY_S = 0.06


@dataclass(frozen=True, slots=True)
class Wish:
    """A place to be shown. With `jumps` the pane goes to it; without, it was scrolled there and stays."""

    path: bytes
    line: int
    column: int
    lit: Lit
    jumps: bool


class PreviewFeed:
    """`deliver` is called in the screen's thread, through `post`: coloured, and before that plain when the colours are not there soon.
    `after` calls later in the same thread."""

    def __init__(
        self,
        explorer: Explorer,
        post: Callable[[Callable[[], None]], None],
        after: Callable[[float, Callable[[], None]], Stoppable],
        deliver: Callable[[Wish, Preview], None],
    ) -> None:
        self._explorer = explorer
        self._post = post
        self._after = after
        self._deliver = deliver
        self._waiting: Stoppable | None = None  # the plain text waits for the colours, or what came for its turn
        self._drawn_at = 0.0
        self._worker = Newest("preview")
        self._wish: Wish | None = None
        self._is_drawn = False  # the wish has been delivered once
        # Counted apart, since each has one thread that writes it.
        self._sent = 0
        self._received = 0

    @property
    def is_idle(self) -> bool:
        return self._worker.is_idle and self._sent == self._received and self._waiting is None

    def close(self) -> None:
        self._worker.close()

    def forget(self) -> None:
        """Nothing is wanted any more."""
        self._wish = None
        self._drop_waiting()

    def wish(self, wish: Wish, height: int, width: int) -> None:
        self._wish = wish
        self._is_drawn = False
        self._drop_waiting()
        self._worker.submit(lambda has_newer: self._fetch(wish, height, width, has_newer))

    def _fetch(self, wish: Wish, height: int, width: int, has_newer: Callable[[], bool]) -> None:
        for is_coloured in (False, True):
            try:
                preview = self._explorer.preview(
                    wish.path, wish.line, wish.column, height * SCREENS_READ, width, is_coloured=is_coloured
                )
            except MgrepError as error:
                preview = Preview(wish.path, notice=str(error))
            self._sent += 1
            is_last = is_coloured or not preview.lines
            self._post(partial(self._arrived, wish, preview, is_last))
            if has_newer() or not preview.lines:
                return

    def _arrived(self, wish: Wish, preview: Preview, is_last: bool) -> None:
        self._received += 1
        if self._wish is not wish:
            return
        self._drop_waiting()
        wait = self._drawn_at + DRAW_EVERY_S - time.monotonic() if wish.jumps and not self._is_drawn else 0.0
        wait = wait if is_last else max(wait, PATIENCE_S)
        if wait > 0:
            self._waiting = self._after(wait, partial(self._draw, wish, preview))
        else:
            self._draw(wish, preview)

    def _draw(self, wish: Wish, preview: Preview) -> None:
        self._waiting = None
        if self._wish is wish:
            # After the plain text the colours come to where the pane has been scrolled to meanwhile.
            is_first, self._is_drawn = not self._is_drawn, True
            self._drawn_at = time.monotonic()
            self._deliver(replace(wish, jumps=wish.jumps and is_first), preview)

    def _drop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
