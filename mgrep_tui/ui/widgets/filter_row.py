"""The row of filters beneath the query: options to switch, filters to take away, filters to add. By key and by mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from mgrep_tui.explorer.protocol import Chip, SearchOptions
from mgrep_tui.model import Mode
from mgrep_tui.text.cells import cell_width
from mgrep_tui.ui.strips import Part, row, said
from mgrep_tui.ui.theme import Palette
from mgrep_tui.ui.words import CASES


@dataclass(frozen=True, slots=True)
class FilterItem:
    """One place of the row. `command` is run when it is chosen; a `chip` is taken away; `adds` is put into the query."""

    label: str
    is_on: bool = False
    command: str = ""
    chip: Chip | None = None
    adds: str = ""


def filter_items(options: SearchOptions, mode: Mode, chips: Sequence[Chip]) -> list[FilterItem]:
    """What the row offers."""
    items = [FilterItem(CASES[options.case], options.case != "smart", "case")]
    if mode is Mode.REGEX:
        for command, label, is_on in (
            ("word", "whole words", options.word),
            ("literal", "plain text", options.literal),
            ("hidden", "hidden", options.hidden),
            ("ignored", "ignored", options.ignored),
        ):
            items.append(FilterItem(f"✓ {label}" if is_on else label, is_on, command))
    items.append(FilterItem(f"by {options.sort}", options.sort != "rank", "sort"))
    items += [FilterItem(f"{said(chip.label)} ×", is_on=True, chip=chip) for chip in chips]
    items += [FilterItem(f"+{name}", adds=f"{name}:") for name in ("lang", "path", "sym", "is")]
    return items


class FilterRow(Widget, can_focus=True):
    """One line. It has the focus while it is open; Esc and F3 lead back to the query."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,tab", "move(1)", show=False),
        Binding("left,shift+tab", "move(-1)", show=False),
        Binding("space,enter", "choose", show=False),
        Binding("backspace,delete,x", "remove", show=False),
        Binding("c", "screen.perform('case')", show=False),
        Binding("w", "screen.perform('word')", show=False),
        Binding("f", "screen.perform('literal')", show=False),
        Binding("o", "screen.perform('sort')", show=False),
        Binding("full_stop", "screen.perform('hidden')", show=False),
        Binding("i", "screen.perform('ignored')", show=False),
    ]

    class Chosen(Message):
        """An item was chosen, by key or mouse."""

        def __init__(self, item: FilterItem) -> None:
            super().__init__()
            self.item = item

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="filters")
        self.items: Sequence[FilterItem] = ()
        self.cursor = 0
        self._palette = palette

    def set_palette(self, palette: Palette) -> None:
        self._palette = palette
        self.refresh()

    def show(self, items: Sequence[FilterItem]) -> None:
        self.items = items
        self.cursor = min(self.cursor, max(0, len(items) - 1))
        self.refresh()

    def action_move(self, by: int) -> None:
        self.cursor = (self.cursor + by) % max(1, len(self.items))
        self.refresh()

    def action_choose(self) -> None:
        if self.items:
            self.post_message(self.Chosen(self.items[self.cursor]))

    def action_remove(self) -> None:
        if self.items and self.items[self.cursor].chip is not None:
            self.action_choose()

    def _starts(self) -> list[int]:
        """The column of each item; the row moves left when the cursor would be out of sight."""
        starts, column = [], 3
        for item in self.items:
            starts.append(column)
            column += cell_width(item.label) + 3
        if starts:
            end = starts[self.cursor] + cell_width(self.items[self.cursor].label) + 2
            over = max(0, end - self.size.width)
            starts = [start - over for start in starts]
        return starts

    def render_line(self, y: int) -> Strip:
        palette = self._palette
        parts: list[Part] = []
        column = 0
        for index, (start, item) in enumerate(zip(self._starts(), self.items, strict=True)):
            if start < 0:
                continue
            parts.append((" " * (start - column), palette.text))
            is_cursor = index == self.cursor and self.has_focus
            style = palette.chip_lit if is_cursor else palette.chip if item.is_on else palette.muted
            label = f"[{item.label}]" if is_cursor else f" {item.label} "
            parts.append((label, style))
            column = start + cell_width(label)
        return row(self.size.width, parts).apply_style(self.rich_style)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        for index, (start, item) in enumerate(zip(self._starts(), self.items, strict=True)):
            if start <= event.x < start + cell_width(item.label) + 2:
                event.stop()
                self.cursor = index
                self.action_choose()
