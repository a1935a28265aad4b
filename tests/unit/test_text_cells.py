"""Columns of a terminal: widths, cutting, tabs."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from rich.cells import cell_len

from mgrep_tui.model import Span
from mgrep_tui.text.cells import cell_width, cut, cut_start, expand_tabs
from mgrep_tui.text.sanitize import is_clean


def test_widths_agree_with_the_drawing_library_for_every_character() -> None:
    """P10: one cell of difference would misplace every span behind it."""
    different = []
    for code in (*range(0x20000), *range(0x20000, sys.maxunicode, 997)):  # beyond, planes of one kind each
        character = chr(code)
        if code == 9 or not is_clean(character):
            continue
        if unicodedata.category(character) == "Cn" and cell_len(character) != 1 and code < 0x1F000:
            continue  # newer than this Python's tables
        if cell_width(character) != cell_len(character):
            different.append(hex(code))
    assert different == []


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("abc", 3),
        ("日本", 4),
        ("e\u0301", 1),
        ("a🙂b", 4),
        ("ｆｕｌｌ", 8),
        ("한글", 4),
        ("\U0001fae8", 2),
        ("\U0001ae00", 1),
    ],
)
def test_width_of_text(text: str, width: int) -> None:
    assert cell_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("日本語", 3, "日…"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_cut_keeps_the_start(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected
    assert cell_width(cut(text, width)) <= width


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("src/a/b.py", 10, "src/a/b.py"),
        ("src/a/b.py", 6, "…/b.py"),
        ("src/日本", 5, "…日本"),
        ("src/日本", 4, "…本"),
        ("abc", 0, ""),
        ("xe\u0301y", 2, "…y"),
        ("xe\u0301y", 3, "xe\u0301y"),
    ],
)
def test_cut_start_keeps_the_end(text: str, width: int, expected: str) -> None:
    assert cut_start(text, width) == expected
    assert cell_width(cut_start(text, width)) <= width


def test_tabs_go_to_the_next_stop_and_spans_follow() -> None:
    """P10: the highlight sits on the needle behind tabs and wide characters."""
    text = "\t日\tneedle\tx"
    start = text.index("needle")
    expanded, spans = expand_tabs(text, [Span(start, start + 6)], 4)
    assert expanded == "    日  needle  x"
    assert expanded[spans[0].start : spans[0].end] == "needle"


def test_a_span_over_a_tab_covers_its_spaces() -> None:
    expanded, spans = expand_tabs("a\tb", [Span(1, 2), Span(0, 3)], 8)
    assert expanded == "a       b"
    assert spans == (Span(1, 8), Span(0, 9))


def test_text_without_tabs_is_unchanged() -> None:
    assert expand_tabs("abc", [Span(0, 1)], 4) == ("abc", (Span(0, 1),))
