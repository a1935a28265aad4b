"""Single lines of the screen: title, mode, summary, status, footer, and the lines between the panes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from mgrep_tui.ui.strips import Part, blank, row
from mgrep_tui.ui.theme import Palette

RolePart = tuple[str, str]


def clickable(style: Style, command: str) -> Style:
    """A style that makes its text run a command when it is clicked."""
    return style + Style.from_meta({"@click": f"screen.perform('{command}')"})


class Bar(Widget):
    """One line, made of parts at the left and at the right. Parts are sanitised by whoever gives them."""

    def __init__(self, id: str) -> None:  # noqa: A002  # Textual's word
        super().__init__(id=id)
        self._left: Sequence[Part] = ()
        self._right: Sequence[Part] = ()

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        """Show other parts; nothing is drawn when they are the same."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        if y:
            return blank(self.size.width, self.rich_style)
        return row(self.size.width, self._left, self._right).apply_style(self.rich_style)

    @property
    def text(self) -> str:
        """What it shows, for tests and for people who read by other means."""
        return "".join(text for text, _ in (*self._left, *self._right))


def styled(parts: Sequence[RolePart], palette: Palette) -> list[Part]:
    """Parts with roles as parts with styles."""
    return [(text, getattr(palette, role)) for text, role in parts]


class Rule(Widget):
    """A horizontal line, with a joint where the vertical one meets it."""

    def __init__(self, palette: Palette, id: str, joint: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._palette = palette
        self._joint = joint
        self._column: int | None = None

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.refresh()

    def join_at(self, column: int | None) -> None:
        if column != self._column:
            self._column = column
            self.refresh()

    def render_line(self, y: int) -> Strip:
        text = "─" * self.size.width
        if self._column is not None and self._column < len(text):
            text = text[: self._column] + self._joint + text[self._column + 1 :]
        return row(self.size.width, [(text, self._palette.faint)]).apply_style(self.rich_style)


class Splitter(Widget):
    """The line between list and preview; it can be dragged."""

    class Dragged(Message):
        """It was dragged to this place of the screen."""

        def __init__(self, x: int, y: int) -> None:
            super().__init__()
            self.x = x
            self.y = y

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="splitter")
        self._palette = palette

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        text = "│" if width == 1 else "─" * width
        return row(width, [(text, self._palette.faint)]).apply_style(self.rich_style)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        self.capture_mouse()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        event.stop()
        self.release_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            event.stop()
            self.post_message(self.Dragged(int(event.screen_x), int(event.screen_y)))
