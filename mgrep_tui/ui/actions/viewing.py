"""Panes, themes, help and palette; stepping back and leaving."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from mgrep_tui.model import Symbol
from mgrep_tui.ui import layout, panels
from mgrep_tui.ui.flow import Ask
from mgrep_tui.ui.pick import Pick, picked
from mgrep_tui.ui.preview_feed import Wish
from mgrep_tui.ui.screens.overlay import Overlay
from mgrep_tui.ui.widgets.code_lines import Lit

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen


class Viewing:
    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    def focus(self) -> None:
        """Query, list, preview, and round again; panes that are not shown are passed over."""
        screen = self._screen
        panes = [screen.query_input, screen.list, screen.pane]
        shown = [
            pane
            for pane in panes
            if pane.display and all(node.display for node in pane.ancestors if node is not screen.app)
        ]
        at = shown.index(screen.focused) if screen.focused in shown else -1
        if shown:
            shown[(at + 1) % len(shown)].focus()

    def preview(self) -> None:
        screen = self._screen
        if screen.step is layout.Step.NARROW:
            screen.toggle_class("-full-preview")
            (screen.pane if screen.has_class("-full-preview") else screen.query_input).focus()
            screen.show_hit()
            return
        screen.has_preview = not screen.has_preview
        screen.divide()
        if not screen.has_preview and screen.focused is screen.pane:
            screen.query_input.focus()

    def wrap(self) -> None:
        screen = self._screen
        screen.pane.set_wraps(not screen.pane.wraps)
        screen.tell("Long lines wrap." if screen.pane.wraps else "Long lines are cut.")

    def widen(self, by: float) -> None:
        screen = self._screen
        if not screen.has_preview:
            return
        if screen.step is layout.Step.WIDE:
            screen.share = layout.clamp_share(screen.share + by)
        elif screen.step is layout.Step.MEDIUM:
            # A line at least: the share of a low screen may be less than one.
            line = 1 / max(1, screen.size.height - layout.SINGLE_LINES)
            screen.height_share = layout.clamp_share(
                screen.height_share + (max(by, line) if by > 0 else min(by, -line))
            )
        screen.divide()

    def outline(self) -> None:
        """The symbols of the file that is shown; choosing one shows it."""
        screen = self._screen
        shown = screen.pane.shown
        if shown is None or not shown.symbols:
            screen.tell("No outline is known for this file.")
            return
        path = shown.path
        picks = panels.outline_picks(shown.symbols)

        def go(value: object) -> None:
            if isinstance(value, Symbol):
                self._show_symbol(path, value)

        here = sum(symbol.first_line <= screen.pane.lit.line for symbol in shown.symbols) - 1
        screen.app.push_screen(
            Overlay(
                screen.palette,
                "Outline",
                lambda typed: picked(picks, typed),
                placeholder="find a symbol",
                at=max(0, here),
            ),
            go,
        )

    def step_symbol(self, by: int) -> None:
        """Show the symbol after (`by` = 1) or before (-1) the place that is seen: functions and classes, or whatever the file has."""
        screen = self._screen
        shown = screen.pane.shown
        if shown is None or not shown.symbols:
            screen.tell("No outline is known for this file.")
            return
        symbol = panels.symbol_beside(shown.symbols, screen.pane.place, by)
        if symbol is None:
            screen.tell("That was the last symbol." if by > 0 else "That was the first symbol.")
        else:
            self._show_symbol(shown.path, symbol)

    def _show_symbol(self, path: bytes, symbol: Symbol) -> None:
        lit = Lit(symbol.first_line, range(symbol.first_line, symbol.last_line + 1))
        self._screen.showing.wish(Wish(path, symbol.first_line, 0, lit, jumps=True))

    def why(self) -> None:
        """What the hit under the cursor owes its place to."""
        screen = self._screen
        hit = screen.list.hit
        if hit is None:
            screen.tell("There is no hit to explain.")
            return
        rows = panels.why_rows(hit, screen.flow.results.mode)
        screen.app.push_screen(
            Overlay(screen.palette, "Why this hit", lambda _typed: rows, leave_keys=("alt+y", "W"), has_cursor=False)
        )

    def theme(self) -> None:
        """Choose a theme; it can be seen while the cursor moves."""
        screen = self._screen
        before = screen.app.theme
        names = sorted(screen.app.available_themes, key=lambda name: (not name.startswith("mgrep"), name))
        picks = [Pick(name, "in use" if name == before else "", name) for name in names]

        def take(value: object) -> None:
            if isinstance(value, str):
                screen.app.theme = value

        at = names.index(before) if before in names else 0
        screen.app.push_screen(
            Overlay(screen.palette, "Theme", lambda typed: picked(picks, typed), placeholder="find a theme", at=at),
            take,
        )

    def palette(self) -> None:
        screen = self._screen
        picks = panels.palette_picks(screen.commands)

        def run(value: object) -> None:
            if isinstance(value, str):
                screen.perform(value)

        screen.app.push_screen(
            Overlay(
                screen.palette,
                "Commands",
                lambda typed: picked(picks, typed),
                placeholder="what to do",
                leave_keys=("f9",),
            ),
            run,
        )

    def help(self) -> None:
        screen = self._screen
        rows = panels.help_rows(screen.commands, screen.size.width)
        screen.app.push_screen(
            Overlay(
                screen.palette,
                "Keys",
                lambda _typed: rows,
                is_tall=True,
                leave_keys=("f1", "question_mark"),
                hint="↑↓ scroll · Esc closes",
            )
        )

    def back(self) -> None:
        """One step back: what is open, the focus, the search, the query, the program."""
        screen = self._screen
        if screen.has_class("-full-preview"):
            screen.remove_class("-full-preview")
            screen.query_input.focus()
        elif screen.has_class("-filtering"):
            screen.perform("filters")
        elif screen.focused is not screen.query_input:
            screen.query_input.focus()
        elif screen.flow.is_searching and screen.flow.is_slow:
            screen.flow.stop()
            screen.list.undim()
            screen.tell("The search was stopped. What it had found is shown.")
            screen.presenter.query_changed()
        elif not screen.flow.ask.is_empty:
            screen.ask_again(Ask("", screen.flow.ask.mode))
        else:
            self.quit()

    def quit(self) -> None:
        self._screen.remember()
        self._screen.app.exit(None)

    def suspend(self) -> None:
        # In the group of its session's leader no shell waits for the program (a popup of tmux, `xterm -e`): nobody could wake it again.
        if hasattr(os, "getsid") and os.getpgrp() == os.getsid(0):
            self._screen.tell("There is no shell to go back to.")
        else:
            self._screen.app.action_suspend_process()


def commands(screen: MainScreen) -> dict[str, Callable[[], None]]:
    viewing = Viewing(screen)
    return {
        "focus": viewing.focus,
        "preview": viewing.preview,
        "wrap": viewing.wrap,
        "outline": viewing.outline,
        "next-symbol": lambda: viewing.step_symbol(1),
        "previous-symbol": lambda: viewing.step_symbol(-1),
        "why": viewing.why,
        "wider": lambda: viewing.widen(layout.SHARE_STEP),
        "narrower": lambda: viewing.widen(-layout.SHARE_STEP),
        "theme": viewing.theme,
        "palette": viewing.palette,
        "help": viewing.help,
        "back": viewing.back,
        "suspend": viewing.suspend,
        "quit": viewing.quit,
    }
