"""Many files in one buffer: every line keeps its file, its number and its text, and what does not fit is looked at alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgrep_tui.search import reading
from mgrep_tui.search.rank import _DEFINES, _may_define, rank_line
from mgrep_tui.search.window import Window
from tests.support.regex_ways import WAYS, ask, snapshot_of, write_tree

PARTS = st.lists(
    st.tuples(st.text(alphabet="ab\n", min_size=1, max_size=150).map(str.encode), st.integers(0, 5_000)),
    min_size=1,
    max_size=6,
)


def filled(parts: list[tuple[bytes, int]]) -> Window:
    window = Window()
    for owner, (data, first_line) in enumerate(parts):
        window.add(owner, first_line, data)
    return window


def lines_of(parts: list[tuple[bytes, int]]) -> list[tuple[int, int, bytes]]:
    """Candidate, number and text of every line."""
    return [
        (owner, first + number, line)
        for owner, (data, first) in enumerate(parts)
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"))
    ]


@settings(max_examples=200, deadline=None)
@given(PARTS)
def test_lines_keep_their_file_and_number(parts: list[tuple[bytes, int]]) -> None:
    window = filled(parts)
    text = bytes(window.buffer[: window.length])
    begins = [0, *(at + 1 for at in range(len(text) - 1) if text[at] == 10)]
    expected = lines_of(parts)
    owners, numbers = window.places_of(begins)
    assert list(zip(owners, numbers, strict=True)) == [line[:2] for line in expected]
    full = [(at, line) for at, line in zip(begins, expected, strict=True) if line[2]]
    found = window.lines_at(
        np.array([at for begin, line in full for at in range(begin, begin + len(line[2]))], np.int64)
    )
    told = list(zip(found.owners.tolist(), found.numbers.tolist(), strict=True))
    assert told == [line[:2] for _, line in full]
    assert [text[begin:end] for begin, end in zip(found.begins, found.ends, strict=True)] == [
        line[2] for _, line in full
    ]
    assert found.places.tolist() == [begin for begin, _ in full]


@settings(max_examples=200, deadline=None)
@given(PARTS, st.text(alphabet="ab", min_size=1, max_size=4).map(str.encode))
def test_short_texts_are_found_everywhere(parts: list[tuple[bytes, int]], text: bytes) -> None:
    window = filled([(b"ab" * 9, 0), *parts])
    window.clear()  # what the buffer held before is no text
    for owner, (data, first_line) in enumerate(parts):
        window.add(owner, first_line, data)
    content = bytes(window.buffer[: window.length])
    assert window.places_of_short(text).tolist() == [at for at in range(len(content)) if content.startswith(text, at)]


def test_odd_parts_are_taken_out_and_the_others_stay() -> None:
    window = filled([(b"one\n", 0), ("é\n".encode(), 5), (b"two\r\n", 7), (b"three", 9), (b"", 1)])
    assert not window.is_ascii
    odd = window.take_out_odd()
    assert [(part.owner, part.first_line, part.data) for part in odd] == [(1, 5, "é\n".encode()), (2, 7, b"two\r\n")]
    assert window.is_ascii
    assert bytes(window.buffer[: window.length]) == b"one\nthree\n"
    assert (window.owners, window.first_lines, window.begins) == ([0, 3], [0, 9], [0, 4])


def test_buffer_grows_and_keeps_what_it_has() -> None:
    window = Window()
    size = len(window.buffer)
    window.add(0, 0, b"first\n")
    window.add(1, 0, b"x" * (2 * size))
    assert len(window.buffer) > 2 * size
    assert bytes(window.buffer[:6]) == b"first\n"
    assert window.places_of([0, 6]) == ([0, 1], [0, 0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("big", "most"), [(40, 1 << 23), (1 << 19, 60)])
def test_files_that_do_not_fit_are_looked_into_alone(
    way: str, big: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"f{number:02}": "x\n" * number + "a needle\n" + "long " * number + "needle" for number in range(30)}
    root = write_tree(tmp_path / "tree", dict(files))
    snapshot = snapshot_of(root, tmp_path / "index", way)
    whole = ask(root, "needle", snapshot)
    printed = ask(root, "needle", snapshot, is_exhaustive=True)
    monkeypatch.setattr(reading, "BIG_BYTES", big)
    monkeypatch.setattr(reading, "MAX_WINDOW_BYTES", most)
    assert sorted(ask(root, "needle", snapshot).places) == sorted(whole.places)
    assert len(whole.places) == 60
    assert ask(root, "needle", snapshot, is_exhaustive=True).places == printed.places


WORDS = st.sampled_from(
    [
        "def",
        "class",
        "func",
        "struct",
        "local",
        "#",
        "define",
        "CREATE",
        "TABLE",
        "macro_rules!",
        "function*",
        "@interface",
        "foo",
        "(",
        "(c",
        "*conn)",
        "*",
        "&",
        "::",
        ".",
        "a.b.",
        "mut",
        "async",
        "(struct",
        "x:",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "  ", "\t", "\u00a0"])), min_size=1, max_size=5))
def test_the_last_word_never_hides_a_definition(words: list[tuple[str, str]]) -> None:
    """Most lines are spared the long pattern; none that it matches may be among them."""
    before = "".join(word + gap for word, gap in words)
    if before.strip() and _DEFINES.search(before):
        assert _may_define(before, before.rstrip())


@pytest.mark.parametrize(
    ("line", "name", "signals"),
    [
        ("def needle(a):", "needle", {"word", "definition"}),
        ("func (c *conn) needle() {", "needle", {"word", "definition"}),
        ("static struct needle *x;", "needle", {"word", "definition"}),
        ("impl Foo for needle {", "needle", {"word"}),
        ("    return needle(a)", "needle", {"word"}),
        ("x = needles", "needle", {"edge of a word"}),
        (" needle ", " needle ", {"word"}),
    ],
)
def test_lines_are_ranked_by_what_they_do_with_the_name(line: str, name: str, signals: set[str]) -> None:
    start = line.index(name)
    assert {signal.name for signal in rank_line(line, [(start, start + len(name))]).signals} == signals
