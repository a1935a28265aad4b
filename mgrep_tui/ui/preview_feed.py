"""Brings the preview what it shows: plain text at once when the colours take their time; the newest wish wins."""

from __future__ import annotations

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
        self._plain: Stoppable | None = None  # the plain text waits for the colours
        self._worker = Newest("preview")
        self._wish: Wish | None = None
        self._is_drawn = False  # the wish has been delivered once
        # Counted apart, since each has one thread that writes it.
        self._sent = 0
        self._received = 0

    @property
    def is_idle(self) -> bool:
        return self._worker.is_idle and self._sent == self._received

    def close(self) -> None:
        self._worker.close()

    def forget(self) -> None:
        """Nothing is wanted any more."""
        self._wish = None
        self._drop_plain()

    def wish(self, wish: Wish, height: int, width: int) -> None:
        self._wish = wish
        self._is_drawn = False
        self._drop_plain()
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
        if not is_last:
            self._plain = self._after(PATIENCE_S, partial(self._deliver_plain, wish, preview))
            return
        # After the plain text the colours come to where the pane has been scrolled to meanwhile.
        is_first = self._drop_plain() or not self._is_drawn
        self._is_drawn = True
        self._deliver(replace(wish, jumps=wish.jumps and is_first), preview)

    def _deliver_plain(self, wish: Wish, preview: Preview) -> None:
        self._plain = None
        if self._wish is wish:
            self._is_drawn = True
            self._deliver(wish, preview)

    def _drop_plain(self) -> bool:
        """Whether the plain text was still waiting."""
        if self._plain is None:
            return False
        self._plain.stop()
        self._plain = None
        return True
