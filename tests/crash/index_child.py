"""Opens an index on a tree that changes under it, until it is killed. Run as a program: `index_child.py TREE HOME [complete]`.

Prints `open` when it answers, `complete` when nothing is left to do. Thresholds are small, so that bases, overlays, merges and publications
all happen within a second or two.
"""

from __future__ import annotations

import sys
import time

from mgrep_tui.corpus.root import open_root
from mgrep_tui.index import IndexWorker, grams, meaning
from mgrep_tui.index import feeder as feeder_module
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.jobs.pool import prepare
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders

STALE_FILES = 4
REBUILD_FILES = 20


def shrink() -> None:
    """Make a tree of some dozen files go through everything that a large one does."""
    grams.STALE_FILES = STALE_FILES
    grams.REBUILD_FILES = REBUILD_FILES
    meaning.SAVE_EVERY_S = 0.3
    feeder_module.BATCH_FILES = 8


def main() -> None:
    tree, home = sys.argv[1:3]
    shrink()
    prepare()
    worker = IndexWorker(open_root(tree), Settings(), user_folders({"MGREP_TUI_HOME": home}), watch=True)
    worker.start()
    print("open", flush=True)
    worker.wait_complete(CancelToken())
    print("complete", flush=True)
    if "complete" in sys.argv[3:]:
        worker.stop(60.0)
        return
    while True:
        worker.check(CancelToken())
        time.sleep(0.05)


if __name__ == "__main__":
    main()
