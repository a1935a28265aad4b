"""How hits look on a terminal: places that open, colours that can be switched off, nothing unsanitised."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.commands.coloured import block_of, line_of, wants_colour
from mgrep_tui.model import Hit, Mode, Span
from mgrep_tui.search.query import narrowed, parse

OWN_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _hit(**fields: object) -> Hit:
    return Hit(**{"path": b"src/up.py", "line": 11, "column": 4, "text": "    retry(upload)"} | fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("choice", "environ", "is_terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {}, True, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    choice: str, environ: dict[str, str], is_terminal: bool, expected: bool
) -> None:
    assert wants_colour(choice, environ, is_terminal) is expected


def test_a_line_keeps_the_form_that_editors_open() -> None:
    hit = _hit(spans=(Span(4, 9),))
    plain = line_of("src/up.py", hit, has_colour=False)
    assert plain == "src/up.py:12:5:    retry(upload)"
    painted = line_of("src/up.py", hit, has_colour=True)
    assert OWN_COLOUR.sub("", painted) == plain
    assert "\x1b[1;31mretry\x1b[0m" in painted


def test_a_block_names_symbol_part_and_score_and_shows_the_lines_around_the_best_one() -> None:
    chunk = "def send(upload):\n\n    retry(upload)\n    done()\n\n\n    more()"
    hit = _hit(first_line=9, last_line=15, symbol="send", container="Client", kind="method", language="python",
               score=0.734, part=2, parts=3, copies=1)  # fmt: skip
    block = block_of("src/up.py", hit, chunk, 60, has_colour=False)
    assert block.split("\n") == [
        "src/up.py:12:5  Client.send  method · 10–16 · part 2 of 3 · score 0.73 · 1 more like it",
        "  12      retry(upload)",
        "  13      done()",
    ]
    assert OWN_COLOUR.sub("", block_of("src/up.py", hit, chunk, 60, has_colour=True)) == block


def test_a_chunk_that_is_gone_leaves_the_hits_own_line() -> None:
    block = block_of("src/up.py", _hit(first_line=9, last_line=15), "", 60, has_colour=False)
    assert block.split("\n")[1:] == ["  12      retry(upload)"]


@given(st.text(), st.text(), st.integers(1, 200), st.booleans())
def test_nothing_from_outside_steers_the_terminal(path: str, text: str, width: int, has_colour: bool) -> None:
    hit = _hit(text=text, spans=(Span(0, 3),), symbol=text, kind="function", language="python", line=0, first_line=0)
    for shown in (line_of(path, hit, has_colour=has_colour), block_of(path, hit, text, width, has_colour=has_colour)):
        rest = OWN_COLOUR.sub("", shown) if has_colour else shown
        assert not any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in rest)


@given(st.sampled_from(list(Mode)), st.lists(st.sampled_from(["src/*.py", "a b", 'say "x"', "(y)"]), max_size=3))
def test_filters_of_the_command_line_are_those_of_the_query(mode: Mode, paths: list[str]) -> None:
    query = parse(narrowed("retry upload", ["python", "go"], paths), mode)
    assert (query.pattern or " ".join(query.words)) == "retry upload"
    assert len(query.chips) == 1 + bool(paths)
    alone = parse(narrowed("", ["python", "go"], paths), mode)
    assert alone.filters == query.filters and not alone.is_empty


@pytest.mark.parametrize("pattern", [" retry", "retry ", r"\bretry\b", "a or b"])
def test_blanks_at_an_end_of_a_pattern_survive_the_filters(pattern: str) -> None:
    assert parse(narrowed(pattern, ["python"], []), Mode.REGEX).pattern == pattern
