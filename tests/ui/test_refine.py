"""Refinements of a query's text."""

from __future__ import annotations

import pytest

from mgrep_tui.explorer.protocol import Chip
from mgrep_tui.model import Hit, Mode, Span
from mgrep_tui.ui import export, refine
from tests.support.fake_explorer import FakeExplorer

HIT = Hit(
    b"src/upload/client.py",
    30,
    8,
    "    def retry_now(self):",
    (Span(8, 13),),
    30,
    38,
    symbol="retry_now",
    language="python",
)


def chips(text: str) -> tuple[Chip, ...]:
    return FakeExplorer().chips(text, Mode.SEMANTIC)


def test_narrowing_to_the_folder_exchanges_the_old_folder() -> None:
    text = "retry path:docs/** lang:go"
    assert refine.in_folder(text, HIT, chips(text)) == "retry lang:go path:src/upload/**"


def test_excluding_a_folder_keeps_the_others() -> None:
    text = "retry -path:docs/**"
    assert refine.not_folder(text, HIT, chips(text)) == "retry -path:docs/** -path:src/upload/**"


def test_a_filter_is_added_once() -> None:
    text = "retry lang:python"
    assert refine.in_language(text, HIT, "", chips(text)) == text


def test_a_folder_with_spaces_and_brackets_is_quoted() -> None:
    hit = Hit(b"my (old) code/a.py", 0, 0, "")
    assert refine.in_folder("x", hit, ()) == 'x path:"my (old) code/**"'


def test_a_folder_that_is_not_utf8_becomes_a_glob() -> None:
    """J1."""
    assert refine.in_folder("x", Hit(b"caf\xe9/a.py", 0, 0, ""), ()) == "x path:caf?/**"


def test_at_the_root_there_is_no_folder_to_narrow_to() -> None:
    assert refine.in_folder("x", Hit(b"a.py", 0, 0, ""), ()) == "x"


@pytest.mark.parametrize(
    ("text", "left"), [("a lang:go b", "a b"), ("lang:go", ""), ("lang:go b", "b"), ("a  lang:go", "a")]
)
def test_a_filter_is_taken_away_with_its_space(text: str, left: str) -> None:
    assert refine.without(text, chips(text)[0]) == left


def test_the_word_under_the_match_is_whole() -> None:
    assert refine.word_of(HIT) == "retry_now"
    assert refine.word_of(Hit(b"a", 0, 0, "x = longest_word + y")) == "longest_word"
    assert refine.word_of(Hit(b"a", 0, 0, "  ", symbol="Name")) == "Name"
    assert refine.word_of(Hit(b"a", 0, 0, "")) == ""


@pytest.mark.parametrize(
    ("text", "cursor", "place"),
    [
        ("retry lang:py", 13, (6, 13)),
        ("retry lang:py", 8, (6, 13)),
        ("retry lang:py", 5, None),
        ("-path:src/", 10, (0, 10)),
        ('path:"a b" x', 9, (0, 10)),
        ("http://x", 8, None),
        ("", 0, None),
    ],
)
def test_the_filter_at_the_cursor_is_found(text: str, cursor: int, place: tuple[int, int] | None) -> None:
    assert refine.half_typed_filter(text, cursor) == place


def test_exports_hold_every_hit() -> None:
    other = Hit(b"caf\xe9.md", 0, 0, "a `tick` here", symbol="")
    quickfix = export.exported([HIT, other], "quickfix")
    assert quickfix == "src/upload/client.py:31:9:def retry_now(self):\ncaf\\xe9.md:1:1:a `tick` here\n"
    json_lines = export.exported([HIT, other], "json").splitlines()
    assert len(json_lines) == 2
    assert '"line": 31, "column": 9, "start_line": 31, "end_line": 39' in json_lines[0]
    markdown = export.exported([HIT, other], "markdown")
    assert "- 31 `retry_now`: `def retry_now(self):`" in markdown
    assert "``a `tick` here``" in markdown
