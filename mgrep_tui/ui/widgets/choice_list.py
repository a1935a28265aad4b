"""Rows of text of which some can be chosen: suggestions, pickers, completions, panels. Draws only what can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from mgrep_tui.ui.strips import Part, blank, row, said
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.hit_rows import BAR
from mgrep_tui.ui.widgets.rows import RowsView

RolePart = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """A line: parts with the names of their roles. It can be chosen when it has a value."""

    left: tuple[RolePart, ...] = ()
    right: tuple[RolePart, ...] = ()
    value: object = None


class ChoiceList(RowsView, can_focus=False):
    """Owns the cursor, which stands on rows with a value only. Keys are the screen's business."""

    class Chosen(Message):
        """A row was clicked, or chosen by `choose`."""

        def __init__(self, sender: ChoiceList, value: object) -> None:
            super().__init__()
            self.sender = sender
            self.value = value

        @property
        def control(self) -> ChoiceList:
            """The list, for Textual's selectors."""
            return self.sender

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, sender: ChoiceList) -> None:
            super().__init__()
            self.sender = sender

        @property
        def control(self) -> ChoiceList:
            """The list, for Textual's selectors."""
            return self.sender

    def __init__(self, palette: Palette, id: str) -> None:  # noqa: A002  # Textual's word
        super().__init__(id=id)
        self.rows: Sequence[ChoiceRow] = ()
        self.cursor = -1
        self._palette = palette

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.refresh()

    @property
    def value(self) -> object:
        """The value of the row under the cursor, or None."""
        return self.rows[self.cursor].value if 0 <= self.cursor < len(self.rows) else None

    def show(self, rows: Sequence[ChoiceRow], *, at: int = 0, has_cursor: bool = True) -> None:
        """Show other rows, with the cursor on the `at`-th of those that can be chosen."""
        self.rows = rows
        self.cursor = -1
        if has_cursor:
            places = [index for index, each in enumerate(rows) if each.value is not None]
            if places:
                self.cursor = places[min(at, len(places) - 1)]
        self.fit(len(rows))
        self.scroll_to_row(0)
        self._into_view()
        self.refresh()

    def renew(self, rows: Sequence[ChoiceRow]) -> None:
        """Show other rows; the cursor stays on its value when that is still among them."""
        if self.value is not None and any(each.value == self.value for each in rows):
            self.replace_rows(rows)
        else:
            self.show(rows)

    def replace_rows(self, rows: Sequence[ChoiceRow]) -> None:
        """Show newer rows of the same kind: the cursor keeps its value, and nothing scrolls."""
        value = self.value
        self.rows = rows
        self.cursor = next((index for index, each in enumerate(rows) if each.value == value and value is not None), -1)
        self.fit(len(rows))
        self.refresh()

    def on_resize(self) -> None:
        self.fit(len(self.rows))
        self._into_view()

    def move(self, by: int) -> None:
        """Move the cursor over `by` rows that can be chosen; scroll when there are none."""
        places = [index for index, each in enumerate(self.rows) if each.value is not None]
        if not places:
            self.scroll_to_row(self.scroll_offset.y + by)
            return
        # From no row at all the first step leads to the first one.
        at = places.index(self.cursor) + by if self.cursor in places else 0
        self.cursor = places[min(max(at, 0), len(places) - 1)]
        self._into_view()
        self.refresh()
        self.post_message(self.Moved(self))

    def choose(self) -> bool:
        """Choose the row under the cursor; False when there is none."""
        if self.value is None:
            return False
        self.post_message(self.Chosen(self, self.value))
        return True

    def _into_view(self) -> None:
        height = self.size.height
        if height <= 0 or self.cursor < 0:
            return
        top = self.scroll_offset.y
        # Headings above the first row that can be chosen come into view with it.
        first = next((index for index, each in enumerate(self.rows) if each.value is not None), 0)
        at_most = 0 if self.cursor == first and first < height else self.cursor
        wanted = min(max(top, self.cursor + 1 - height), at_most)
        if wanted != top:
            self.scroll_to_row(wanted)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= len(self.rows) or width <= 2:
            return blank(width, self.rich_style)
        each = self.rows[index]
        is_cursor = index == self.cursor
        base = self._palette.cursor if is_cursor else Style.null()
        bar: Part = (BAR + " ", self._palette.cursor_bar) if is_cursor else ("  ", base)
        left = [bar, *self._styled(each.left)]
        strip = row(width, left, [*self._styled(each.right), (" ", base)] if each.right else (), base)
        return strip.apply_style(self.rich_style)

    def _styled(self, parts: Sequence[RolePart]) -> list[Part]:
        return [(said(text), getattr(self._palette, role)) for text, role in parts]

    def on_click(self, event: events.Click) -> None:
        index = event.y + self.scroll_offset.y
        if 0 <= index < len(self.rows) and self.rows[index].value is not None:
            event.stop()
            self.cursor = index
            self.refresh()
            self.choose()
