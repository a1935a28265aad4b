"""What opens over the main screen: a box with rows that can be chosen, and perhaps a line to find them by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from mgrep_tui.ui.screens.box import Box
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.choice_list import ChoiceList, ChoiceRow

Rows = Sequence[ChoiceRow]


class Overlay(Box[object]):
    """Ends with the chosen value, or None. `rows_for` makes the rows for what is typed; without a line to type in it gets an empty text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up,ctrl+p", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("ctrl+home", "move(-1000000)", show=False),
        Binding("ctrl+end", "move(1000000)", show=False),
        Binding("enter", "choose", show=False),
    ]

    def __init__(
        self,
        palette: Palette,
        title: str,
        rows_for: Callable[[str], Rows],
        *,
        placeholder: str = "",
        hint: str = "Esc closes",
        at: int = 0,
        is_tall: bool = False,
        has_cursor: bool = True,
        leave_keys: Sequence[str] = (),
    ) -> None:
        super().__init__(palette, title, hint=hint, placeholder=placeholder, classes="-tall" if is_tall else "")
        self._rows_for = rows_for
        self._at = at
        self._has_cursor = has_cursor
        self._leave_keys = frozenset(leave_keys)

    def beneath(self) -> ComposeResult:
        yield ChoiceList(self._palette, "overlay-rows")

    @property
    def list(self) -> ChoiceList:
        return self.query_one("#overlay-rows", ChoiceList)

    def on_mount(self) -> None:
        self.renew(self._at)

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

    def action_move(self, by: int) -> None:
        self.list.move(by)

    def action_page(self, pages: int) -> None:
        self.list.move(pages * max(1, self.list.size.height - 1))

    def action_choose(self) -> None:
        self.list.choose()
