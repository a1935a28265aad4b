"""Text from outside: files, names, queries and messages of any kind."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.protocol import Preview
from mgrep_tui.model import Hit, IndexState, Mode, Span
from mgrep_tui.settings.state import PastQuery
from mgrep_tui.text.sanitize import is_clean
from mgrep_tui.ui import edits
from tests.support.fake_explorer import READY, FakeExplorer
from tests.support.screen import running

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


async def test_a_file_that_is_edited_under_the_answer_is_marked_in_place_until_it_is_searched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = FakeExplorer()
    for path, text in explorer.files.items():
        file = tmp_path / os.fsdecode(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(explorer, "absolute", lambda path: str(tmp_path / os.fsdecode(path)))
    monkeypatch.setattr(edits, "EVERY_S", 0.001)
    async with running(explorer, text="retr", mode=Mode.REGEX) as screen:
        # Not yet: nothing was edited since the search began, as far as the clock of the files can tell.
        screen.main.flow.shown_ns = max(each.stat().st_ctime_ns for each in tmp_path.rglob("*"))
        await screen.press("down")
        assert "edited since" not in screen.text()
        before, cursor = screen.lines(), screen.main.list.hit
        edited = tmp_path / "src/upload/client.py"
        while edited.stat().st_ctime_ns <= screen.main.flow.shown_ns:
            edited.write_text("all new")
        screen.app._health_changed()
        await screen.until(lambda: "↻ edited since" in screen.text())
        (row,) = [line for line in screen.lines() if "↻ edited since" in line]
        assert "client.py" in row
        assert "1 edited since, F5 searches again" in screen.bar("summary")
        assert screen.main.list.hit is cursor
        moved = [at for at, (old, new) in enumerate(zip(before, screen.lines(), strict=True)) if old != new]
        assert len(moved) == 2, "the heading and the summary, and nothing else"
        await screen.press("f5")
        assert "edited since" not in screen.text()


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
