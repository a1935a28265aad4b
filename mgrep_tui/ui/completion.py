"""Completes a half-typed filter in the query: a small list under it, which takes Tab, Enter and the arrows while it is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mgrep_tui.errors import MgrepError
from mgrep_tui.ui.refine import half_typed_filter
from mgrep_tui.ui.widgets.choice_list import ChoiceRow

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

SHOWN = 8
WIDTH = 40


class Completions:
    """Owned by the main screen. All methods belong to its thread."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._found: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return bool(self._screen.completion_list.display)

    def typed(self) -> None:
        """The text has changed: ask for completions, if the cursor is in a filter."""
        screen = self._screen
        place = self._place()
        if place is None:
            self.close()
            return
        text = screen.query_input.value
        prefix = text[place[0] : place[1]]
        if self.is_open:
            # What is shown was asked for before this key: none of it may be taken that the text rules out by now.
            self._show(tuple(each for each in self._found if each.casefold().startswith(prefix.casefold())), place[0])

        def job(_has_newer: Callable[[], bool]) -> None:
            try:
                found = screen.explorer.completions(prefix)
            except MgrepError:
                found = ()
            screen.post(lambda: self._came(text, prefix, found))

        screen.asking.submit(job)

    def _place(self) -> tuple[int, int] | None:
        box = self._screen.query_input
        return half_typed_filter(box.value, box.cursor_position)

    def _came(self, text: str, prefix: str, found: tuple[str, ...]) -> None:
        screen = self._screen
        place = self._place()
        if screen.query_input.value != text or place is None or not found or found == (prefix,):
            if screen.query_input.value == text:
                self.close()
            return
        self._show(found, place[0])

    def _show(self, found: tuple[str, ...], start: int) -> None:
        """Open the list under the filter that starts at `start`, or close it when nothing is left."""
        self._found = found
        if not found:
            self.close()
            return
        screen = self._screen
        rows = [ChoiceRow(((each, "text"),), (), each) for each in found]
        popup = screen.completion_list
        box = screen.query_input
        width = min(WIDTH, screen.size.width - 4)
        x = min(box.region.x + start - box.scroll_offset.x - 2, screen.size.width - width)
        popup.styles.offset = (max(0, x), box.region.y + 1)
        popup.styles.width = width
        popup.styles.height = min(SHOWN, len(rows))
        popup.show(rows)
        popup.display = True

    def close(self) -> None:
        self._screen.completion_list.display = False

    def accept(self, value: str) -> None:
        """Put a completion into the query. One that ends a filter gets a space behind it."""
        self.close()
        place = self._place()
        if place is None:
            return
        box = self._screen.query_input
        is_whole = not value.endswith((":", "/"))
        behind = box.value[place[1] :]
        added = value + (" " if is_whole and not behind.startswith(" ") else "")
        box.value = box.value[: place[0]] + added + behind
        box.cursor_position = place[0] + len(added)

    def takes(self, command: str) -> bool:
        """Whether the open list uses up a command of the screen."""
        if not self.is_open:
            return False
        popup = self._screen.completion_list
        if command in ("next", "previous"):
            popup.move(1 if command == "next" else -1)
        elif command in ("mark", "open"):
            popup.choose()
        elif command == "back":
            self.close()
        else:
            return False
        return True
