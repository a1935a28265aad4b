"""The index of one root: kept true while files change, published so that a crash loses nothing, shared by copies of the program.

    worker = IndexWorker(root, settings, folders, semantic=True, watch=None)

`semantic=False` keeps only what regex search needs. `watch` overrides the setting. Call `jobs.tracker.prepare()` in the main thread before
the screen starts. Every method may be called from any thread.

    start()                     opens and works in a thread of its own; returns at once
    stop(timeout_s=0.25)        kills the children, lets go; True when it ended in time. Unfinished work is done the next time
    snapshot()                  regex search's view, at once; `covers` is False while every file has to be scanned
    check(cancel, since=None)   looks at the disk now, in the caller's thread; what differs from the snapshot `since`. Raises `Cancelled`,
                                and `UnreadableError` when the root cannot be listed
    semantic()                  the view of search by meaning, at once
    wait_complete(cancel, until="complete")
                                waits until regex search needs no scan ("regex"), search by meaning is complete and saved ("semantic"), or
                                both are; False when that will not come about (a disk that cannot be written, a writer that stopped)
    health()                    at once
    subscribe(callback)         called from the worker's thread at most five times a second when the health has changed
    pause(), resume()           stop and go on taking files in for search by meaning; regex search stays true
    rebuild(part)               `ngrams`, `keywords`, `vectors` or `all`, in the background
    skipped()                   what is not searched, and why; may block

`open_as_is(root, folders)` opens what is published without a worker: `.semantic()`, `.health()`, `.skipped()`, `.close()`;
`clean(folder)` removes an index.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mgrep_tui.index.as_is import AsIs, clean, open_as_is
    from mgrep_tui.index.results import CheckResult, SemanticView
    from mgrep_tui.index.worker import IndexWorker

__all__ = ["AsIs", "CheckResult", "IndexWorker", "SemanticView", "clean", "open_as_is"]

_HOMES = {
    "AsIs": "as_is",
    "clean": "as_is",
    "open_as_is": "as_is",
    "CheckResult": "results",
    "SemanticView": "results",
    "IndexWorker": "worker",
}


def __getattr__(name: str) -> object:
    """Loads what is asked for: child processes want one or two modules of this package, and all of it costs each of them 0.15 s more."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
