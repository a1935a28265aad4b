"""A question with one line for the answer."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from mgrep_tui.ui.strips import said
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.widgets.bars import Bar
from mgrep_tui.ui.widgets.query_input import QueryInput


class Prompt(ModalScreen["str | None"]):
    """Ends with what was typed, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("enter", "accept", show=False),
        Binding("tab,shift+tab", "nothing", show=False),
    ]

    def __init__(self, palette: Palette, question: str, answer: str) -> None:
        super().__init__()
        self._palette = palette
        self._question = question
        self._answer = answer

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Bar("overlay-title")
            line = QueryInput(self._palette, lambda _text: ())
            line.cursor_blink = False
            yield line

    def on_mount(self) -> None:
        self.query_one("#overlay-title", Bar).show(
            [(" " + said(self._question), self._palette.strong)], [("Enter writes · Esc closes ", self._palette.muted)]
        )
        line = self.query_one(QueryInput)
        line.set_text(self._answer)
        line.focus()

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_accept(self) -> None:
        self.dismiss(self.query_one(QueryInput).value.strip() or None)

    def action_nothing(self) -> None:
        """Tab has nowhere to go in here."""
