"""Opening hits in the editor. A program of the terminal gets the screen until it ends; any other is started and left alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from mgrep_tui.editor.launch import run_in_terminal, start_detached
from mgrep_tui.editor.presets import EditorCommand as Program
from mgrep_tui.errors import MgrepError
from mgrep_tui.model import Hit
from mgrep_tui.ui.export import place

if TYPE_CHECKING:
    from mgrep_tui.ui.screens.main import MainScreen


def open_hits(screen: MainScreen, hits: Sequence[Hit]) -> None:
    """Open hits and come back with the screen as it was. Raises `MgrepError`: no editor, or it did not start."""
    command = screen.explorer.open_command(hits)
    folder = command.cwd or Path.cwd()
    program = Program(tuple(os.fsencode(word) for word in command.argv), command.is_terminal, command.title)
    if not command.is_terminal:
        start_detached(program, folder)
        screen.tell(f"Opened in {command.title}.")
        return
    failure: MgrepError | None = None
    status = 0
    try:
        with screen.app.suspend():
            # Nothing may leave this block: Textual would not take the screen back.
            try:
                status = run_in_terminal(program, folder)
            except MgrepError as error:
                failure = error
    except SuspendNotSupported:
        raise MgrepError("An editor cannot be opened from here.", place(hits[0])) from None
    screen.refresh(layout=True)
    screen.list.redraw()
    # The file may have been edited.
    screen.flow.search()
    screen.show_hit()
    if failure is not None:
        raise failure
    if status:
        screen.tell(f"{command.title} ended with status {status}.")
