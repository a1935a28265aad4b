"""What the lists have in common: rows that are drawn one by one, and a number of them that changes with every key."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView


class RowsView(ScrollView):
    """The scroll bar has its column also when there is nothing to scroll (`overflow-y: scroll`), so that the width never changes."""

    def fit(self, rows: int) -> None:
        """Take another number of rows. Textual would lay out and draw the whole screen again, half of what a key costs; only the scroll
        bar has to follow."""
        size = Size(self.scrollable_content_region.width, rows)
        if size != self.virtual_size:
            self.set_reactive(ScrollView.virtual_size, size)
            self._scroll_update(size)

    def scroll_to_row(self, row: int) -> None:
        """Make it the first that is seen, at once."""
        self.scroll_to(y=row, animate=False, force=True, immediate=True)
