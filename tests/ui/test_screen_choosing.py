"""What is done with hits: open, mark, print, copy, export."""

from __future__ import annotations

import os

import pytest

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import EditorCommand
from mgrep_tui.model import Mode
from tests.support.fake_explorer import FakeExplorer
from tests.support.screen import running


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
