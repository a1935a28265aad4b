"""A question with one line for the answer."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from mgrep_tui.ui.screens.box import Box
from mgrep_tui.ui.theme import Palette


class Prompt(Box[str]):
    """Ends with what was typed, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "accept", show=False)]

    def __init__(self, palette: Palette, question: str, answer: str) -> None:
        super().__init__(palette, question, hint="Enter writes · Esc closes", placeholder="answer", text=answer)

    def action_accept(self) -> None:
        self.dismiss(self.typed.strip() or None)
