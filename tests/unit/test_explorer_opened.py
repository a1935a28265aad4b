"""A search by meaning waits for an index that is just being opened, and for no other."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mgrep_tui.errors import Cancelled
from mgrep_tui.explorer import opened
from mgrep_tui.explorer.opened import opened_view
from mgrep_tui.index.results import SemanticView
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health, IndexState

OPENED = SemanticView(catalog=object(), notice="here")  # type: ignore[arg-type]
CLOSED = SemanticView(notice="not yet")


@dataclass
class Index:
    """Opened when it has been looked at so often."""

    looks: int
    state: IndexState = IndexState.OPENING
    looked: int = 0

    def semantic(self) -> SemanticView:
        self.looked += 1
        return OPENED if self.looked > self.looks else CLOSED

    def health(self) -> Health:
        return Health(state=self.state)


def test_an_index_that_is_being_opened_is_waited_for() -> None:
    assert opened_view(Index(3), CancelToken()) is OPENED


def test_one_that_cannot_be_read_is_not() -> None:
    index = Index(3, IndexState.BROKEN)
    assert opened_view(index, CancelToken()) is CLOSED
    assert index.looked == 1


def test_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "PATIENCE_S", 0.0)
    assert opened_view(Index(1 << 30), CancelToken()) is CLOSED


def test_who_is_not_wanted_any_more_does_not_wait() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        opened_view(Index(3), token)
