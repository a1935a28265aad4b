"""Before a home folder, the whole disk or a very large tree without git is indexed, somebody is asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mgrep_tui.commands.common import Context
from mgrep_tui.corpus.count import count_files
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import MgrepError
from mgrep_tui.text.sanitize import sanitize


def may_index(context: Context, root: Root) -> bool:
    """Ask on the terminal where there is reason to. Raises `MgrepError` where there is and nobody can be asked."""
    reason = _reason_to_ask(context, root)
    if not reason:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise MgrepError(
            f"{reason}, and nobody can be asked whether to index it: {root.path}.",
            "`mgrep-tui index` makes the index; `--mode regex` needs none.",
        )
    sys.stderr.write(f"{reason}: {sanitize(str(root.path))}\nIndex it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _reason_to_ask(context: Context, root: Root) -> str:
    """Empty where there is none, or where an index was allowed before."""
    if context.folders.index_of(root.path).exists():
        return ""
    if root.path == Path(root.path.anchor):
        return "This is the whole disk"
    if root.path == Path(os.path.realpath(os.path.expanduser("~"))):
        return "This is your home folder"
    if root.is_git:
        return ""
    limit = context.settings.index.ask_above_files
    count, is_all = count_files(root, limit)
    if is_all:
        return ""
    if count >= limit:
        return f"This folder is not in git and has more than {limit:,} files"
    return f"This folder is not in git and has so many files that there is no end of counting ({count:,} by now)"
