"""Keys at random: whatever is pressed in whatever order, the screen agrees with its model."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgrep_tui.model import Mode
from mgrep_tui.text.sanitize import is_clean
from mgrep_tui.ui.results import key_of
from tests.support.fake_explorer import FakeExplorer
from tests.support.screen import MEDIUM, NARROW, WIDE, Screen, running

KEYS = (
    *"retrydlay", "left_parenthesis", "full_stop", "backspace", "space",
    "down", "up", "pagedown", "pageup", "ctrl+home", "ctrl+end", "alt+down", "alt+up", "shift+down", "shift+pageup",
    "tab", "shift+tab", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f12", "ctrl+g", "ctrl+b", "ctrl+up", "ctrl+down",
    "ctrl+u", "ctrl+w", "ctrl+l", "ctrl+t", "alt+f", "alt+x", "alt+g", "alt+s", "alt+k", "alt+m", "alt+c", "alt+l", "alt+o",
    "alt+i", "alt+e", "escape", "enter", "left", "right", "j", "k", "l", "h", "G", "g", "M", "U",
)  # fmt: skip
SIZES = (WIDE, MEDIUM, NARROW, (60, 18), (100, 12), (39, 7))


def check(screen: Screen) -> None:
    """What holds at any moment of rest."""
    main = screen.main
    assert screen.app._exception is None
    flow, shown = main.flow, main.list
    assert shown.results is flow.results, "the list shows the flow's hits"
    assert main.query_input.value == flow.ask.text, "the box shows the flow's query"
    if len(flow.results):
        assert shown.cursor is not None
        assert 0 <= shown.cursor < len(flow.results), "the cursor is in range"
        if screen.app.screen is main and not main.has_class("-tiny") and shown.size.height > 0 and shown.display:
            row = flow.results.row_of(shown.cursor) - shown.scroll_offset.y
            assert 0 <= row < shown.size.height, "the cursor is in sight"
    else:
        assert shown.cursor is None
        assert main.is_starting, "no hits: the start page stands there"
    if flow.error is None and flow.shown_ask is not None:
        assert flow.results.epoch == flow.epoch, "no hits of an old query"
        assert not shown.is_dimmed
    for key, hit in main.marks.items():
        assert key == key_of(hit)
    for line in screen.lines():
        assert is_clean(line)
    assert len(screen.lines()) == screen.app.size.height


async def play(keys: list[str | tuple[int, int]]) -> None:
    explorer = FakeExplorer()
    async with running(explorer, text="retr", mode=Mode.REGEX) as screen:
        for key in keys:
            if isinstance(key, tuple):
                await screen.pilot.resize_terminal(*key)
                # On a busy machine the new size comes after the pilot's pause.
                await screen.until(lambda height=key[1]: len(screen.lines()) == height)
            else:
                await screen.pilot.press(key)
            if not screen.app.is_running or screen.app._exit:
                return  # Esc on an empty query leaves
            await screen.settle()
            check(screen)


steps = st.lists(st.one_of(st.sampled_from(KEYS), st.sampled_from(SIZES)), min_size=5, max_size=25)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(steps)
def test_any_keys_in_any_order(keys: list[str | tuple[int, int]]) -> None:
    asyncio.run(play(keys))


@pytest.mark.long
@pytest.mark.timeout(3600)  # all examples are one test
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps)
def test_many_keys_in_any_order(keys: list[str | tuple[int, int]]) -> None:
    asyncio.run(play(keys))
