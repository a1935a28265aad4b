"""Sinks that keep what a search finds, for callers that want it all at once, and one that listens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mgrep_tui.model import Hit, Progress, Sink


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


class Noting:
    """Tells which files a search shows first, and hands everything on."""

    SEEN = 50  # about what one looks through

    def __init__(self, sink: Sink, note: Callable[[Sequence[bytes]], None]) -> None:
        self._sink = sink
        self._note = note

    def batch(self, hits: Sequence[Hit]) -> None:
        self._told(hits)
        self._sink.batch(hits)

    def replace(self, hits: Sequence[Hit]) -> None:
        self._told(hits)
        self._sink.replace(hits)

    def progress(self, progress: Progress) -> None:
        self._sink.progress(progress)

    def _told(self, hits: Sequence[Hit]) -> None:
        # The best one last: it is the next in turn.
        self._note([hit.path for hit in reversed(hits[: self.SEEN])])
