"""What opens over the main screen: a box with a title, rows that can be chosen, and perhaps a line to type in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from mgrep_tui.ui.strips import said
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.bars import Bar, styled
from mgrep_tui.ui.widgets.choice_list import ChoiceList, ChoiceRow
from mgrep_tui.ui.widgets.query_input import QueryInput

Rows = Sequence[ChoiceRow]
# Below this size of the screen there is no room for air.
SMALL = (60, 18)


class Overlay(ModalScreen[object]):
    """Ends with the chosen value, or None. `rows_for` makes the rows for what is typed; without a line to type in it gets an empty text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up,ctrl+p", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("ctrl+home", "move(-1000000)", show=False),
        Binding("ctrl+end", "move(1000000)", show=False),
        Binding("enter", "choose", show=False),
        Binding("tab,shift+tab", "nothing", show=False),
    ]

    def __init__(
        self,
        palette: Palette,
        title: str,
        rows_for: Callable[[str], Rows],
        *,
        placeholder: str = "",
        hint: str = "",
        at: int = 0,
        is_tall: bool = False,
        has_cursor: bool = True,
        leave_keys: Sequence[str] = (),
    ) -> None:
        super().__init__(classes="-tall" if is_tall else "")
        self._palette = palette
        self._title = title
        self._rows_for = rows_for
        self._placeholder = placeholder
        self._hint = hint
        self._at = at
        self._has_cursor = has_cursor
        self._leave_keys = frozenset(leave_keys)

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Bar("overlay-title")
            if self._placeholder:
                line = QueryInput(self._palette, lambda _text: ())
                line.placeholder = self._placeholder
                line.cursor_blink = False
                yield line
            yield ChoiceList(self._palette, "overlay-rows")

    @property
    def list(self) -> ChoiceList:
        return self.query_one("#overlay-rows", ChoiceList)

    @property
    def typed(self) -> str:
        return self.query_one(QueryInput).value if self._placeholder else ""

    def on_mount(self) -> None:
        hint = self._hint or "Esc closes"
        self.query_one("#overlay-title", Bar).show(
            styled([(" " + said(self._title), "strong")], self._palette), styled([(hint + " ", "muted")], self._palette)
        )
        self.renew(self._at)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < SMALL[0] or event.size.height < SMALL[1], "-small")

    def renew(self, at: int = 0) -> None:
        """Make the rows again."""
        self.list.show(self._rows_for(self.typed), at=at, has_cursor=self._has_cursor)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.renew()

    @on(ChoiceList.Chosen)
    def _chosen(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        self.dismiss(event.value)

    def on_key(self, event: events.Key) -> None:
        if event.key in self._leave_keys or (event.key == "q" and not self._placeholder):
            event.stop()
            self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        # A click beside the box closes it.
        if not self.query_one("#box").region.contains(int(event.screen_x), int(event.screen_y)):
            self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_nothing(self) -> None:
        """Tab has nowhere to go in here."""

    def action_move(self, by: int) -> None:
        self.list.move(by)

    def action_page(self, pages: int) -> None:
        self.list.move(pages * max(1, self.list.size.height - 1))

    def action_choose(self) -> None:
        self.list.choose()
