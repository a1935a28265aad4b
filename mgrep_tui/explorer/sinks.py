"""Sinks that keep what a search finds, for callers that want it all at once."""

from __future__ import annotations

from collections.abc import Sequence

from mgrep_tui.model import Hit, Progress


class Collected:
    """Keeps all hits, in the order of display."""

    def __init__(self) -> None:
        self.hits: list[Hit] = []

    def batch(self, hits: Sequence[Hit]) -> None:
        self.hits.extend(hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        self.hits[:] = hits

    def progress(self, progress: Progress) -> None:
        return None
