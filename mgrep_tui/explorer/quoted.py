"""Which files can hold the quoted texts and patterns of a question, by the n-gram index."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mgrep_tui.ngram.plan import plan, plan_literal
from mgrep_tui.ngram.snapshot import Snapshot
from mgrep_tui.search.filters import HasText


def files_with(snapshot: Snapshot | None, texts: Sequence[HasText]) -> Collection[bytes] | None:
    """All files that can hold all of these; None while that is not known, or when it is any file."""
    if snapshot is None or not snapshot.covers:
        return None
    # A line's end may be two bytes in the file: what spans lines tells nothing here.
    in_a_line = [text for text in texts if "\n" not in text.value and not (text.is_pattern and "\\n" in text.value)]
    plans = [plan(text.value) if text.is_pattern else plan_literal(text.value) for text in in_a_line]
    telling = [one for one in plans if not one.is_all]
    if not telling:
        return None
    return set.intersection(*({candidate.path for candidate in snapshot.candidates(one)} for one in telling))
