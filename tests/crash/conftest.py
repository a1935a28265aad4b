"""What these tests make smaller is as it was for those that follow in the same process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mgrep_tui.index import feeder, grams, meaning

SHRUNK = (
    (grams, "STALE_FILES"),
    (grams, "REBUILD_FILES"),
    (meaning, "SAVE_EVERY_S"),
    (feeder, "BATCH_FILES"),
)


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module, name in SHRUNK:
        monkeypatch.setattr(module, name, getattr(module, name))
    yield
