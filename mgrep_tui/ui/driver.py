"""Textual's driver of the terminal, put right in two points. Not for Windows, which has another."""

from __future__ import annotations

import os
import shutil

from textual.drivers import linux_driver

from mgrep_tui.ui.alt_keys import AltParser

_PAINTED_ON = 2  # standard error, as Textual has it


class TerminalDriver(linux_driver.LinuxDriver):
    """It asks the terminal that it paints on for its size: Textual asks standard output, which may be a file or a pipe
    (`vim $(mgrep-tui --print)`), and then takes 80 × 24. And it reads Alt keys as plain terminals send them."""

    def _get_terminal_size(self) -> tuple[int, int]:
        try:
            width, height = os.get_terminal_size(_PAINTED_ON)
        except OSError:
            width, height = shutil.get_terminal_size()
        return width or 80, height or 24

    def run_input_thread(self) -> None:
        # Textual has no place to name the parser, hence its release is pinned.
        linux_driver.XTermParser = AltParser  # type: ignore[attr-defined]
        super().run_input_thread()
