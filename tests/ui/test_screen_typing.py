"""What is typed, and what the mode and the scale make of it: keys in, lines out."""

from __future__ import annotations

import pytest

from mgrep_tui.model import Mode
from mgrep_tui.text.sanitize import is_clean
from tests.support.screen import running


async def test_typing_searches_and_shows_the_best_hit_with_its_code() -> None:
    async with running() as screen:
        await screen.type("retry")
        assert screen.main.query_input.value == "retry"
        assert len(screen.main.flow.results) > 3
        hit = screen.main.list.hit
        assert hit is not None
        shown = screen.main.pane.shown
        assert shown is not None
        assert shown.path == hit.path
        assert screen.explorer.searched[-1][0] == "retry"


async def test_a_query_may_hold_every_letter() -> None:
    """F13: a q is a letter, not a command."""
    async with running() as screen:
        await screen.type("jkqgevycwfhlmpnridux")
        assert screen.main.query_input.value == "jkqgevycwfhlmpnridux"


async def test_a_paste_of_lines_becomes_one_line_and_is_searched_at_once() -> None:
    from textual import events

    async with running(debounce_s=60) as screen:
        screen.main.query_input.post_message(events.Paste("retry\r\n\x1b[31mnow\x07\n"))
        await screen.until(lambda: bool(screen.explorer.searched))
        assert is_clean(screen.main.query_input.value)
        assert screen.main.query_input.value.startswith("retry ")


async def test_the_mode_changes_with_one_key_and_back() -> None:
    async with running(text="retry") as screen:
        await screen.press("f2")
        assert screen.main.flow.results.mode is Mode.REGEX
        assert "regular expression" in screen.bar("mode")
        await screen.press("ctrl+r")
        assert screen.main.flow.results.mode is Mode.SEMANTIC
        assert "meaning" in screen.bar("mode")


async def test_the_scale_of_meaning_moves_and_stops_at_its_ends() -> None:
    async with running(text="retry") as screen:
        for _ in range(8):
            await screen.press("f4")
        assert screen.main.flow.ask.options.ratio == 0.0
        assert screen.explorer.searched[-1][3].ratio == 0.0
        await screen.press("alt+right")
        assert screen.main.flow.ask.options.ratio == pytest.approx(0.1)


@pytest.mark.parametrize("pattern", ["foo(", "[", "*a", "(?P<x", "\\"])
async def test_a_half_typed_pattern_is_explained_and_old_hits_stay(pattern: str) -> None:
    """B7."""
    async with running(text="retr", mode=Mode.REGEX) as screen:
        before = len(screen.main.flow.results)
        screen.main.query_input.value = pattern
        await screen.settle()
        assert len(screen.main.flow.results) == before > 0
        assert screen.main.list.is_dimmed
        assert screen.main.flow.error is not None
        assert screen.main.flow.error.message[:10] in screen.bar("summary")
        screen.main.query_input.value = "retr"
        await screen.settle()
        assert not screen.main.list.is_dimmed
        assert screen.main.flow.error is None


async def test_the_cursor_keeps_its_hit_when_the_query_changes() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        await screen.press("down", "down", "down")
        hit = screen.main.list.hit
        assert hit is not None
        await screen.type(".")
        assert screen.main.list.hit is not None
        assert (screen.main.list.hit.path, screen.main.list.hit.line) == (hit.path, hit.line)


async def test_an_untouched_cursor_stays_on_the_best_hit() -> None:
    async with running(text="upload") as screen:
        await screen.type(" worker queue")
        assert screen.main.list.cursor == screen.main.flow.results.first()
