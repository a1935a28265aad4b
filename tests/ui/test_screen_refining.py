"""From a hit to the next query: refinements, filters, history."""

from __future__ import annotations

import threading

import pytest

from mgrep_tui.model import Mode
from mgrep_tui.settings.state import PastQuery
from tests.support.fake_explorer import FakeExplorer
from tests.support.screen import running

QUERY = "retry a failed upload"
DELAYS = "yield growing delays"


async def test_from_a_hit_to_its_folder_language_symbol_and_back() -> None:
    async with running(text=DELAYS) as screen:
        await screen.press("alt+f")
        assert screen.main.query_input.value == f"{DELAYS} path:src/upload/**"
        await screen.press("alt+g")
        assert screen.main.query_input.value.endswith("lang:python")
        await screen.press("ctrl+b")
        assert screen.main.query_input.value == f"{DELAYS} path:src/upload/**"
        await screen.press("ctrl+b")
        assert screen.main.query_input.value == DELAYS
        await screen.press("alt+x")
        assert screen.main.query_input.value == f"{DELAYS} -path:src/upload/**"


async def test_narrowing_to_the_repository_of_a_hit() -> None:
    async with running(text=DELAYS) as screen:
        await screen.press("alt+p")
        assert screen.main.query_input.value == DELAYS  # a single root is open
        screen.explorer.repositories[b"src"] = "src"
        await screen.press("alt+p")
        assert screen.main.query_input.value == f"{DELAYS} repo:src"
        await screen.press("ctrl+b")
        assert screen.main.query_input.value == DELAYS


async def test_more_like_this_is_a_query_of_its_own() -> None:
    async with running(text=QUERY) as screen:
        hit = screen.main.list.hit
        assert hit is not None
        await screen.press("f6", "~")
        assert screen.explorer.searched[-1][3].like == hit
        assert f"like {hit.symbol}" in screen.bar("summary")
        await screen.press("U")
        assert screen.main.query_input.value == QUERY
        assert screen.main.flow.ask.options.like is None


async def test_the_refine_menu_runs_what_is_chosen() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        await screen.press("ctrl+g")
        await screen.type("this word")
        await screen.press("enter")
        assert screen.main.query_input.value == "TooManyRetries"


async def test_half_typed_filters_are_completed() -> None:
    async with running(text="retry") as screen:
        await screen.type(" lang:py")
        assert screen.main.completions.is_open
        await screen.press("tab")
        assert screen.main.query_input.value == "retry lang:python "
        assert not screen.main.completions.is_open
        await screen.type("is:")
        await screen.press("down", "down", "enter")
        assert screen.main.query_input.value == "retry lang:python is:test "
        assert not screen.main.marks


async def test_a_completion_that_the_text_rules_out_by_now_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tab right after the letters took the first of the list that was there before them."""
    async with running(text="retry") as screen:
        await screen.type(" lang:")
        await screen.until(lambda: screen.main.completions.is_open)
        answered = threading.Event()
        complete = screen.explorer.completions

        def late(prefix: str) -> tuple[str, ...]:
            answered.wait(30)
            return complete(prefix)

        monkeypatch.setattr(screen.explorer, "completions", late)
        await screen.pilot.press("p", "y", "tab")
        assert screen.main.query_input.value == "retry lang:python "
        answered.set()
        await screen.settle()


async def test_the_filter_row_switches_options_and_takes_filters_away() -> None:
    async with running(text="retry lang:python", mode=Mode.REGEX) as screen:
        await screen.press("f3", "space")
        assert screen.main.flow.ask.options.case == "yes"
        await screen.press("w")
        assert screen.explorer.searched[-1][3].word is True
        await screen.press(*["right"] * 6, "backspace")
        assert screen.main.query_input.value == "retry"
        await screen.press("escape")
        assert screen.main.focused is screen.main.query_input


async def test_history_comes_back_with_its_mode_and_the_draft_last() -> None:
    past = [PastQuery("parse", Mode.REGEX), PastQuery("upload", Mode.SEMANTIC)]
    async with running(FakeExplorer(past=past), text="retr") as screen:
        await screen.press("ctrl+up")
        assert (screen.main.query_input.value, screen.main.flow.ask.mode) == ("upload", Mode.SEMANTIC)
        await screen.press("ctrl+up", "ctrl+up")
        assert (screen.main.query_input.value, screen.main.flow.ask.mode) == ("parse", Mode.REGEX)
        await screen.press("ctrl+down", "ctrl+down")
        assert (screen.main.query_input.value, screen.main.flow.ask.mode) == ("retr", Mode.SEMANTIC)


async def test_history_is_searched_by_typing() -> None:
    past = [PastQuery("parse url", Mode.REGEX), PastQuery("upload", Mode.SEMANTIC)]
    async with running(FakeExplorer(past=past)) as screen:
        await screen.press("f12", *"url", "enter")
        assert screen.main.query_input.value == "parse url"
        assert screen.main.flow.ask.mode is Mode.REGEX


async def test_used_queries_are_remembered_and_half_typed_ones_are_not() -> None:
    async with running() as screen:
        await screen.type("retry")
        assert screen.explorer.past == []
        await screen.press("enter")
        assert screen.explorer.past == [PastQuery("retry", Mode.SEMANTIC)]


async def test_hidden_and_ignored_files_join_for_this_session_in_regex_mode() -> None:
    async with running(text="retry", mode=Mode.REGEX) as screen:
        await screen.press("alt+h", "alt+n")
        options = screen.explorer.searched[-1][3]
        assert (options.hidden, options.ignored) == (True, True)
        assert "with hidden files" in screen.bar("summary")
        await screen.press("f3", "full_stop")
        assert not screen.explorer.searched[-1][3].hidden
        assert "✓ ignored" in screen.text()
        await screen.press("escape", "f2", "alt+n")
        assert "with ignored files" not in screen.bar("summary")
        assert "by regular expression only" in " ".join(screen.text().split())
        assert screen.main.flow.ask.options.ignored


async def test_a_hit_says_what_it_owes_its_place_to() -> None:
    async with running(text="retry") as screen:
        hit = screen.main.list.hit
        assert hit is not None
        await screen.press("alt+y")
        for signal in hit.signals:
            assert signal.name in screen.text()
        await screen.press("escape", "f2", "alt+y")
        assert "Nothing more is known of it." in screen.text()
