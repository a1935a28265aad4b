"""A box over the main screen: a title, perhaps a line to type in, and what stands beneath. Esc or a click beside it closes it."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from mgrep_tui.ui.strips import said
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.bars import Bar, styled
from mgrep_tui.ui.widgets.query_input import QueryInput

# Below this size of the screen there is no room for air.
SMALL = (60, 18)
ResultT = TypeVar("ResultT")


class Box(ModalScreen[ResultT | None]):
    """Ends with a result, or with None. With a `placeholder` it has a line to type in, which begins with `text`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("tab,shift+tab", "nothing", show=False),
    ]

    def __init__(
        self, palette: Palette, title: str, *, hint: str, placeholder: str = "", text: str = "", classes: str = ""
    ) -> None:
        super().__init__(classes=classes)
        self._palette = palette
        self._title = title
        self._hint = hint
        self._placeholder = placeholder
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Bar("overlay-title")
            if self._placeholder:
                line = QueryInput(self._palette, lambda _text: ())
                line.placeholder = self._placeholder
                line.cursor_blink = False
                yield line
            yield from self.beneath()

    def beneath(self) -> ComposeResult:
        """The parts under the title and the line."""
        yield from ()

    @property
    def typed(self) -> str:
        return self.query_one(QueryInput).value if self._placeholder else ""

    def on_mount(self) -> None:
        self.query_one("#overlay-title", Bar).show(
            styled([(" " + said(self._title), "strong")], self._palette),
            styled([(self._hint + " ", "muted")], self._palette),
        )
        if self._text:
            self.query_one(QueryInput).set_text(self._text)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < SMALL[0] or event.size.height < SMALL[1], "-small")

    def on_click(self, event: events.Click) -> None:
        if not self.query_one("#box").region.contains(int(event.screen_x), int(event.screen_y)):
            self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_nothing(self) -> None:
        """Tab has nowhere to go in here."""
