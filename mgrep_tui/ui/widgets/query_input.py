"""The query box: an input line that lights filters, takes a paste as one line, and leaves all other keys to the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.highlighter import Highlighter
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.widgets import Input

from mgrep_tui.explorer.protocol import Chip
from mgrep_tui.text.cells import cell_width
from mgrep_tui.text.sanitize import sanitize
from mgrep_tui.ui.theme import Palette

_UNTYPABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")

# The editing keys: method and whether it selects. Not as bindings: Textual runs a binding only when its key has travelled up to the
# program, so that in `Ctrl+U abc`, typed ahead, the letters would be there before the line is cleared.
_EDITING: dict[str, tuple[str, bool]] = {
    "left": ("cursor_left", False),
    "right": ("cursor_right", False),
    "shift+left": ("cursor_left", True),
    "shift+right": ("cursor_right", True),
    "ctrl+left": ("cursor_left_word", False),
    "ctrl+right": ("cursor_right_word", False),
    "ctrl+shift+left": ("cursor_left_word", True),
    "ctrl+shift+right": ("cursor_right_word", True),
    "home": ("home", False),
    "ctrl+a": ("home", False),
    "end": ("end", False),
    "ctrl+e": ("end", False),
    "shift+home": ("home", True),
    "shift+end": ("end", True),
    "backspace": ("delete_left", False),
    "delete": ("delete_right", False),
    "ctrl+d": ("delete_right", False),
    "ctrl+w": ("delete_left_word", False),
    "alt+backspace": ("delete_left_word", False),
    "ctrl+backspace": ("delete_left_word", False),
    "alt+d": ("delete_right_word", False),
    "ctrl+u": ("delete_left_all", False),
    "ctrl+k": ("delete_right_all", False),
    "ctrl+x": ("cut", False),
    "ctrl+v": ("paste", False),
}


def one_line(text: str) -> str:
    """Text from elsewhere as it can stand in the query box: line ends and controls become single spaces."""
    return _UNTYPABLE.sub(" ", text)


class FilterLights(Highlighter):
    """Draws the query: filters lit, nothing that could steer the terminal."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self.chips: Sequence[Chip] = ()

    def __call__(self, text: str | Text) -> Text:
        plain = text.plain if isinstance(text, Text) else text
        done = Text(sanitize(plain), no_wrap=True, overflow="ignore", end="")
        self.highlight(done)
        return done

    def highlight(self, text: Text) -> None:
        for chip in self.chips:
            text.stylize(self.palette.accent, chip.start, chip.end)


class QueryInput(Input, inherit_bindings=False):
    """The query box. `on_paste` of the screen is told apart from typing by `was_pasted`."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        palette: Palette,
        chips_of: Callable[[str], Sequence[Chip]],
        takes_key: Callable[[events.Key], bool] = lambda _event: False,
    ) -> None:
        """`takes_key` runs the command of a key, and says whether there was one."""
        self._lights = FilterLights(palette)
        self._chips_of = chips_of
        self._takes_key = takes_key
        super().__init__(
            placeholder="what are you looking for?",
            highlighter=self._lights,
            select_on_focus=False,
            compact=True,
            id="query",
        )
        self.was_pasted = False

    def set_palette(self, palette: Palette) -> None:
        self._lights.palette = palette
        self.refresh()

    @property
    def chips(self) -> Sequence[Chip]:
        return self._lights.chips

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.scroll_to_region(
            Region(cell_width(self.value[: self.cursor_position]), 0, 1, 1), force=True, animate=False, immediate=True
        )

    def _watch_value(self, value: str) -> None:
        """Textual would lay out and draw the whole screen again when the line gets longer, at every key."""
        self.set_reactive(Input.virtual_size, Size(self.content_width, 1))
        super()._watch_value(value)

    def relight(self) -> None:
        """Find the filters again: text or mode have changed."""
        self._lights.chips = self._chips_of(self.value)
        self.refresh()

    def set_text(self, text: str) -> None:
        """Put other text in, with the cursor behind it."""
        self.value = one_line(text)
        self.cursor_position = len(self.value)

    def on_key(self, event: events.Key) -> None:
        """All keys in the order in which they were typed."""
        if self._takes_key(event) or self._edits(event):
            event.stop()
            event.prevent_default()

    def _edits(self, event: events.Key) -> bool:
        for key in event.aliases:
            if key in _EDITING:
                name, selects = _EDITING[key]
                action = getattr(self, f"action_{name}")
                action(True) if selects else action()
                return True
        return False

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = one_line(event.text.strip("\r\n"))
        if text:
            self.was_pasted = True
            self.replace(text, *self.selection)
