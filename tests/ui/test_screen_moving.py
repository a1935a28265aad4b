"""The cursor, the preview beneath it, and the mouse."""

from __future__ import annotations

from textual import events
from textual.widget import Widget

from mgrep_tui.model import Hit, Mode, Span
from tests.support.fake_explorer import FakeExplorer
from tests.support.screen import MEDIUM, NARROW, Screen, running


def cursor_line(screen: Screen) -> str:
    """The list's line with the cursor's bar."""
    return next(line for line in screen.lines() if line.startswith("▌"))


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


async def test_the_preview_scrolls_sideways_and_comes_back_with_the_next_hit() -> None:
    line = "value = " + ", ".join(f"argument_{number}" for number in range(20))
    explorer = FakeExplorer(files={b"a.py": f"short\n{line}\n", b"b.py": line})
    async with running(explorer, text="short|value", mode=Mode.REGEX) as screen:
        pane = screen.main.pane
        assert "argument_19" not in screen.text()
        for _ in range(26):
            await screen.press("shift+right")
        assert "argument_19" in screen.text()
        assert screen.main.query_input.value == "short|value"
        await screen.press("shift+left")
        left = pane.left
        assert left > 0
        await screen.press("down")
        assert pane.left == 0
        await screen.press("f6", "f6", "shift+right", "z", "shift+right")
        assert pane.left == 8, "lines that wrap have no side"


async def test_the_wheel_scrolls_what_is_under_the_pointer_and_the_cursor_stays() -> None:
    def wheel(widget: Widget, kind: type[events.MouseEvent]) -> None:
        widget.post_message(kind(widget, 3, 3, 0, 0, 0, False, False, False))

    explorer = FakeExplorer(files={b"a.py": "".join(f"entry {number} {'x' * 300}\n" for number in range(300))})
    async with running(explorer, text="entry", mode=Mode.REGEX) as screen:
        shown, pane = screen.main.list, screen.main.pane
        for _ in range(3):
            wheel(shown, events.MouseScrollDown)
            wheel(pane, events.MouseScrollDown)
            wheel(pane, events.MouseScrollRight)
        await screen.until(lambda: shown.scroll_offset.y > 0 and pane.top == 9 and pane.left == 18)
        assert shown.cursor == 0
        for _ in range(9):
            wheel(shown, events.MouseScrollUp)
            wheel(pane, events.MouseScrollUp)
            wheel(pane, events.MouseScrollLeft)
        await screen.until(lambda: shown.scroll_offset.y == 0 and pane.top == 0 and pane.left == 0)
        await screen.press("down")
        assert shown.cursor == 1
