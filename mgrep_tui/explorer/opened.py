"""The index as a search by meaning sees it, when it is just being opened."""

from __future__ import annotations

import time
from typing import Protocol

from mgrep_tui.index.results import SemanticView
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, IndexState

PATIENCE_S = 3.0
LOOK_S = 0.02


class Opening(Protocol):
    def semantic(self) -> SemanticView: ...

    def health(self) -> Health: ...


def opened_view(index: Opening, cancel: CancelToken) -> SemanticView:
    """What there is to search. The moment that opening takes is waited for: a query that was there at the start would else find nothing,
    say so, and find its hits a second later. Raises `Cancelled`."""
    until = time.monotonic() + PATIENCE_S
    while (view := index.semantic()).catalog is None and index.health().state is IndexState.OPENING:
        if time.monotonic() > until:
            break
        cancel.wait(LOOK_S)
        cancel.check()
    return view
