"""Sizes, themes and what is restored."""

from __future__ import annotations

from dataclasses import replace

from mgrep_tui.explorer.protocol import Configured, SearchOptions, Session
from mgrep_tui.model import Mode
from mgrep_tui.ui import last_session
from mgrep_tui.ui.layout import LEAST_LINES
from mgrep_tui.ui.widgets.bars import Splitter
from tests.support.fake_explorer import FakeExplorer
from tests.support.screen import MEDIUM, running

QUERY = "retry a failed upload"


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
        configured = Configured(0.7, "yes", "nord")
        saved = last_session.kept(screen.main, configured)
        assert replace(saved, theme="") == replace(session, theme="", configured=configured)


def test_what_was_changed_in_the_configuration_since_wins_over_the_session() -> None:
    kept = Session(
        options=SearchOptions(ratio=0.8, case="no"), theme="nord", configured=Configured(0.5, "smart", "mgrep-dark")
    )
    same = last_session.revised(kept, Configured(0.5, "smart", "mgrep-dark"))
    assert same == kept
    changed = last_session.revised(kept, Configured(0.2, "smart", "mgrep-light"))
    assert (changed.options.ratio, changed.options.case, changed.theme) == (0.2, "no", "mgrep-light")
    assert last_session.revised(kept, Configured(0.5, "yes", "mgrep-dark")).options == SearchOptions(
        ratio=0.8, case="yes"
    )
    # One that was kept before this was noted stays as it is.
    old = replace(kept, configured=None)
    assert last_session.revised(old, Configured(0.2, "yes", "nord")) == old


async def test_the_height_of_the_list_above_the_preview_is_changed_by_keys_and_mouse() -> None:
    async with running(text="retr", mode=Mode.REGEX, size=MEDIUM) as screen:
        main = screen.main
        before, share = main.list.size.height, main.height_share
        await screen.press("alt+full_stop")
        assert main.list.size.height == before + 1
        await screen.press("alt+comma", "alt+comma")
        assert main.list.size.height == before - 1
        main.query_one(Splitter).post_message(Splitter.Dragged(10, 12))
        await screen.pilot.pause()
        await screen.settle()
        assert main.query_one(Splitter).region.y == 12
        for _ in range(30):
            await screen.press("alt+full_stop")
        assert main.pane.size.height == LEAST_LINES
        session = last_session.kept(main, Configured())
        assert session.list_height_share != share
    async with running(text="retr", mode=Mode.REGEX, size=MEDIUM, session=session) as screen:
        assert screen.main.pane.size.height == LEAST_LINES


async def test_the_search_word_does_not_depend_on_colour() -> None:
    """Matches are underlined, the cursor has a bar, marks have a glyph."""
    from mgrep_tui.ui.own_themes import DARK, LIGHT
    from mgrep_tui.ui.theme import palette_of

    for theme in (DARK, LIGHT):
        palette = palette_of({**theme.to_color_system().generate(), **theme.variables}, is_ansi=False)
        assert palette.match.underline
        assert palette.match.bold
    ansi = palette_of({}, is_ansi=True)
    assert ansi.match.underline
    assert ansi.cursor.bold
