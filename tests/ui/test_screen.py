"""The screen as a person uses it: keys in, lines out."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import EditorCommand, Preview, Session
from mgrep_tui.model import Hit, IndexState, Mode, Outcome, Span
from mgrep_tui.settings.state import PastQuery
from mgrep_tui.text.sanitize import is_clean
from mgrep_tui.ui import growth
from mgrep_tui.ui.results import key_of
from tests.support.fake_explorer import READY, FakeExplorer
from tests.support.screen import MEDIUM, NARROW, Screen, running

QUERY = "retry a failed upload"
DELAYS = "yield growing delays"


def cursor_line(screen: Screen) -> str:
    """The list's line with the cursor's bar."""
    return next(line for line in screen.lines() if line.startswith("▌"))


# --- typing and finding


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
        await screen.press("alt+1")
        assert screen.main.query_input.value == "Uploader"
        assert len(screen.main.flow.results) > 0
        await screen.press("ctrl+b")
        assert screen.main.query_input.value == "Uploader lang:go"


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


# --- moving


async def test_letters_move_once_the_list_has_the_focus() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        await screen.press("f6", "j", "j")
        assert screen.main.list.cursor == 2
        await screen.press("G")
        assert screen.main.list.cursor == screen.main.flow.results.last()
        await screen.press("g", "l")
        assert screen.main.list.hit is not None
        assert screen.main.list.hit.path == screen.main.flow.results.groups[1].path
        await screen.press("escape")
        assert screen.main.focused is screen.main.query_input


async def test_the_cursor_is_always_in_sight() -> None:
    line = "    entry\n"
    explorer = FakeExplorer(files={b"src/%d.py" % number: line * 30 for number in range(30)})
    async with running(explorer, text="entry", mode=Mode.REGEX, size=MEDIUM) as screen:
        for key in ("pagedown", "pagedown", "ctrl+end", "up", "pageup", "ctrl+home", "down", "alt+down", "alt+down"):
            await screen.press(key)
            line_at_cursor = cursor_line(screen)
            hit = screen.main.list.hit
            assert hit is not None
            assert str(hit.line + 1) in line_at_cursor


async def test_the_heading_of_a_file_stays_while_its_hits_scroll() -> None:
    explorer = FakeExplorer(files={b"src/long.py": "entry\n" * 200})
    async with running(explorer, text="entry", mode=Mode.REGEX, size=NARROW) as screen:
        await screen.press("ctrl+end")
        assert "src/long.py" in screen.text()


async def test_the_preview_puts_the_line_at_a_third_of_its_height() -> None:
    explorer = FakeExplorer(files={b"a.py": "".join(f"line {number}\n" for number in range(500))})
    async with running(explorer, text="line 250", mode=Mode.REGEX) as screen:
        pane = screen.main.pane
        assert pane.top == 250 - pane.body_height // 3


async def test_scrolling_the_preview_leaves_the_list_and_reads_on() -> None:
    explorer = FakeExplorer(files={b"a.py": "".join(f"line {number}\n" for number in range(500))})
    async with running(explorer, text="line 250", mode=Mode.REGEX) as screen:
        for _ in range(12):
            await screen.press("shift+pagedown")
        pane = screen.main.pane
        assert pane.top > 350
        assert f"line {pane.top}" in screen.text()
        assert screen.main.list.cursor == 0


async def test_the_mouse_selects_opens_marks_and_scrolls() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        await screen.pilot.click("#results", offset=(10, 3))
        await screen.settle()
        assert screen.main.list.cursor == 2
        await screen.pilot.click("#results", offset=(10, 3), button=3)
        await screen.settle()
        assert len(screen.main.marks) == 1
        await screen.pilot.double_click("#results", offset=(10, 1))
        await screen.settle()
        assert screen.explorer.opened[-1][0].line == screen.main.flow.results.hits[0].line
        await screen.pilot.click("#mode", offset=(32, 0))
        await screen.settle()
        assert screen.main.flow.ask.mode is Mode.SEMANTIC


# --- refining


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


async def test_the_filter_row_switches_options_and_takes_filters_away() -> None:
    async with running(text="retry lang:python", mode=Mode.REGEX) as screen:
        await screen.press("f3", "space")
        assert screen.main.flow.ask.options.case == "yes"
        await screen.press("w")
        assert screen.explorer.searched[-1][3].word is True
        await screen.press("right", "right", "right", "right", "backspace")
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


# --- choosing


async def test_enter_opens_the_hit_in_the_editor() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        await screen.press("down", "enter")
        assert [hit.line for hit in screen.explorer.opened[-1]] == [screen.main.flow.results.hits[1].line]
        assert "Opened in true." in screen.text()


async def test_a_missing_editor_is_a_toast_and_the_screen_goes_on() -> None:
    explorer = FakeExplorer()
    explorer.editor = MgrepError("The editor '[/b]' was not found.", "Set $EDITOR.")
    async with running(explorer, text="retry") as screen:
        await screen.press("enter")
        assert "The editor '[/b]' was not found. Set $EDITOR." in " ".join(screen.text().split())
        await screen.type("x")
        assert screen.main.query_input.value == "retryx"


async def test_an_editor_in_the_terminal_is_refused_where_there_is_no_terminal() -> None:
    explorer = FakeExplorer()
    explorer.editor = EditorCommand(("vi",), True, "vi")
    async with running(explorer, text="retry") as screen:
        await screen.press("enter")
        assert "An editor cannot be opened from here." in " ".join(screen.text().split())


async def test_marks_outlive_the_query_and_are_printed_on_leaving() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        await screen.press("tab", "tab")
        await screen.press("ctrl+u")
        await screen.type("delay")
        assert "2 marked" in screen.bar("summary")
        await screen.press("tab")
        await screen.pilot.press("ctrl+o")
        await screen.pilot.pause()
    hits = screen.app.return_value
    assert hits is not None
    assert len(hits) == 3


async def test_leaving_without_marks_prints_the_hit_under_the_cursor() -> None:
    async with running(text="retr", mode=Mode.REGEX) as screen:
        hit = screen.main.list.hit
        await screen.pilot.press("ctrl+o")
        await screen.pilot.pause()
    assert screen.app.return_value == [hit]


async def test_copying_says_which_way_the_text_went(monkeypatch: pytest.MonkeyPatch) -> None:
    from mgrep_tui import clipboard

    copied: list[str] = []

    def copy(text: str, environ: object) -> clipboard.CopyResult:
        copied.append(text)
        return clipboard.CopyResult("sent to the terminal", "\x1b]52;c;AA==\x07")

    monkeypatch.setattr(clipboard, "copy", copy)
    async with running(text="retr", mode=Mode.REGEX) as screen:
        await screen.press("ctrl+y")
        assert copied == ["src/upload/client.py:7"]
        assert "sent to the terminal" in screen.text()
        await screen.press("f6", "Y", "S", "L")
        assert copied[1] == "from upload.errors import NetworkError, TooManyRetries"
        assert copied[2].startswith("src/upload/client.py:7\n")
        assert copied[3].startswith("https://")


async def test_an_export_never_overwrites_a_file(tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(text="retr", mode=Mode.REGEX) as screen:
        for expected in ("18 hits written", "is there already"):
            await screen.press("alt+e")
            await screen.type("markdown file")
            await screen.press("enter", "enter")
            assert expected in " ".join(screen.text().split())
    written = os.path.join(tmp_path, "hits.md")
    with open(written, encoding="utf-8") as file:
        assert file.read().startswith("**`src/upload/client.py`**")


# --- panes and panels


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


async def test_on_a_narrow_screen_the_preview_takes_all_of_it_and_gives_it_back() -> None:
    async with running(text="retr", mode=Mode.REGEX, size=NARROW) as screen:
        assert not screen.main.pane.display or screen.main.pane.size.height == 0
        await screen.press("f7")
        assert screen.main.pane.size.height > 5
        assert "log = logging.getLogger" in screen.text()
        await screen.press("escape")
        assert "src/upload/client.py" in screen.text()
        assert screen.main.focused is screen.main.query_input


async def test_every_size_is_drawn_and_comes_back() -> None:
    """P14: 1x1 to 300x100, a storm of sizes; below the floor a sentence."""
    async with running(text=QUERY) as screen:
        wanted = screen.text()
        for size in [
            (1, 1),
            (8, 3),
            (39, 30),
            (40, 8),
            (20, 5),
            (60, 18),
            (99, 12),
            (100, 12),
            (300, 100),
            (400, 100),
            (48, 14),
        ]:
            await screen.pilot.resize_terminal(*size)
            await screen.settle()
            assert screen.app._exception is None
            assert len(screen.lines()) == size[1]
        await screen.pilot.resize_terminal(30, 6)
        await screen.settle()
        assert "too small" in screen.text()
        await screen.pilot.resize_terminal(120, 36)
        await screen.settle()
        assert screen.text() == wanted


async def test_no_pane_to_go_to_where_the_window_is_too_small() -> None:
    async with running(text="retry", size=(39, 7)) as screen:
        await screen.press("f6")
        assert screen.app._exception is None


async def test_themes_change_while_it_runs() -> None:
    async with running(text="retry") as screen:
        for theme in ("mgrep-light", "nord", "ansi-dark", "ansi-light", "textual-light", "mgrep-dark"):
            screen.app.theme = theme
            await screen.settle()
            assert screen.app._exception is None
        assert "src/upload" in screen.text()


async def test_an_unknown_theme_is_said_and_the_own_one_taken() -> None:
    async with running(theme="[/b]") as screen:
        assert screen.app.theme == "mgrep-dark"
        await screen.until(lambda: "There is no theme '[/b]'." in screen.text())


async def test_a_session_is_restored() -> None:
    hit = FakeExplorer().hits("retr", Mode.REGEX, Session().options)[5]
    session = Session(
        text="retr",
        mode=Mode.REGEX,
        cursor_path=hit.path,
        cursor_line=hit.line,
        list_share=0.6,
        has_preview=True,
        wraps=True,
    )
    async with running(text="retr", mode=Mode.REGEX, session=session) as screen:
        assert screen.main.list.hit is not None
        assert (screen.main.list.hit.path, screen.main.list.hit.line) == (hit.path, hit.line)
        assert screen.main.query_one("#left").size.width == 72
        saved = screen.main.session()
        assert replace(saved, theme="", has_seen_hint=False) == replace(session, theme="")


# --- what comes from outside


HOSTILE = (
    "A\x1b]0;PWNED\x07\x1b[2J\x1b[31mB needle \x9b31m \u202e \u200b x = arr[i] a[/b] [red] [@click=app.quit] [link="
)


@pytest.mark.parametrize("where", ["line", "path", "query", "error", "symbol", "note", "health"])
async def test_text_from_outside_is_shown_and_never_obeyed(where: str) -> None:
    """P1 and P3: markup and control characters in files, names, queries and messages."""
    explorer = FakeExplorer()
    text = HOSTILE + "\n"
    path = b"src/" + HOSTILE.encode().replace(b"/", b"_")
    if where == "line":
        explorer.files = {b"a.py": text}
    elif where == "path":
        explorer.files = {path: "needle\n"}
    elif where == "symbol":
        hit = Hit(b"src/upload/client.py", 3, 0, "needle", (Span(0, 6),), 3, 9, 0.5, HOSTILE, HOSTILE, "function")
        explorer.hits = lambda *_arguments: [hit]  # type: ignore[method-assign]
        explorer.previews[b"src/upload/client.py"] = Preview(
            b"src/upload/client.py", lines=("needle",), total_lines=1, breadcrumb=(HOSTILE,), notice=HOSTILE
        )
    elif where == "note":
        explorer.outcome = lambda outcome: replace(outcome, notes=(HOSTILE,), engine=HOSTILE)
        explorer.files = {b"a.py": "needle\n"}
    elif where == "health":
        explorer.root_label = HOSTILE
        explorer.state = replace(
            READY, branch=HOSTILE, watcher=HOSTILE, phase=HOSTILE, state=IndexState.INDEXING, events=(HOSTILE,)
        )
    async with running(explorer, text="needle", mode=Mode.SEMANTIC if where == "symbol" else Mode.REGEX) as screen:
        if where == "query":
            screen.explorer.past.append(PastQuery(HOSTILE, Mode.REGEX))
            await screen.press("ctrl+up")
        elif where == "error":
            screen.main.complain(MgrepError(HOSTILE, HOSTILE))
            screen.main.tell(HOSTILE)
            await screen.settle()
        for key in ("f8", "escape", "f12", "escape", "alt+i", "escape", "ctrl+y", "f3", "escape"):
            await screen.press(key)
            for line in screen.lines():
                assert is_clean(line), repr(line)
        assert screen.app._exception is None
        assert screen.app.is_running
        if where in ("line", "path"):
            assert "[@click=app.quit]" in screen.text() or "…" in screen.text()


async def test_brackets_in_names_are_shown_as_they_are() -> None:
    """J5."""
    files = {b"app/[id]/[...slug]/page.tsx": "needle\n", b"[0].py": "needle\n"}
    async with running(FakeExplorer(files=files), text="needle", mode=Mode.REGEX) as screen:
        assert "app/[id]/[...slug]/page.tsx" in screen.text()
        assert " [0].py" in screen.text()


async def test_a_name_that_is_not_utf8_is_shown_escaped_and_opened_as_it_is() -> None:
    """J1."""
    async with running(FakeExplorer(files={b"caf\xe9.py": "needle\n"}), text="needle", mode=Mode.REGEX) as screen:
        assert "caf\\xe9.py" in screen.text()
        await screen.press("enter")
        assert screen.explorer.opened[-1][0].path == b"caf\xe9.py"


async def test_a_file_that_is_gone_is_one_sentence_and_marked_in_the_list() -> None:
    """L15."""
    path = b"src/upload/backoff.py"
    async with running(text="retr", mode=Mode.REGEX) as screen:
        text = screen.explorer.files.pop(path)
        assert "gone" not in screen.text()
        await screen.press("alt+down")
        assert "The file is gone." in screen.text()
        (row,) = [line for line in screen.lines() if "✗ gone" in line]
        assert "backoff.py" in row
        # It comes back, and is looked at again.
        screen.explorer.files[path] = text
        await screen.press("alt+up", "alt+down")
        assert "gone" not in screen.text()


async def test_a_hit_far_into_a_long_line_is_seen_in_the_preview() -> None:
    """H1."""
    window = Preview(
        b"a.min.js",
        lines=("x" * 900 + "needle" + "y" * 900,),
        total_lines=1,
        offsets=(18_999_100,),
        cut_lines=frozenset({0}),
        notice="Long lines are shown in part.",
    )
    hit = Hit(b"a.min.js", 0, 19_000_000, "x" * 50 + "needle" + "y" * 50, (Span(50, 56),), text_offset=18_999_950)
    explorer = FakeExplorer(previews={b"a.min.js": window})
    explorer.hits = lambda *_arguments: [hit]  # type: ignore[method-assign]
    async with running(explorer, text="needle", mode=Mode.REGEX) as screen:
        # In the query, in the list and in the preview.
        assert screen.text().count("needle") == 3
        for key in ("ctrl+l", "shift+down", "down"):
            await screen.press(key)
        assert screen.app._exception is None


async def test_a_hundred_thousand_hits_are_as_quick_as_a_hundred() -> None:
    """H3: only what is seen is drawn."""
    explorer = FakeExplorer()
    hits = [Hit(b"src/%05d.py" % (number // 100), number % 100, 0, "entry", (Span(0, 5),)) for number in range(100_000)]
    explorer.hits = lambda *_arguments: hits  # type: ignore[method-assign]
    async with running(explorer, text="entry", mode=Mode.REGEX) as screen:
        assert len(screen.main.flow.results) == 100_000
        await screen.press("ctrl+end")
        assert screen.main.list.cursor == 99_999
        assert len(screen.main.list._strips) < 1_000
        assert "100,000/100,000" in screen.bar("status")


async def test_the_search_word_does_not_depend_on_colour() -> None:
    """Matches are underlined, the cursor has a bar, marks have a glyph."""
    from mgrep_tui.ui.theme import DARK, LIGHT, palette_of

    for theme in (DARK, LIGHT):
        palette = palette_of({**theme.to_color_system().generate(), **theme.variables}, is_ansi=False)
        assert palette.match.underline
        assert palette.match.bold
    ansi = palette_of({}, is_ansi=True)
    assert ansi.match.underline
    assert ansi.cursor.bold
