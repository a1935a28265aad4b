"""Copying and exporting hits."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mgrep_tui.errors import MgrepError
from mgrep_tui.model import Hit
from mgrep_tui.ui import export
from mgrep_tui.ui.actions.choosing import chosen
from mgrep_tui.ui.pick import Pick, picked
from mgrep_tui.ui.screens.overlay import Overlay
from mgrep_tui.ui.strips import count

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen


class Copying:
    """Everything that may block runs beside the screen; the toast says which way the text went."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    def _copy(self, what: str, make: Callable[[], str]) -> None:
        screen = self._screen
        screen.remember()

        def job(_has_newer: Callable[[], bool]) -> None:
            from mgrep_tui.clipboard import copy, harmless

            try:
                text = harmless(make())
                result = copy(text, os.environ)
            except MgrepError as error:
                failure = error
                screen.post(lambda: screen.complain(failure))
                return
            screen.post(lambda: self._copied(text, what, result.said, is_for_terminal=bool(result.to_terminal)))

        screen.copying.submit(job)

    def _copied(self, text: str, what: str, said: str, *, is_for_terminal: bool) -> None:
        if is_for_terminal:
            self._screen.app.copy_to_clipboard(text)
        self._screen.tell(f"{what[:60]}: {said}.")

    def _one(self) -> Hit | None:
        if self._screen.list.hit is None:
            self._screen.tell("There is no hit to copy.")
        return self._screen.list.hit

    def place(self) -> None:
        hits = chosen(self._screen)
        if hits:
            text = "\n".join(export.place(hit) for hit in hits)
            self._copy(text if len(hits) == 1 else count(len(hits), "place"), lambda: text)

    def line(self) -> None:
        if hit := self._one():
            self._copy("The line", lambda: hit.text.strip())

    def path(self) -> None:
        if hit := self._one():
            self._copy("The path", lambda: self._screen.explorer.absolute(hit.path))

    def symbol(self) -> None:
        hit = self._one()
        if hit is None:
            return
        shown = self._screen.pane.shown
        name = hit.symbol or (shown.breadcrumb[-1] if shown and shown.path == hit.path and shown.breadcrumb else "")
        if name:
            self._copy(name, lambda: name)
        else:
            self._screen.tell("The hit is in no symbol.")

    def link(self) -> None:
        if hit := self._one():
            self._copy("The link", lambda: self._screen.explorer.permalink(hit))

    def snippet(self) -> None:
        if hit := self._one():
            self._copy("The snippet", lambda: export.snippet(hit, self._screen.explorer.snippet(hit)))

    # --- export

    def export(self) -> None:
        """Choose the format, and where it goes."""
        screen = self._screen
        hits = list(screen.marks.values()) or list(screen.flow.results.hits)
        if not hits:
            screen.tell("There are no hits to export.")
            return
        picks = [
            Pick(f"{label}", where, (form, where))
            for where in ("to the clipboard", "to a file")
            for form, label in export.FORMATS.items()
        ]

        def take(value: object) -> None:
            if not isinstance(value, tuple):
                return
            form, where = value
            text = export.exported(hits, form)
            if where == "to a file":
                self._ask_for_file(text, form, len(hits))
            else:
                self._copy(count(len(hits), "hit"), lambda: text)

        what = "marked hit" if screen.marks else "hit"
        screen.app.push_screen(
            Overlay(
                screen.palette,
                f"Export {count(len(hits), what)}",
                lambda typed: picked(picks, typed),
                placeholder="format",
            ),
            take,
        )

    def _ask_for_file(self, text: str, form: str, number: int) -> None:
        from mgrep_tui.ui.screens.prompt import Prompt

        def write(name: str | None) -> None:
            if not name:
                return
            path = Path(name).expanduser()
            try:
                # Never over a file that is there.
                with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(text)
            except FileExistsError:
                self._screen.complain(MgrepError(f"'{name}' is there already.", "Choose another name."))
                return
            except OSError as error:
                self._screen.complain(MgrepError(f"'{name}' cannot be written: {error.strerror}."))
                return
            self._screen.tell(f"{count(number, 'hit')} written to {path}.")

        self._screen.app.push_screen(
            Prompt(self._screen.palette, "Write to the file", f"hits{export.SUFFIXES[form]}"), write
        )


def commands(screen: MainScreen) -> dict[str, Callable[[], None]]:
    copying = Copying(screen)
    return {
        "copy": copying.place,
        "copy-line": copying.line,
        "copy-path": copying.path,
        "copy-symbol": copying.symbol,
        "copy-link": copying.link,
        "copy-snippet": copying.snippet,
        "export": copying.export,
    }
