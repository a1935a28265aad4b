"""Panes and panels, and the way back from each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mgrep_tui.model import Mode, Symbol
from mgrep_tui.ui.panels import SMALL_KINDS, symbol_beside
from tests.support.fake_explorer import READY
from tests.support.screen import NARROW, running


async def test_esc_steps_back_one_thing_at_a_time() -> None:
    async with running(text="retry") as screen:
        await screen.press("f1", "escape")
        assert screen.app.screen is screen.main
        await screen.press("f6", "f6", "escape")
        assert screen.main.focused is screen.main.query_input
        assert screen.main.query_input.value == "retry"
        await screen.press("escape")
        assert screen.main.query_input.value == ""
        await screen.pilot.press("escape")
        await screen.pilot.pause()
    assert screen.app.return_value is None


@pytest.mark.parametrize("opener", ["f1", "f3", "f6", "f8", "f9", "f12", "ctrl+g", "alt+e", "alt+i"])
async def test_ctrl_c_quits_from_everywhere(opener: str) -> None:
    """Ctrl+C quits, Tab never traps."""
    async with running(text="retry") as screen:
        await screen.press(opener, "tab", "tab")
        await screen.pilot.press("ctrl+c")
        await screen.pilot.pause()
        assert not screen.app.is_running or screen.app._exit


@pytest.mark.parametrize("opener", ["f1", "f3", "f6", "f8", "f9", "f12", "ctrl+g", "alt+e", "alt+i"])
async def test_esc_reaches_the_query_from_everywhere(opener: str) -> None:
    async with running(text="retry") as screen:
        await screen.press(opener, "tab")
        await screen.press("escape")
        assert screen.app.screen is screen.main
        assert screen.main.focused is screen.main.query_input
        assert screen.main.query_input.value == "retry"


async def test_every_command_runs_without_hits_and_with() -> None:
    from mgrep_tui.ui.keymap import COMMANDS

    skipped = {"quit", "back", "suspend", "print"}
    for text in ("", "retry"):
        async with running(text=text) as screen:
            for command in COMMANDS:
                if command.id not in skipped:
                    screen.main.perform(command.id)
                    await screen.settle()
                    while screen.app.screen is not screen.main:
                        screen.app.pop_screen()
                        await screen.pilot.pause()
            assert screen.app._exception is None


async def test_the_palette_runs_what_is_found() -> None:
    async with running(text="retry") as screen:
        await screen.press("f9")
        await screen.type("regular")
        await screen.press("enter")
        assert screen.main.flow.ask.mode is Mode.REGEX


async def test_the_health_panel_follows_and_acts() -> None:
    async with running() as screen:
        await screen.press("f8")
        assert "412,003 of 412,003" in screen.text()
        screen.explorer.set_health(replace(READY, vectors=206_000))
        await screen.until(lambda: "206,000 of 412,003" in screen.text())
        await screen.press("down", "down", "enter")
        assert screen.explorer.calls[-1] == "pause"
        await screen.until(lambda: "paused" in screen.bar("status"))


async def test_files_not_searched_can_be_browsed() -> None:
    async with running() as screen:
        await screen.press("f8", "down", "enter")
        assert "120 MB, limit 64 MB" in screen.text()
        await screen.type("denied")
        assert "film.mp4" not in screen.text()
        assert "locked/secret.txt" in screen.text()


async def test_the_outline_leads_to_a_symbol() -> None:
    async with running(text="DEFAULT_RETRIES", mode=Mode.REGEX) as screen:
        await screen.press("alt+i")
        await screen.type("backoff")
        await screen.press("enter")
        assert screen.main.pane.lit.line == 40
        assert screen.main.focused is screen.main.query_input


async def test_keys_step_from_symbol_to_symbol_in_the_preview() -> None:
    async with running(text="DEFAULT_RETRIES", mode=Mode.REGEX) as screen:
        shown = screen.main.pane.shown
        assert shown is not None
        starts = sorted(symbol.first_line for symbol in shown.symbols if symbol.kind not in SMALL_KINDS)
        at = screen.main.pane.place
        below = [line for line in starts if line > at]
        await screen.press("alt+pagedown")
        assert screen.main.pane.lit.line == below[0]
        await screen.press("alt+pagedown")
        assert screen.main.pane.lit.line == below[1]
        await screen.press("alt+pageup")
        assert screen.main.pane.lit.line == below[0]
        await screen.press("f6", "right_curly_bracket")
        assert screen.main.pane.lit.line == below[1]
        await screen.press(*["right_curly_bracket"] * len(starts))
        assert "That was the last symbol." in screen.text()


def test_a_step_passes_over_constants_where_there_are_functions() -> None:
    symbols = [
        Symbol("LIMIT", "constant", "", 1, 1),
        Symbol("work", "function", "", 3, 9),
        Symbol("rest", "function", "", 11, 12),
    ]
    assert symbol_beside(symbols, 0, 1) == symbols[1]
    assert symbol_beside(symbols, 3, 1) == symbols[2]
    assert symbol_beside(symbols, 11, -1) == symbols[1]
    assert symbol_beside(symbols, 3, -1) is None
    assert symbol_beside(symbols[:1], 0, 1) == symbols[0]


async def test_on_a_narrow_screen_the_preview_takes_all_of_it_and_gives_it_back() -> None:
    async with running(text="retr", mode=Mode.REGEX, size=NARROW) as screen:
        assert not screen.main.pane.display or screen.main.pane.size.height == 0
        await screen.press("f7")
        assert screen.main.pane.size.height > 5
        assert "log = logging.getLogger" in screen.text()
        await screen.press("escape")
        assert "src/upload/client.py" in screen.text()
        assert screen.main.focused is screen.main.query_input
