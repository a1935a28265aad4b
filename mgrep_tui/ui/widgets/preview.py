"""The preview: a window of the file under the cursor, read as it is needed.

It holds the lines around what is seen, and asks for others when it is scrolled beyond them. The file may be of any size.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from mgrep_tui.explorer.protocol import Preview
from mgrep_tui.text.sanitize import display_path
from mgrep_tui.ui.bindings import PANE_BINDINGS
from mgrep_tui.ui.strips import MAX_SHOWN, Part, blank, centered, fit_path, parts_width, row, said
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.code_lines import Lit, line_strips

WHEEL_LINES, WHEEL_CELLS = 3, 6


class PreviewPane(Widget, can_focus=True):
    """Shows a `Preview` under its breadcrumb."""

    BINDINGS: ClassVar[list[BindingType]] = PANE_BINDINGS

    class Needed(Message):
        """It was scrolled to where it has no lines: a window around `line` is wanted."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    class Chosen(Message):
        """A line was double-clicked."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="preview")
        self.shown: Preview | None = None
        self.lit = Lit()
        self.top = 0  # the first line that is seen
        self.left = 0  # the cells that are scrolled out at the left
        self.wraps = False
        self._palette = palette
        self._hint: tuple[tuple[str, str], ...] = ()
        self._body: list[tuple[int, Strip]] | None = (
            None  # the lines of the screen below the breadcrumb, with their line
        )

    # --- what is shown

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self._redraw()

    def show(self, preview: Preview, lit: Lit, *, jumps: bool) -> None:
        """Show a window; with `jumps` put the lit line at a third of the height, else stay."""
        self.shown = preview
        self.lit = lit
        if jumps:
            self.left = 0
            self.top = max(0, min(lit.line - self.body_height // 3, self._last_top()))
        self._redraw()

    def show_hint(self, rows: tuple[tuple[str, str], ...]) -> None:
        """Nothing to preview: show what can be typed instead."""
        self.shown = None
        self._hint = rows
        self._redraw()

    def set_wraps(self, wraps: bool) -> None:
        self.wraps = wraps
        self._redraw()

    def _redraw(self) -> None:
        self._body = None
        self.refresh()

    @property
    def body_height(self) -> int:
        """Lines below the breadcrumb."""
        return max(1, self.size.height - 1)

    @property
    def place(self) -> int:
        """The line that is looked at: the lit one while it is seen, else the first that is seen."""
        return self.lit.line if self.top <= self.lit.line < self.top + self.body_height else self.top

    # --- scrolling

    def _last_top(self) -> int:
        if self.shown is None:
            return 0
        known_end = self.shown.first_line + len(self.shown.lines)
        end = self.shown.total_lines if self.shown.total_lines is not None else known_end + self.body_height
        return max(0, end - self.body_height)

    def scroll_lines(self, by: int) -> None:
        """Scroll by lines, and ask for what is missing."""
        if self.shown is None:
            return
        top = max(0, min(self.top + by, self._last_top()))
        if top != self.top:
            self.top = top
            self._redraw()
        self._ask_for_missing()

    def scroll_cells(self, by: int) -> None:
        """Scroll sideways; lines that wrap have no side."""
        if self.shown is None or self.wraps:
            return
        longest = max((len(line) for line in self.shown.lines), default=0)
        left = max(0, min(self.left + by, min(longest, MAX_SHOWN) - 1))
        if left != self.left:
            self.left = left
            self._redraw()

    def _ask_for_missing(self) -> None:
        shown = self.shown
        if shown is None or not shown.lines:
            return
        end = shown.first_line + len(shown.lines)
        is_more_below = shown.total_lines is None or end < shown.total_lines
        if (self.top < shown.first_line) or (self.top + self.body_height > end and is_more_below):
            self.post_message(self.Needed(self.top + self.body_height // 2))

    def on_resize(self) -> None:
        self.top = max(0, min(self.lit.line - self.body_height // 3, self._last_top()))
        self._redraw()
        self._ask_for_missing()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.scroll_lines(WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.scroll_lines(-WHEEL_LINES)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        event.stop()
        self.scroll_cells(WHEEL_CELLS)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        event.stop()
        self.scroll_cells(-WHEEL_CELLS)

    def on_click(self, event: events.Click) -> None:
        if event.chain == 2 and event.y > 0 and self._body is not None and event.y <= len(self._body):
            event.stop()
            self.post_message(self.Chosen(self._body[event.y - 1][0]))

    # --- drawing

    def render_line(self, y: int) -> Strip:
        return self._line(y).apply_style(self.rich_style)

    def _line(self, y: int) -> Strip:
        width = self.size.width
        if width < 4:
            return blank(width)
        if self.shown is None:
            return self._hint_line(y, width)
        if y == 0:
            return self._breadcrumb(width)
        if not self.shown.lines:
            text = said(self.shown.notice)
            return centered(width, [(text, self._palette.muted)]) if y == self.size.height // 3 else blank(width)
        if self._body is None:
            self._body = self._draw(width)
        if y - 1 < len(self._body):
            return self._body[y - 1][1]
        return blank(width)

    def _draw(self, width: int) -> list[tuple[int, Strip]]:
        """The body, with the map of the file at its right edge."""
        assert self.shown is not None
        shown, height = self.shown, self.body_height
        rows: list[tuple[int, Strip]] = []
        notice = said(shown.notice)
        if notice:
            rows.append((self.top, row(width - 1, [(" " + notice, self._palette.warning)])))
        line = self.top
        while len(rows) < height:
            index = line - shown.first_line
            if index >= len(shown.lines) and (shown.total_lines is not None and line >= shown.total_lines):
                break
            if 0 <= index < len(shown.lines):
                strips = line_strips(
                    shown,
                    index,
                    self.lit,
                    width - 1,
                    self._palette,
                    wraps=self.wraps,
                    left=self.left,
                    limit=height - len(rows),
                )
                rows.extend((line, strip) for strip in strips)
            else:
                rows.append((line, blank(width - 1)))
            line += 1
        return [(number, Strip.join([strip, self._map_cell(y, height)])) for y, (number, strip) in enumerate(rows)]

    def _map_cell(self, y: int, height: int) -> Strip:
        """One cell of the map: where in the file the window is, and where the hits are."""
        assert self.shown is not None
        total = self.shown.total_lines or 0
        if total <= height:
            return row(1, [(" ", self._palette.faint)])
        first, last = y * total // height, max(y * total // height + 1, (y + 1) * total // height)
        if any(first <= line < last for line in self.lit.spans):
            return row(1, [("◂", self._palette.accent)])
        is_seen = first < self.top + height and last > self.top
        return row(1, [("┃" if is_seen else " ", self._palette.faint)])

    def _breadcrumb(self, width: int) -> Strip:
        assert self.shown is not None
        palette, shown = self._palette, self.shown
        right: list[Part] = []
        if shown.total_lines is not None and width >= 40:
            right = [(f"{self.lit.line + 1:,} of {shown.total_lines:,} ", palette.muted)]
        parts: list[Part] = []
        for name in shown.breadcrumb:
            parts += [(" › ", palette.muted), (said(name), palette.strong)]
        room = width - parts_width(parts) - parts_width(right) - 2
        path = display_path(shown.path)
        if room < 16:
            parts, room = parts[-2:], max(12, width - parts_width(parts[-2:]) - parts_width(right) - 2)
        return row(width, [(" " + fit_path(path, room), palette.muted), *parts], right)

    def _hint_line(self, y: int, width: int) -> Strip:
        """Two columns, what is typed and what it does; a heading has no second."""
        top = max(1, (self.size.height - len(self._hint)) // 3)
        if not 0 <= y - top < len(self._hint):
            return blank(width)
        left, right = self._hint[y - top]
        if not right:
            return row(width, [("   " + left, self._palette.strong)])
        size = min(24, width // 2)
        return row(width, [(f"   {left:<{size}} ", self._palette.accent), (right, self._palette.muted)])
