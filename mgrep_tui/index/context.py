"""What the parts of the index worker share: where they are, what they may do, and how they call each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.corpus.root import Root
from mgrep_tui.index.coverage import Coverage
from mgrep_tui.index.health import Board
from mgrep_tui.index.sweep import Sweeper
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.loop import Loop
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import Folders


@dataclass(frozen=True, slots=True)
class Context:
    """Shared by the parts of one index worker. `publish` asks for a new generation within so many seconds; `moved` says that something
    was done or is to be done, so that the health is looked at again."""

    root: Root
    settings: Settings
    folders: Folders
    folder: Path
    loop: Loop
    cancel: CancelToken
    board: Board
    coverage: Coverage
    sweeper: Sweeper
    publish: Callable[[float], None]
    moved: Callable[[], None]
