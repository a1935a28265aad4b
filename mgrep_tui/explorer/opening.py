"""The command that opens hits in the editor of the person's choice."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mgrep_tui.editor import presets
from mgrep_tui.editor.launch import find_program, linked_program
from mgrep_tui.errors import GoneError
from mgrep_tui.explorer.protocol import EditorCommand
from mgrep_tui.settings.config import Settings


def editor_command(
    places: Sequence[presets.Place], settings: Settings, environ: Mapping[str, str], folder: Path
) -> EditorCommand:
    """How to open those of these places that are there, started in `folder`.

    Raises `MgrepError` when the editor is missing, and `GoneError` when every file is: an editor would make an empty one of that name.
    """
    there = [place for place in places if os.path.lexists(place.path)]
    if not there:
        raise GoneError(
            "The file is not there any more." if len(places) == 1 else "None of these files is there any more.",
            "F5 searches again.",
        )
    words = presets.choose(settings.editor.command, environ)
    command = find_program(presets.command_for(words, there, linked_program))
    return EditorCommand(command.argv, command.is_terminal, command.name, folder)
