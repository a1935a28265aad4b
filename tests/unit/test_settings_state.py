"""History and session are a convenience: damaged files count as empty, unwritable ones are left alone."""

from __future__ import annotations

from pathlib import Path

from mgrep_tui.model import Mode
from mgrep_tui.settings.paths import user_folders
from mgrep_tui.settings.state import (
    HISTORY_LIMIT,
    PastQuery,
    add_to_history,
    load_history,
    load_session,
    save_session,
)


def test_history_keeps_order_and_drops_repeats(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    for text in ("a", "a", "b", "", "a"):
        assert add_to_history(path, PastQuery(text, Mode.REGEX))
    assert [past.text for past in load_history(path)] == ["a", "b", "a"]


def test_history_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_text("".join(f'{{"text": "q{n}", "mode": "regex"}}\n' for n in range(HISTORY_LIMIT + 50)))
    assert add_to_history(path, PastQuery("last", Mode.REGEX))
    past = load_history(path)
    assert len(past) == HISTORY_LIMIT and past[-1].text == "last"


def test_damaged_state_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for text in ("", "[1]", "{", "\x00\xff", "[" * 100_000):
        path.write_text(text)
        assert load_session(path) == {}
        assert load_history(path) == ()


def test_state_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert save_session(tmp_path / "file" / "s.json", {}) is False


def test_two_roots_of_one_name_have_two_folders() -> None:
    folders = user_folders({"MGREP_TUI_HOME": "/h"})
    assert folders.index_of(Path("/a/x")) != folders.index_of(Path("/b/x"))
    assert folders.index_of(Path("/a/x")).parent == Path("/h/cache/roots")
