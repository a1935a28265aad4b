"""A share of the long fuzz of the regex engine: whole searches equal a naive scan. See `fuzz_engine_long`."""

from __future__ import annotations

import pytest

from mgrep_tui.search import work
from tests.property import fuzz_engine_long as long_run


@pytest.mark.parametrize("seed", range(1_000_000, 1_000_005))
def test_searches_equal_a_naive_scan(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With edits of the tree, files that change behind the index, the second process and printed lines."""
    monkeypatch.setattr(long_run, "FILES", 50)
    monkeypatch.setattr(long_run, "PATTERNS", 40)
    monkeypatch.setattr(work, "SECOND_FROM", work.SECOND_FROM)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    tally = long_run.play(seed)
    assert tally.failures == ()
    assert tally.patterns > 20
    assert tally.matching > 0
