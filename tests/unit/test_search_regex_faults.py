"""Faults that people reported of search tools, rows A to H: each holds with a fresh index, for a dirty file, and with the index off."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mgrep_tui.errors import QueryError
from mgrep_tui.settings.config import Settings
from tests.support.regex_ways import WAYS, Answer, ask, snapshot_of, write_tree

Files = Mapping[str | bytes, bytes | str]


class Tree:
    """A tree whose searches go one way."""

    def __init__(self, folder: Path, way: str) -> None:
        self.folder = folder
        self.way = way

    def write(self, files: Files) -> Tree:
        self.root = write_tree(self.folder / "tree", files)
        self.snapshot = snapshot_of(self.root, self.folder / "index", self.way)
        return self

    def ask(self, text: str, **options: object) -> Answer:
        return ask(self.root, text, self.snapshot, **options)  # type: ignore[arg-type]


@pytest.fixture(params=WAYS)
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    return Tree(tmp_path, request.param)


def test_needle_inside_other_text(tree: Tree) -> None:
    """A1"""
    tree.write({"a.c": "xyzfoo_bar123\n", "b.c": "nothing\n"})
    assert tree.ask("foo_bar").places == [("a.c", 1, 4)]
    for text in ("yzfoo_ba", "r123", "zfo", "_bar1"):
        assert tree.ask(text).lines == [("a.c", 1)], text


def test_optional_group_is_not_required(tree: Tree) -> None:
    """A3"""
    tree.write({"a": "foo_\n", "b": "foo_bar_\n"})
    assert tree.ask("foo_(bar_)?").lines == [("a", 1), ("b", 1)]
    assert tree.ask("foo_b(ar_)?").lines == [("b", 1)]


def test_letters_of_more_than_one_byte(tree: Tree) -> None:
    """A9"""
    tree.write({"r.txt": "артем\nАРТЕМ\n"})
    assert tree.ask("(?i)артем").lines == [("r.txt", 1), ("r.txt", 2)]
    assert tree.ask("^арт").lines == [("r.txt", 1), ("r.txt", 2)]
    assert tree.ask("те.$").lines == [("r.txt", 1), ("r.txt", 2)]
    assert tree.ask("те.$", case="yes").places == [("r.txt", 1, 3)]


@pytest.mark.parametrize("pattern", ["x*", "foo?", "(x|)y?", "x{0,3}", "(?:x*)*", "^x*$", ".*"])
def test_pattern_that_can_match_nothing(tree: Tree, pattern: str) -> None:
    """B1: empty matches are no hits; what the pattern takes is found all the same."""
    tree.write({"a": "axb\nno\nfoo fo\n\ny\n"})
    wanted = {
        "x*": [1],
        "foo?": [3],
        "(x|)y?": [1, 5],
        "x{0,3}": [1],
        "(?:x*)*": [1],
        "^x*$": [],
        ".*": [1, 2, 3, 5],
    }
    assert [line for _, line in tree.ask(pattern).lines] == wanted[pattern]


@pytest.mark.parametrize("pattern", ["()", "^", "$", "\\b", "|", "(?:)*", "^$", "a{0}"])
def test_pattern_that_matches_only_nothing(tree: Tree, pattern: str) -> None:
    """B1: refused with a clear line."""
    tree.write({"a": "a\n\n"})
    with pytest.raises(QueryError, match="matches only the empty text"):
        tree.ask(pattern)


def test_empty_query(tree: Tree) -> None:
    """B1"""
    tree.write({"a": "a\n"})
    assert tree.ask("").hits == []
    assert tree.ask("   ").hits == []


@pytest.mark.parametrize("query", ["--help", "-info", "-e", "--", "-"])
def test_query_that_looks_like_an_option(tree: Tree, query: str) -> None:
    """B3"""
    tree.write({"a": "none\n", "b": "x --help -info -e\n"})
    assert tree.ask(query).lines == [("b", 1)]


@pytest.mark.parametrize("query", [r"foo\S*", r"\wfoo", r"foo\W", r"\Bfoo|foo\b", r"\Dfoo|^foo", r"foo\s?"])
def test_capital_of_an_escape_is_no_capital(tree: Tree, query: str) -> None:
    """B5"""
    tree.write({"a": "Foo 1\nfoo \nxFOO\n"})
    insensitive = tree.ask(query, case="no").lines
    assert tree.ask(query).lines == insensitive
    assert any(line == 1 for _, line in insensitive) or query == r"\wfoo"
    assert tree.ask("Foo").lines == [("a", 1)]


@pytest.mark.parametrize(
    ("query", "position"),
    [
        ("foo(", 3),
        ("foo(b", 3),
        ("[", 0),
        ("*a", 0),
        ("(?P<x", 0),
        ("\\", 0),
        ("a)", 1),
        ("a{2,1}", 1),
        ("[b-a]", 1),
        ("[[:foo:]]", 1),
        ("x lang:nope", 7),
    ],
)
def test_half_typed_pattern(tree: Tree, query: str, position: int) -> None:
    """B7: an error with its place, and the finished pattern works."""
    tree.write({"a": "foo(b\nfoob\n"})
    with pytest.raises(QueryError) as caught:
        tree.ask(query)
    assert caught.value.position == position
    assert tree.ask("foo(b)").lines == [("a", 2)]


def test_error_position_counts_in_the_whole_query(tree: Tree) -> None:
    """B7"""
    tree.write({"a": "a\n"})
    with pytest.raises(QueryError) as caught:
        tree.ask("lang:python  ab(c")
    assert caught.value.position == 15


def test_anchors_at_an_end_without_newline(tree: Tree) -> None:
    """B10"""
    tree.write({"a": "one\ntwo"})
    for query in ("two$", r"two\z", r"\z", "^two", r"two\Z", r"^two\z"):
        assert tree.ask(query).lines == [("a", 2)], query
    assert tree.ask(r"one\z").lines == []
    assert tree.ask(r"\Aone").lines == [("a", 1)]
    assert tree.ask(r"\Atwo").lines == []


@pytest.mark.parametrize("query", ["(a+)+$", "^(.*)+ ", "(x|x)*y"])
def test_catastrophic_pattern(tree: Tree, query: str) -> None:
    """C1: linear here; another thread runs meanwhile."""
    tree.write({"a": "a" * 40 + "!\n" + "x" * 2000 + "\n"})
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        answer = tree.ask(query)
    finally:
        done.set()
        thread.join()
    assert answer.hits == []
    assert ticks > 0


def test_case_of_letters_beyond_ascii(tree: Tree) -> None:
    """D1"""
    tree.write({"a": "привет\nПривет\nПрИвЕт\nMagnéz\nMAGNÉZ\nслов и друг\n"})
    assert [line for _, line in tree.ask("(?i)привет").lines] == [1, 2, 3]
    assert [line for _, line in tree.ask("(?i)magnéz").lines] == [4, 5]
    assert [line for _, line in tree.ask("magnéz").lines] == [4, 5]
    assert [line for _, line in tree.ask("слов.*друг").lines] == [6]
    assert [line for _, line in tree.ask("Привет").lines] == [2]


def test_kelvin_and_long_s(tree: Tree) -> None:
    """D1: letters that fold to ASCII ones"""
    tree.write({"a": "\u212aelvin\n", "b": "Kelvin\n", "c": "con\u017fole\n"})
    assert tree.ask("(?i)kelvin").lines == [("a", 1), ("b", 1)]
    assert tree.ask("(?i)console").lines == [("c", 1)]


def test_byte_that_is_no_utf8_hides_nothing(tree: Tree) -> None:
    """D3"""
    tree.write({"a": b"L\xfcnen\n"})
    answer = tree.ask("nen")
    assert answer.places == [("a", 1, 3)]
    assert answer.hits[0].text == "L\ufffdnen"


def test_line_end_of_windows(tree: Tree) -> None:
    """E1"""
    tree.write({"a": b"needle\r\nfoo\r\n"})
    for query in ("needle$", "^needle$", "^needle.*$", r"needle\b$", "needle$$"):
        answer = tree.ask(query)
        assert answer.places == [("a", 1, 1)], query
        assert answer.hits[0].text == "needle"
        assert [(span.start, span.end) for span in answer.hits[0].spans] == [(0, 6)]
    assert tree.ask("(?m)foo$").places == [("a", 2, 1)]
    assert tree.ask("needle.").hits == []
    assert tree.ask(r"needle\s").hits == []
    assert tree.ask("needle[^x]").hits == []
    assert tree.ask("needle\\nfoo").places == [("a", 1, 1)]


def test_carriage_return_can_be_asked_for(tree: Tree) -> None:
    """E1: files with Windows line ends are found by their line ends"""
    tree.write({"a": b"needle\r\n", "b": b"needle\n"})
    assert tree.ask(r"needle\r").lines == [("a", 1)]
    assert tree.ask(r"\r$").lines == [("a", 1)]


def test_byte_order_mark(tree: Tree) -> None:
    """F1"""
    tree.write({"a": b"\xef\xbb\xbftest123\ntest123\n"})
    answer = tree.ask("^test123")
    assert answer.places == [("a", 1, 1), ("a", 2, 1)]
    assert [hit.text for hit in answer.hits] == ["test123", "test123"]


def test_utf16_is_searched(tree: Tree) -> None:
    """F1"""
    tree.write({"le": "\ufeffeins\nneedle é\n".encode("utf-16-le"), "be": "\ufeffeins\nneedle é\n".encode("utf-16-be")})
    answer = tree.ask("needle é")
    assert answer.places == [("be", 2, 1), ("le", 2, 1)]
    assert {hit.text for hit in answer.hits} == {"needle é"}


def test_file_in_latin1_among_others(tree: Tree) -> None:
    """F3"""
    tree.write({"ok1.py": "PAT\n", "l1.java": b'String s = "\xe4\xf6";\nint PAT;\n', "ok2.py": "PAT\n"})
    assert tree.ask("PAT").lines == [("l1.java", 2), ("ok1.py", 1), ("ok2.py", 1)]


def test_nul_in_a_text(tree: Tree) -> None:
    """G1"""
    tree.write({"t.ts": b"hello TOKEN here\x00more\nTOKEN again\n"})
    assert tree.ask("TOKEN").places == [("t.ts", 1, 7), ("t.ts", 2, 1)]
    assert tree.ask("more").lines == [("t.ts", 1)]


def test_object_files_among_sources(tree: Tree) -> None:
    """G3"""
    tree.write(
        {
            "a.c": "needle\n",
            "lib.a": b"!<arch>\nneedle" + bytes(range(256)) * 8,
            "m.pyc": b"\xa7\r\r\n\0\0\0\0needle" + bytes(range(256)) * 8,
            "p.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDRneedle" + bytes(range(256)) * 8,
            "z.c": "needle\n",
        }
    )
    assert tree.ask("needle").lines == [("a.c", 1), ("z.c", 1)]


def test_line_of_many_megabytes(tree: Tree) -> None:
    """H1"""
    tree.write({"a.min.js": b"x" * 4_000_000 + b"needle" + b"y" * 1_000_000})
    (hit,) = tree.ask("needle").hits
    assert (hit.line, hit.column) == (0, 4_000_000)
    assert len(hit.text) <= 1000
    (span,) = hit.spans
    assert hit.text[span.start : span.end] == "needle"
    assert hit.text_offset + span.start == hit.column


def test_long_line_of_wide_letters(tree: Tree) -> None:
    """H1: offsets count characters, also in the window"""
    tree.write({"a": "é" * 5000 + "needle" + "ü" * 5000})
    (hit,) = tree.ask("needle").hits
    assert hit.column == 5000
    (span,) = hit.spans
    assert hit.text[span.start : span.end] == "needle"
    assert hit.text_offset + span.start == 5000
    assert "\ufffd" not in hit.text


def test_very_common_term_is_capped_and_says_so(tree: Tree) -> None:
    """H3"""
    tree.write({f"f{number}.txt": "e\n" * 50 for number in range(40)})
    settings = Settings()
    settings = replace(settings, regex=replace(settings.regex, max_hits=700))
    answer = tree.ask("e", settings=settings)
    assert len(answer.hits) == answer.outcome.hits == 700
    assert answer.outcome.is_capped
    exact = replace(settings, regex=replace(settings.regex, max_hits=2000))
    assert not tree.ask("e", settings=exact).outcome.is_capped


def test_names_that_are_no_text(tree: Tree) -> None:
    """J1, J3, J5"""
    tree.write(
        {
            b"caf\xe9.py": "needle\n",
            "--sample.py": "needle\n",
            "app/[id]/[...slug]/page.tsx": "needle\n",
            "[0].py": "needle\n",
        }
    )
    found = {os.fsencode(path) for path, _ in tree.ask("needle").lines}
    assert found == {b"caf\xe9.py", b"--sample.py", b"app/[id]/[...slug]/page.tsx", b"[0].py"}
    assert tree.ask("needle file:app/[id]/**").lines == [("app/[id]/[...slug]/page.tsx", 1)]
    assert tree.ask("needle file:[0].py").lines == [("[0].py", 1)]
