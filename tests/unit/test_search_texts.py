"""Texts are found by `bytes.find` in any buffer, and printed in pieces: both must say what the careful ways say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgrep_tui.corpus.root import open_root
from mgrep_tui.ngram.snapshot import Candidate
from mgrep_tui.search.matcher import Matcher, compile_pattern
from mgrep_tui.search.printed import MANY_NUMBERS, LinePrinter

RAW = st.lists(
    st.sampled_from(
        [
            b"the",
            b"The",
            b"kiss",
            b"KISS",
            "\u212ai\u017fs".encode(),
            "é".encode(),
            b"\xff",
            b"\r\n",
            b"\n",
            b"\r",
            b" x",
        ]
    )
).map(b"".join)


def _careful(matcher: Matcher, buffer: bytes) -> list[tuple[int, int, int, list[tuple[int, int]]]]:
    """The answer line by line, as `Matcher.spans` means it."""
    found = []
    begin = 0
    lines = buffer.split(b"\n")
    for number, line in enumerate(lines):
        spans = matcher.spans(line.removesuffix(b"\r"), starts_file=not number, ends_file=number == len(lines) - 1)
        if spans:
            moved = [(begin + start, begin + end) for start, end in spans]
            found.append((number, begin, begin + len(line), moved))
        begin += len(line) + 1
    return found


@pytest.mark.parametrize("text", ["the", "kiss", "é", "th", "x"])
@pytest.mark.parametrize("case", ["yes", "no"])
@settings(max_examples=60, deadline=None)
@given(buffer=RAW)
def test_a_text_is_found_as_the_pattern_means_it(text: str, case: str, buffer: bytes) -> None:
    matcher = compile_pattern(text, case=case)
    assert matcher.lines(buffer) == _careful(matcher, buffer)


@settings(max_examples=300, deadline=None)
@given(
    options=st.lists(st.text(alphabet="ab_", min_size=1, max_size=3), min_size=2, max_size=4),
    buffer=st.text(alphabet="ab_x\n", max_size=40).map(str.encode),
)
def test_the_first_of_some_texts_is_found_as_the_pattern_means_it(options: list[str], buffer: bytes) -> None:
    matcher = compile_pattern("|".join(options), case="yes")
    assert matcher.lines(buffer) == _careful(matcher, buffer)
    first = matcher.lines_in(buffer, len(buffer), is_ascii=True, most_spans=1)
    assert first is not None
    assert first.spans == [spans[:1] for _, _, _, spans in matcher.lines(buffer)]


@pytest.mark.parametrize(
    "content",
    [
        b"the\n",
        b"a\nthe the",
        b"one\r\nin the house\r\n",
        "é the\n".encode(),
        b"\n" * MANY_NUMBERS + b"the\nthe\n",
        b" " * MANY_NUMBERS + b"the\n",
        b"line\n" * 6_000 + b"the",
    ],
)
@pytest.mark.parametrize("case", ["yes", "no"])
def test_printed_lines_are_the_lines_of_the_matcher(content: bytes, case: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    matcher = compile_pattern("the", case=case)
    with LinePrinter(open_root(tmp_path), matcher, b"./", 1 << 30) as printer:
        text, count, files = printer.print([Candidate(b"f", None, None)])
    expected = [
        b"./f:%d:%d:%b\n"
        % (line + 1, len(content[begin : spans[0][0]].decode()) + 1, content[begin:end].removesuffix(b"\r"))
        for line, begin, end, spans in _careful(matcher, content)
    ]
    assert text == b"".join(expected)
    assert count == len(expected)
    assert files == (1 if expected else 0)
