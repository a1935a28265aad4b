"""The list of hits. It draws only the lines that can be seen, so its size does not matter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from mgrep_tui.model import Hit
from mgrep_tui.ui.bindings import PANE_BINDINGS
from mgrep_tui.ui.results import HitKey, Results, RowKind, key_of
from mgrep_tui.ui.strips import blank
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.hit_rows import Look, first_line, heading, second_line
from mgrep_tui.ui.widgets.rows import RowsView

STRIPS_KEPT = 512  # some ten screens
# Rows of context kept above and below the cursor while it moves.
SCROLL_MARGIN = 2


class ResultList(RowsView, can_focus=True):
    """Shows a `Results`; owns the cursor. The marks are the screen's, and only looked at."""

    BINDINGS: ClassVar[list[BindingType]] = PANE_BINDINGS

    class Moved(Message):
        """The cursor stands on another hit, or on none."""

    class Chosen(Message):
        """A hit was double-clicked."""

    class MarkAsked(Message):
        """A hit was clicked with the right button."""

    def __init__(
        self,
        palette: Palette,
        marks: Mapping[HitKey, Hit],
        flags_of: Callable[[bytes], tuple[str, ...]],
        label_of: Callable[[bytes], str] = lambda path: "",
    ) -> None:
        super().__init__(id="results")
        self.results = Results()
        self.cursor: int | None = None
        self.is_dimmed = False
        self._cursor_row = 0  # where the cursor was when rows last moved
        self._palette = palette
        self._marks = marks
        self._flags_of = flags_of
        self._label_of = label_of
        self._lit: tuple[str, ...] = ()
        self._strips: OrderedDict[tuple[int, int, Look], Strip] = OrderedDict()
        self._flags: dict[bytes, tuple[str, ...]] = {}
        self._gone: set[bytes] = set()
        self.edited: frozenset[bytes] = frozenset()  # files that have changed since they were searched

    # --- what is shown

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.redraw()

    def redraw(self) -> None:
        """Forget what was drawn: colours, marks or files' states have changed."""
        self._strips.clear()
        self._flags.clear()
        self.refresh()

    def show(self, results: Results, keep: HitKey | None, lit: tuple[str, ...]) -> None:
        """Show other results with the cursor on the hit `keep` if it is among them, else on the first. `lit` words are lit in paths."""
        height = self._cursor_height()
        self.results = results
        self.is_dimmed = False
        self._lit = lit
        self._gone.clear()
        self.edited = frozenset()
        self.redraw()
        found = results.find(keep) if keep is not None else None
        self.cursor = found if found is not None else results.first()
        self._fit()
        if found is not None:
            self._put_cursor_at(height)
        self._into_view()
        self.post_message(self.Moved())

    def note_gone(self, path: bytes, is_gone: bool) -> None:
        """A look at the file has shown whether it is still there."""
        if is_gone != (path in self._gone):
            self._gone ^= {path}
            self.redraw()

    def note_edited(self, paths: frozenset[bytes]) -> bool:
        """These files have changed since; whether that is news."""
        if paths <= self.edited:
            return False
        self.edited |= paths
        self.redraw()
        return True

    def seen_paths(self) -> list[bytes]:
        """The files of the rows that are seen."""
        top = self.scroll_offset.y
        numbers = {self.results.at_row(index) for index in range(top, top + self.size.height)}
        return [self.results.hits[number].path for number in numbers if number is not None]

    def grown(self, has_moved: bool) -> None:
        """The results that are shown have got more hits at the end, or also in between (`has_moved`)."""
        # Also without: the heading of the last file that was shown counts its hits.
        self._strips.clear()
        self._fit()
        if self.cursor is None:
            self.cursor = self.results.first()
            self._into_view()
            self.post_message(self.Moved())
        elif has_moved:
            self._put_cursor_at(self._cursor_height())
            self._into_view()
        self.refresh()

    def _cursor_height(self) -> int | None:
        """How far below the top the cursor is seen; None when it is out of sight."""
        if self.cursor is None:
            return None
        height = self._cursor_row - self.scroll_offset.y
        return height if 0 <= height < self.size.height else None

    def _put_cursor_at(self, height: int | None) -> None:
        """Scroll so that the cursor is as far below the top as it was: nothing jumps under the reader's eyes."""
        if height is not None and self.cursor is not None:
            top = max(0, self.results.row_of(self.cursor) - height)
            if top != self.scroll_offset.y:
                self.scroll_to_row(top)

    def dim(self) -> None:
        """What is shown answers an older query."""
        if not self.is_dimmed and len(self.results):
            self.is_dimmed = True
            self._strips.clear()
            self.refresh()

    def undim(self) -> None:
        if self.is_dimmed:
            self.is_dimmed = False
            self._strips.clear()
            self.refresh()

    def _fit(self) -> None:
        self.fit(self.results.row_count)

    def on_resize(self) -> None:
        self._strips.clear()
        self._fit()
        self._into_view()

    # --- the cursor

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        return None if self.cursor is None else self.results.hits[self.cursor]

    def move_to(self, number: int | None) -> None:
        """Put the cursor on a hit."""
        if number is None or number == self.cursor:
            return
        before, self.cursor = self.cursor, number
        for each in (before, number):
            if each is not None:
                for index in self.results.rows_of(each):
                    self._refresh_row(index)
        self._into_view()
        self.post_message(self.Moved())

    def move(self, by: int) -> None:
        if self.cursor is not None:
            self.move_to(self.results.moved(self.cursor, by))

    def move_page(self, pages: int) -> None:
        self.move(pages * max(1, (self.size.height - SCROLL_MARGIN) // self.results.lines_per_hit - 1))

    def move_file(self, by: int) -> None:
        if self.cursor is not None:
            self.move_to(self.results.file_moved(self.cursor, by))

    def refresh_hit(self, number: int) -> None:
        """Its mark has changed."""
        for index in self.results.rows_of(number):
            self._refresh_row(index)

    def _refresh_row(self, index: int) -> None:
        y = index - self.scroll_offset.y
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def _into_view(self) -> None:
        """Scroll so that the cursor's lines can be seen, with its heading or some context."""
        if self.cursor is None:
            return
        rows = self.results.rows_of(self.cursor)
        self._cursor_row = rows.start
        height = self.size.height
        if height <= 0:
            return
        margin = min(SCROLL_MARGIN, max(0, (height - len(rows)) // 2))
        # Never less than one above: the top line shows the heading of what is scrolled away.
        top_at_most = max(0, rows.start - max(1, margin))
        top_at_least = rows.stop + margin - height
        top = self.scroll_offset.y
        wanted = min(max(top, top_at_least), top_at_most)
        wanted = min(wanted, max(0, self.results.row_count - height))
        if wanted != top:
            self.scroll_to_row(wanted)

    # --- drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= self.results.row_count:
            return blank(width, self.rich_style)
        kind, number = self.results.row(index)
        if y == 0 and kind is not RowKind.FILE:
            index = self.results.heading_of(number)
            kind, number = self.results.row(index)
        look = self._look(kind, number)
        key = (index, width, look)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._draw(kind, number, width, look)
            self._strips[key] = strip
            if len(self._strips) > STRIPS_KEPT:
                self._strips.popitem(last=False)
        else:
            self._strips.move_to_end(key)
        return strip.apply_style(self.rich_style)

    def _look(self, kind: RowKind, number: int) -> Look:
        if kind is RowKind.FILE:
            return Look(is_dimmed=self.is_dimmed)
        return Look(
            is_cursor=number == self.cursor,
            is_marked=bool(self._marks) and key_of(self.results.hits[number]) in self._marks,
            is_dimmed=self.is_dimmed,
        )

    def _draw(self, kind: RowKind, number: int, width: int, look: Look) -> Strip:
        results = self.results
        if kind is RowKind.FILE:
            group = results.groups[number]
            if group.path not in self._flags:
                self._flags[group.path] = self._flags_of(group.path)
            flags = ("gone",) if group.path in self._gone else self._flags[group.path]
            if group.path in self.edited:
                flags = ("edited", *flags)
            label = self._label_of(group.path)
            return heading(group.path, len(group.hits), flags, self._lit, width, self._palette, look.is_dimmed, label)
        hit = results.hits[number]
        if kind is RowKind.LINE:
            return second_line(hit, width, look, self._palette)
        last = results.hits[results.group_of(number).hits[-1]]
        number_width = max(4, len(str(max(hit.line, last.line) + 1)))
        return first_line(hit, results.mode, number_width, width, look, self._palette)

    # --- the mouse

    def on_click(self, event: events.Click) -> None:
        index = event.y + self.scroll_offset.y
        number = self.results.at_row(index)
        if number is None:
            return
        event.stop()
        self.move_to(number)
        if event.button == 3:
            self.post_message(self.MarkAsked())
        elif event.chain == 2:
            self.post_message(self.Chosen())
