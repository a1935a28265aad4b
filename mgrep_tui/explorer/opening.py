"""The command that opens hits in the editor of the person's choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mgrep_tui.editor import presets
from mgrep_tui.editor.launch import find_program, linked_program
from mgrep_tui.explorer.protocol import EditorCommand
from mgrep_tui.settings.config import Settings


def editor_command(
    places: Sequence[presets.Place], settings: Settings, environ: Mapping[str, str], folder: Path
) -> EditorCommand:
    """How to open these places, started in `folder`. Raises `MgrepError` when the editor is missing."""
    words = presets.choose(settings.editor.command, environ)
    command = find_program(presets.command_for(words, places, linked_program))
    return EditorCommand(command.argv, command.is_terminal, command.name, folder)
