"""The keyword index as a copy opens it that does not write it: checked first, and also where nobody may write into its folder.

tantivy makes a lock file even to read. Where it cannot, the folder is opened by way of another one that links to its files; what was opened
needs no names any more, so the links are gone again at once.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from mgrep_tui.index.soundness import check_keywords
from mgrep_tui.retrieval.keywords import KeywordIndex


def open_keywords(folder: Path) -> KeywordIndex:
    """The last commit. Raise `IndexDamagedError`, and `OSError` where no links can be made."""
    check_keywords(folder)
    if can_follow(folder):
        return KeywordIndex(folder, writable=False)
    with tempfile.TemporaryDirectory(prefix="mgrep-tui-") as links:
        for path in folder.iterdir():
            if path.suffix != ".lock":
                os.symlink(path.absolute(), os.path.join(links, path.name))
        return KeywordIndex(Path(links), writable=False)


def can_follow(folder: Path) -> bool:
    """Whether what was opened may be asked to see later commits; else it is opened again."""
    return os.access(folder, os.W_OK)
