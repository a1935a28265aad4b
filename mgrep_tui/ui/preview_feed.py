"""Brings the preview what it shows: plain text at once, colours behind; the newest wish wins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Explorer, Preview
from mgrep_tui.ui.background import Newest
from mgrep_tui.ui.widgets.code_lines import Lit

# The window is so many screens high, so that scrolling has something to show at once.
SCREENS_READ = 3


@dataclass(frozen=True, slots=True)
class Wish:
    """A place to be shown. With `jumps` the pane goes to it; without, it was scrolled there and stays."""

    path: bytes
    line: int
    column: int
    lit: Lit
    jumps: bool


class PreviewFeed:
    """`deliver` is called in the screen's thread, through `post`: once plain, once more coloured."""

    def __init__(
        self,
        explorer: Explorer,
        post: Callable[[Callable[[], None]], None],
        deliver: Callable[[Wish, Preview], None],
    ) -> None:
        self._explorer = explorer
        self._post = post
        self._deliver = deliver
        self._worker = Newest("preview")
        self._wish: Wish | None = None
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

    def wish(self, wish: Wish, height: int, width: int) -> None:
        self._wish = wish
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
            self._post(partial(self._arrived, wish, preview, is_coloured))
            if has_newer() or not preview.lines:
                return

    def _arrived(self, wish: Wish, preview: Preview, is_coloured: bool) -> None:
        self._received += 1
        if self._wish is wish:
            # The colours come to where the pane has been scrolled to meanwhile.
            self._deliver(replace(wish, jumps=wish.jumps and not is_coloured), preview)
