"""Answers that come late, in parts, in a better order or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mgrep_tui.model import Health, IndexState, Mode, Outcome
from mgrep_tui.settings.state import PastQuery
from mgrep_tui.ui import growth
from mgrep_tui.ui.results import key_of
from tests.support.fake_explorer import READY, FakeExplorer
from tests.support.screen import running


async def test_old_hits_are_dimmed_while_the_answer_takes_long_and_searching_is_said() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        screen.explorer.holds = True
        await screen.pilot.press("y")
        await screen.until(lambda: screen.main.flow.is_slow)
        assert screen.main.list.is_dimmed
        assert "searching" in screen.bar("summary")
        screen.explorer.held[-1].run()
        await screen.settle()
        assert not screen.main.list.is_dimmed
        assert "searching" not in screen.bar("summary")


async def test_esc_stops_a_slow_search_and_the_next_query_works() -> None:
    """C1."""
    async with running(text="retr", mode=Mode.REGEX) as screen:
        screen.explorer.holds = True
        await screen.pilot.press("y")
        await screen.until(lambda: screen.main.flow.is_slow)
        held = screen.explorer.held[-1]
        await screen.pilot.press("escape")
        assert held.search.is_cancelled
        assert screen.main.query_input.value == "retry"
        screen.explorer.holds = False
        await screen.type("|upload")
        assert len(screen.main.flow.results) > 3


async def test_no_hits_say_what_was_searched_and_offer_what_is_near() -> None:
    async with running(text="RETRY lang:go", mode=Mode.REGEX) as screen:
        assert "No matches in 78,255 files (checked just now)." in screen.text()
        await screen.press("ctrl+u")
        await screen.type("Uploader lang:go")
        assert "without lang:go" in screen.text()
        await screen.press("alt+v")
        assert screen.main.query_input.value == "Uploader"
        assert len(screen.main.flow.results) > 0
        await screen.press("ctrl+b")
        assert screen.main.query_input.value == "Uploader lang:go"


async def test_a_note_that_is_longer_than_its_place_is_cut_and_not_left_out() -> None:
    explorer = FakeExplorer()
    note = "web: The folder '/home/ada/projects/the/web' is gone or cannot be read any more."
    explorer.outcome = lambda outcome: replace(outcome, is_partial=True, notes=(note, "api: no disk."))
    async with running(explorer, text="retry", mode=Mode.REGEX, size=(120, 36)) as screen:
        assert "web: The folder '/home/ada/pr" in screen.bar("summary")
        assert "…" in screen.bar("summary")
        assert len(screen.bar("summary")) <= 120


async def test_what_cannot_be_opened_is_named_and_does_not_promise_to_grow() -> None:
    """A repository that could not be brought: the screen said that the index was being opened."""
    explorer = FakeExplorer(state=Health(IndexState.BROKEN, "github:o/n is not here", last_error="No network."))
    explorer.hits = lambda *_arguments: []  # type: ignore[method-assign]
    explorer.outcome = lambda outcome: Outcome(is_partial=True, notes=("No network.",))
    async with running(explorer, text="retry") as screen:
        assert "There is nothing to search." in screen.text()
        assert "grows by itself" not in screen.text()
        explorer.set_health(replace(READY, roots_missing=("web", "api", "db")))
        await screen.settle()
        assert "web, api, … cannot be opened" in screen.bar("status")


async def test_what_could_not_be_answered_is_asked_again_when_the_index_is_ready() -> None:
    explorer = FakeExplorer(state=replace(READY, state=IndexState.OPENING, regex_ready=False, keywords_ready=False))
    explorer.outcome = lambda outcome: replace(outcome, is_partial=True)
    async with running(explorer, text="retry") as screen:
        before = len(explorer.searched)
        explorer.outcome = lambda outcome: outcome
        explorer.set_health(READY)
        await screen.until(lambda: len(explorer.searched) > before)
        await screen.settle()
        explorer.set_health(replace(READY, generation=13))
        await screen.settle()
        assert len(explorer.searched) == before + 1


async def test_an_answer_grows_with_the_index_and_the_cursor_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first user's first query, typed while the index is being made."""
    monkeypatch.setattr(growth, "EVERY_S", 0.01)
    monkeypatch.setattr(growth, "PAUSE_TO_SEARCH", 0)
    indexing = replace(READY, state=IndexState.INDEXING, files_chunked=12, files_total=8_817, chunks=100, vectors=0)
    explorer = FakeExplorer(state=indexing, coverage=0.0)
    explorer.outcome = lambda outcome: replace(outcome, is_partial=True)
    files, explorer.files = explorer.files, {}
    async with running(explorer, text="retry") as screen:
        assert "Nothing yet: 12 of 8,817 files are in." in screen.text()
        explorer.files = files
        explorer.set_health(replace(indexing, files_chunked=900, chunks=3_000))
        await screen.until(lambda: len(screen.main.flow.results) > 0)
        await screen.press("down", "down")
        hit = screen.main.list.hit
        explorer.files = {b"src/a_retry.py": "def retry():\n    pass\n", **files}
        explorer.coverage = 1.0
        explorer.outcome = lambda outcome: outcome
        explorer.set_health(replace(READY, vectors=5_000))
        await screen.until(lambda: screen.main.flow.results.find((b"src/a_retry.py", 0, 4)) is not None)
        await screen.settle()
        assert hit is not None
        assert screen.main.list.hit is not None
        assert key_of(screen.main.list.hit) == key_of(hit)
        asked = len(explorer.searched)
        explorer.set_health(replace(READY, vectors=6_000))
        await screen.settle()
        assert len(explorer.searched) == asked, "a whole answer is not asked for again"


async def test_an_index_that_got_ready_while_a_search_ran_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary said `partial` for ever: the last news of the index came while the transformer was still refining."""
    monkeypatch.setattr(growth, "EVERY_S", 0.01)
    monkeypatch.setattr(growth, "PAUSE_TO_SEARCH", 0)
    indexing = replace(READY, state=IndexState.INDEXING, files_chunked=12, chunks=100, vectors=0, keywords_ready=False)
    explorer = FakeExplorer(state=indexing)
    explorer.outcome = lambda outcome: replace(outcome, is_partial=True)
    async with running(explorer, text="retry") as screen:
        explorer.holds = True
        await screen.pilot.press("f5")
        await screen.until(lambda: bool(explorer.held))
        explorer.set_health(READY)
        await screen.pilot.pause()
        explorer.holds = False
        explorer.outcome = lambda outcome: outcome
        explorer.held[-1].on_done(Outcome(hits=0, is_partial=True), None)
        await screen.until(lambda: screen.main.flow.outcome is not None and not screen.main.flow.outcome.is_partial)
        assert "partial" not in screen.text()


async def test_an_untouched_cursor_stays_at_the_top_when_the_order_gets_better() -> None:
    async with running(text="delay") as screen:
        explorer = screen.explorer
        explorer.holds = True
        await screen.pilot.press("f5")
        await screen.until(lambda: bool(explorer.held))
        hits = explorer.hits("delay", Mode.SEMANTIC, screen.main.flow.ask.options)
        explorer.held[-1].sink.batch(hits)
        await screen.pilot.pause()
        explorer.held[-1].sink.replace(list(reversed(hits)))
        explorer.held[-1].on_done(Outcome(hits=len(hits)), None)
        await screen.settle()
        assert screen.main.list.cursor == screen.main.flow.results.first()
        assert screen.main.list.hit == hits[-1]


async def test_files_changed_lately_come_when_the_index_is_open() -> None:
    explorer = FakeExplorer(state=replace(READY, state=IndexState.OPENING, dirty=0))
    explorer.remember(PastQuery("retry", Mode.SEMANTIC))  # at the very first start nothing is listed
    async with running(explorer) as screen:
        assert "Changed lately" not in screen.text()
        explorer.changed = (b"docs/retrying.md",)
        explorer.set_health(READY)
        await screen.until(lambda: "Changed lately" in screen.text())
        assert "docs/retrying.md" in screen.text()


async def test_refining_leaves_the_hits_usable() -> None:
    """The instant answer is there, the transformer has not answered yet."""
    async with running(text="delay") as screen:
        explorer = screen.explorer
        explorer.holds = True
        await screen.pilot.press("f5")
        await screen.until(lambda: bool(explorer.held))
        hits = explorer.hits("delay", Mode.SEMANTIC, screen.main.flow.ask.options)
        explorer.held[-1].sink.batch(hits)
        await screen.until(lambda: "refining" in screen.bar("summary"))
        assert not screen.main.list.is_dimmed
        await screen.pilot.press("down")
        hit = screen.main.list.hit
        explorer.held[-1].sink.replace(list(reversed(hits)))
        explorer.held[-1].on_done(Outcome(hits=len(hits)), None)
        await screen.settle()
        assert screen.main.list.hit == hit
        assert screen.main.flow.results.hits[0] == hits[-1]
        assert "refining" not in screen.bar("summary")


async def test_a_first_answer_grows_while_the_transformer_is_still_being_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first question on a new tree: the hits of the first hundred files stood for half a minute, and then for two more."""
    monkeypatch.setattr(growth, "EVERY_S", 0.01)
    monkeypatch.setattr(growth, "REFINING_S", 0.01)
    indexing = replace(READY, state=IndexState.INDEXING, files_chunked=12, files_pending=8_000, chunks=100, vectors=100)
    explorer = FakeExplorer(state=indexing)
    async with running(explorer) as screen:
        explorer.holds = True
        await screen.pilot.press(*"delay")
        await screen.until(lambda: bool(explorer.held) and explorer.held[-1].text == "delay")
        asked = len(explorer.held)
        hits = explorer.hits("delay", Mode.SEMANTIC, screen.main.flow.ask.options)
        explorer.held[-1].sink.batch(hits[:1])
        await screen.until(lambda: len(screen.main.flow.results) == 1)
        explorer.set_health(replace(indexing, files_chunked=900, files_pending=7_000, chunks=3_000, vectors=3_000))
        await screen.until(lambda: len(explorer.held) > asked)
        explorer.held[-1].sink.batch(hits)
        await screen.until(lambda: len(screen.main.flow.results) == len(hits))


async def test_a_better_order_is_not_given_up_for_a_quick_one() -> None:
    """Search again: the list went to the quick order and came back after a second."""
    async with running(text="delay") as screen:
        explorer = screen.explorer
        explorer.outcome = lambda outcome: replace(outcome, engine="words + meaning + deep")
        await screen.press("f5")
        before = list(screen.main.flow.results.hits)
        explorer.holds = True
        await screen.pilot.press("f5")
        await screen.until(lambda: bool(explorer.held))
        explorer.held[-1].sink.batch(list(reversed(before)))
        await screen.pilot.pause()
        assert screen.main.flow.results.hits == before
        explorer.held[-1].sink.replace(before[1:])
        explorer.held[-1].on_done(Outcome(hits=len(before) - 1, engine="words + meaning + deep"), None)
        await screen.settle()
        assert screen.main.flow.results.hits == before[1:]


async def test_an_answer_is_asked_for_again_when_a_whole_index_gave_only_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`so far` stood for ever beside `ready`: the last news of the index came a moment before a search could see it."""
    monkeypatch.setattr(growth, "EVERY_S", 0.01)
    monkeypatch.setattr(growth, "PAUSE_TO_SEARCH", 0)
    explorer = FakeExplorer()
    explorer.outcome = lambda outcome: replace(outcome, is_partial=len(explorer.searched) < 3)
    async with running(explorer, text="retry") as screen:
        await screen.until(lambda: len(explorer.searched) == 3)
        await screen.settle()
        assert "so far" not in screen.bar("summary")
        # Not for ever either.
        explorer.outcome = lambda outcome: replace(outcome, is_partial=True)
        before = len(explorer.searched) + 1
        await screen.pilot.press("f4")
        await screen.until(lambda: len(explorer.searched) >= before + growth.CHANCES)
        await screen.settle()
        assert len(explorer.searched) == before + growth.CHANCES


async def test_what_is_told_of_an_answer_is_not_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """`100 hits so far · meaning for 0 %` stood beside a whole index while the transformer was being loaded."""
    monkeypatch.setattr(growth, "EVERY_S", 0.01)
    monkeypatch.setattr(growth, "PAUSE_TO_SEARCH", 0)
    explorer = FakeExplorer(state=replace(READY, state=IndexState.INDEXING, keywords_ready=False), coverage=0.0)
    explorer.outcome = lambda outcome: replace(outcome, is_partial=True)
    async with running(explorer, text="delay") as screen:
        assert "so far" in screen.bar("summary")
        explorer.holds = True
        explorer.set_health(READY)
        await screen.until(lambda: bool(explorer.held))
        explorer.held[-1].sink.batch(explorer.hits("delay", Mode.SEMANTIC, screen.main.flow.ask.options))
        await screen.until(lambda: "refining" in screen.bar("summary"))
        assert "so far" not in screen.bar("summary")
        assert not screen.main.list.is_dimmed


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (replace(READY, files_total=0, files_seen=0, skipped=()), "There is no file to search here."),
        (replace(READY, files_total=3, files_seen=3, skipped=(("binary", 3),)), "Nothing here is searched: 3 binary."),
        (READY, "No matches in 78,255 files"),
    ],
)
async def test_a_tree_without_anything_to_search_says_so(state: Health, told: str) -> None:
    """O1."""
    async with running(FakeExplorer(state=state, files={}), text="needle", mode=Mode.REGEX) as screen:
        assert told in screen.text()
