"""Moving the cursor, and the preview beneath it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen

SIDEWAYS = 8  # cells, two steps of indentation


def commands(screen: MainScreen) -> dict[str, Callable[[], None]]:
    def on_list(move: Callable[[], None], on_start: Callable[[], None]) -> Callable[[], None]:
        """Without hits the keys move over what the start page offers."""

        def run() -> None:
            if screen.is_starting:
                on_start()
            else:
                screen.is_touched = True
                move()

        return run

    def start(by: int) -> Callable[[], None]:
        return lambda: screen.start_list.move(by)

    def preview(pages: float) -> Callable[[], None]:
        return lambda: screen.pane.scroll_lines(round(pages * screen.pane.body_height) or (1 if pages > 0 else -1))

    def sideways(by: int) -> Callable[[], None]:
        return lambda: screen.pane.scroll_cells(by)

    far = 1_000_000
    return {
        "next": on_list(lambda: screen.list.move(1), start(1)),
        "previous": on_list(lambda: screen.list.move(-1), start(-1)),
        "page-down": on_list(lambda: screen.list.move_page(1), start(10)),
        "page-up": on_list(lambda: screen.list.move_page(-1), start(-10)),
        "first": on_list(lambda: screen.list.move(-far), start(-far)),
        "last": on_list(lambda: screen.list.move(far), start(far)),
        "next-file": on_list(lambda: screen.list.move_file(1), start(1)),
        "previous-file": on_list(lambda: screen.list.move_file(-1), start(-1)),
        "scroll-down": preview(0.01),
        "scroll-up": preview(-0.01),
        "half-down": preview(0.5),
        "half-up": preview(-0.5),
        "scroll-left": sideways(-SIDEWAYS),
        "scroll-right": sideways(SIDEWAYS),
    }
