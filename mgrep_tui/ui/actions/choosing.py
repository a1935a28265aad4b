"""Opening, marking, leaving with the chosen hits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mgrep_tui.model import Hit
from mgrep_tui.ui.strips import count

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen


def chosen(screen: MainScreen) -> list[Hit]:
    """The marked hits, or the one under the cursor."""
    if screen.marks:
        return list(screen.marks.values())
    return [screen.list.hit] if screen.list.hit is not None else []


def commands(screen: MainScreen) -> dict[str, Callable[[], None]]:
    def open_one() -> None:
        screen.flow.hurry()
        if screen.is_starting:
            screen.start_list.choose()
        elif screen.list.hit is not None:
            screen.open([screen.list.hit])

    def open_marked() -> None:
        if hits := chosen(screen):
            screen.open(hits)

    def mark(by: int) -> None:
        hit, number = screen.list.hit, screen.list.cursor
        if hit is None or number is None:
            return
        screen.marks.toggle(hit)
        screen.list.refresh_hit(number)
        screen.is_touched = True
        screen.list.move(by)
        screen.presenter.query_changed()

    def mark_file() -> None:
        if screen.list.hit is not None:
            screen.marks.toggle_all(screen.flow.results.hits_of(screen.list.hit.path))
            screen.list.redraw()
            screen.presenter.query_changed()

    def unmark() -> None:
        number = len(screen.marks)
        screen.marks.clear()
        screen.list.redraw()
        screen.presenter.query_changed()
        if number:
            screen.tell(f"{count(number, 'mark')} taken away.")

    def print_and_leave() -> None:
        hits = chosen(screen)
        if hits:
            screen.remember()
            screen.app.exit(hits)
        else:
            screen.tell("There is no hit to print.")

    return {
        "open": open_one,
        "open-marked": open_marked,
        "mark": lambda: mark(1),
        "mark-back": lambda: mark(-1),
        "mark-file": mark_file,
        "unmark": unmark,
        "print": print_and_leave,
    }
