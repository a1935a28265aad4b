"""Why a file is searched, or is not: which rule or limit decides."""

from __future__ import annotations

import os
from dataclasses import dataclass

from mgrep_tui.corpus.root import Root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.settings.config import CorpusSettings


@dataclass(frozen=True, slots=True)
class Answer:
    """`path` is relative to the root where it lies below it; `reason` is a phrase, not sanitised."""

    path: bytes
    is_searched: bool
    reason: str


def explain(root: Root, absolute: bytes, settings: CorpusSettings) -> Answer:
    """What decides about the file at `absolute`. Any thread; takes as long as a listing."""
    base = os.path.join(os.fsencode(root.path), b"")
    if not absolute.startswith(base):
        return Answer(absolute, False, "it lies outside the root")
    path = absolute[len(base) :]
    listing = list_files(root, settings)
    if any(entry.path == path for entry in listing.entries):
        return Answer(path, True, "no rule leaves it out")
    for skip in listing.skips:
        if skip.path == path:
            return Answer(path, False, f"{skip.reason.value} {skip.detail}".rstrip())
    return Answer(path, False, "it is ignored, hidden or not there")
