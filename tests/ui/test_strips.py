"""Lines for the screen are exactly as wide as asked, and nothing in them can steer the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from mgrep_tui.model import Hit, Mode, Span
from mgrep_tui.text.sanitize import is_clean
from mgrep_tui.ui.own_themes import DARK
from mgrep_tui.ui.strips import code_parts, count, parts_width, row, size_text, skip_cells, span_text
from mgrep_tui.ui.theme import palette_of
from mgrep_tui.ui.widgets.hit_rows import Look, first_line, heading, score_text, second_line

PALETTE = palette_of({**DARK.to_color_system().generate(), **DARK.variables}, is_ansi=False)
# Unassigned characters have no width that two tables could agree on.
texts = st.text(st.characters(exclude_categories=["Cn"]), max_size=60)
widths = st.integers(0, 90)
BOLD = Style(bold=True)


def plain(text: str) -> str:
    return "".join(part for part, _ in code_parts(text, Style.null(), ()))


@given(texts, texts, widths)
def test_a_row_has_its_width(left: str, right: str, width: int) -> None:
    strip = row(width, [(plain(left), BOLD)], [(plain(right), BOLD)])
    assert strip.cell_length == width
    assert sum(segment.cell_length for segment in strip) == width


@given(texts)
def test_code_is_clean_and_without_tabs(text: str) -> None:
    shown = plain(text)
    assert is_clean(shown)
    assert "\t" not in shown


@given(texts, st.integers(0, 70))
def test_skipping_cells_leaves_the_rest(text: str, cells: int) -> None:
    parts = code_parts(text, Style.null(), ())
    assert parts_width(skip_cells(parts, cells)) == max(0, parts_width(parts) - cells)


def test_tabs_go_to_the_next_stop_and_spans_stay_on_their_text() -> None:
    """P10: tabs, wide characters and emoji before the match."""
    text = "\tx\t漢字 🙂 needle"
    at = text.index("needle")
    parts = code_parts(text, Style.null(), [(at, at + 6, BOLD)])
    assert [part for part, style in parts if style == BOLD] == ["needle"]
    assert parts[0][0].startswith("    x   漢字")


def test_later_layers_lie_over_earlier_ones() -> None:
    red, under = Style(color="red"), Style(underline=True)
    parts = code_parts("abcdef", Style.null(), [(0, 4, red), (2, 6, under)])
    assert parts == [("ab", red), ("cd", red + under), ("ef", under)]


hits = st.builds(
    Hit,
    path=st.binary(min_size=1, max_size=30),
    line=st.integers(0, 10_000_000),
    column=st.integers(0, 100),
    text=texts,
    spans=st.lists(st.builds(lambda a, b: Span(min(a, b), max(a, b)), st.integers(0, 60), st.integers(0, 60)), max_size=3).map(tuple),
    symbol=texts,
    container=texts,
    kind=st.sampled_from(["function", "section", "lines", "", "unheard of"]),
    score=st.floats(-10, 10),
    text_offset=st.sampled_from([0, 100]),
    copies=st.integers(0, 1_000),
)  # fmt: skip


@given(hits, st.integers(10, 120), st.sampled_from(Mode), st.booleans(), st.booleans())
def test_rows_of_any_hit_fit_and_are_clean(hit: Hit, width: int, mode: Mode, is_cursor: bool, is_dimmed: bool) -> None:
    """P3, P10."""
    look = Look(is_cursor, True, is_dimmed)
    strips = [
        first_line(hit, mode, 5, width, look, PALETTE),
        second_line(hit, width, look, PALETTE),
        heading(hit.path, 3, ("changed", "test"), ("a",), width, PALETTE, is_dimmed),
        heading(b"root/" + hit.path, 3, ("test",), ("a",), width, PALETTE, is_dimmed, "root"),
    ]
    for strip in strips:
        assert strip.cell_length == width
        assert is_clean(strip.text)


def test_the_name_of_the_root_is_never_cut_away() -> None:
    strip = heading(b"flask/a/very/long/way/down/to/the/file.py", 1, (), (), 30, PALETTE, False, "flask")
    assert strip.text.startswith(" flask/…")
    assert "file.py" in strip.text


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (0.91, ".91"),
        (0.0, ""),
        (0.004, ""),
        (0.02, ".02"),
        (1.0, "1.0"),
        (12.345, "12.3"),
        (0.999, "1.0"),
        (-0.5, "-0.5"),
    ],
)
def test_scores_are_short(score: float, shown: str) -> None:
    assert score_text(score) == shown


def test_a_span_far_to_the_right_can_be_seen_in_the_list() -> None:
    """H1."""
    hit = Hit(b"a.min.js", 0, 300, "x" * 300 + "needle" + "y" * 300, (Span(300, 306),))
    strip = first_line(hit, Mode.REGEX, 4, 60, Look(), PALETTE)
    assert "needle" in strip.text
    assert "…" in strip.text


def test_numbers_have_units() -> None:
    assert count(1, "hit") == "1 hit"
    assert count(1_234, "match", "matches") == "1,234 matches"
    assert [size_text(size) for size in (0, 999, 1_000, 25_000, 1_400_000, 1_300_000_000)] == [
        "0 B", "999 B", "1.0 kB", "25 kB", "1.4 MB", "1.3 GB",
    ]  # fmt: skip
    assert [span_text(seconds) for seconds in (0.2, 12, 200, 8_000)] == ["0.2 s", "12 s", "3 min", "2 h"]
