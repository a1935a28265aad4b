"""Keeps what this program writes out of what it searches, where its folders lie inside the root: else each write would wake the indexer.

As other tools do with their caches, a folder of ours gets ignore files that leave out all that is in it, so git is not bothered either.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from mgrep_tui.settings.paths import Folders

NAMES = (".gitignore", ".ignore", ".mgrepignore")
CONTENT = "# Made by mgrep-tui, for its own files.\n*\n"


def leave_out(root: Path, folders: Folders) -> None:
    """Write the ignore files into those of our folders that lie below the root. Never raises."""
    for folder in (folders.cache, folders.state, folders.log):
        with contextlib.suppress(OSError, RuntimeError):
            if not folder.resolve().is_relative_to(root):
                continue
            folder.mkdir(parents=True, exist_ok=True)
            for name in NAMES:
                if not (folder / name).exists():
                    (folder / name).write_text(CONTENT)
