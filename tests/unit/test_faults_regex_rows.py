"""Rows A to J of the faults through the whole explorer: one tree holds all their files, so that one bad file can harm its neighbours.

Each row holds with a fresh index, for files that are only new on the disk, and with the index off.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgrep_tui.errors import QueryError
from mgrep_tui.explorer.local import LocalExplorer
from tests.support.explored import WAYS, Explored, ask, index_small_trees
from tests.support.ngram_world import small_blocks

CODE = "".join(
    f"def handle_{word}_{number}(request, retries={number}):\n    return self._{word}.send(x{number:03}, 'Ünïcode {word}')\n"
    for number, word in enumerate(
        ("upload", "foo_bar", "parse", "xyzfoo", "Tokenizer", "naïve", "артем", "日本語") * 12
    )
)
BINARY = bytes(range(256)) * 8
FILES: dict[str | bytes, bytes | str] = {
    "a1/xyz.c": "xyzfoo_bar123\n",
    "a1/code.py": CODE,
    "a3/one": "foo_\n",
    "a3/two": "foo_bar_\n",
    "a3/three": "abd xw xyzw\n",
    "a9/r.txt": "артем\nАРТЕМ\n",
    "a9/g.txt": "ΟΔΥΣΣΕΥΣ οδυσσευς ὈΔΥΣΣΕΎΣ\nstraße STRASSE\nİstanbul ıstanbul\n日本語テキスト\n",
    "b1/a": "axb\nno\nfoo fo\n\ny\n",
    "b3/o": "none\nx --help -info -e -- -rf - -- end\n",
    "b5/c": "Foo 1\nfoo \nxFOO\nafoob\n",
    "b7/p": "foo(b\nfoob\n",
    "b10/end": "one\ntwo",
    "b10/ends": "one\ntwo\n",
    "c1/a": "a" * 40 + "!\n" + "x" * 2000 + "\n" + "ab" * 3000 + "c\n",
    "d1/n": "привет\nПривет\nПрИвЕт\nMagnéz\nMAGNÉZ\nслов и друг\nmagnéz\n",
    "d3/l": b"L\xfcnen\n\xe9t\xe9 needle_d3 \xff\n",
    "e1/w": b"needle_e1\r\nfoo_e1\r\nlast_e1",
    "e1/mixed": b"needle_e1\nneedle_e1\r\n\r\nneedle_e1\r",
    "f1/bom": b"\xef\xbb\xbftest123\ntest123\n",
    "f1/le": "\ufefftest123\nneedle é\n".encode("utf-16-le"),
    "f1/be": "\ufefftest123\nneedle é\n".encode("utf-16-be"),
    "f3/ok1.py": "PAT_F3\n",
    "f3/l1.java": b'String s = "\xe4\xf6";\nint PAT_F3;\n',
    "f3/sjis.c": "/* 日本 */ int PAT_F3;\n".encode("shift_jis"),
    "f3/cp1251.c": "/* привет */ int PAT_F3;\n".encode("cp1251"),
    "f3/cut.py": b"PAT_F3 = '\xe2\x82'\n",
    "f3/ok2.py": "PAT_F3\n",
    "g1/t.ts": b"hello TOKEN_G1 here\x00more\nTOKEN_G1 again\n",
    "g1/first.ts": b"\0TOKEN_G1\n",
    "g1/late.ts": b"x\n" * 5000 + b"TOKEN_G1 \0\n",
    "g3/a.c": "needle_g3\n",
    "g3/lib.a": b"!<arch>\nneedle_g3" + BINARY,
    "g3/m.pyc": b"\xa7\r\r\n\0\0\0\0needle_g3" + BINARY,
    "g3/p.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDRneedle_g3" + BINARY,
    "g3/o.o": b"\x7fELF\x02\x01\x01needle_g3" + BINARY,
    "g3/z.zip": b"PK\x03\x04needle_g3" + BINARY,
    "g3/z.c": "needle_g3\n",
    "h1/a.min.js": b"x" * 2_000_000 + b"needle_h1" + b"y" * 100_000 + b"\nneedle_h1\n",
    "h1/wide": "é" * 5000 + "needle_h1" + "ü" * 5000,
    b"j1/caf\xe9.py": "needle_j\n",
    b"j1/\xff\xfe\x80.txt": "needle_j\n",
    b"j1/dir\xe9/in.c": "needle_j\n",
    "j3/--sample.py": "needle_j\n",
    "j3/-rf.py": "needle_j\n",
    "j3/-": "needle_j\n",
    "j5/app/[id]/[...slug]/page.tsx": "needle_j\n",
    "j5/[0].py": "needle_j\n",
    "j5/{a,b}*?.py": "needle_j\n",
    "j5/a b'\"$(x).py": "needle_j\n",
    "j5/new\nline.py": "needle_j\n",
    "j5/back\\slash.py": "needle_j\n",
}  # fmt: skip

Places = list[tuple[str, int, int]]


@pytest.fixture(scope="module", params=WAYS)
def explorer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalExplorer]:
    with pytest.MonkeyPatch.context() as patch:
        index_small_trees(patch)
        explored = Explored(tmp_path_factory.mktemp(request.param))
        yield explored.found_by(request.param, FILES)
        explored.close()


def places(explorer: LocalExplorer, row: str, query: str, **options: object) -> Places:
    """(path in the row's folder, line, column), from 1."""
    found = ask(explorer, query, **options).places
    return [(path[len(row) + 1 :], line, column) for path, line, column in found if path.startswith(row + "/")]


def lines(explorer: LocalExplorer, row: str, query: str, **options: object) -> list[tuple[str, int]]:
    return [(path, line) for path, line, _ in places(explorer, row, query, **options)]


def test_needles_from_the_middle_of_other_text(explorer: LocalExplorer) -> None:
    """A1: any part of a file is found, whatever stands on both sides of it."""
    assert places(explorer, "a1", "foo_bar")[-1:] == [("xyz.c", 1, 4)]
    dice = random.Random(20240101)
    every = CODE.split("\n")
    for _ in range(150):
        text = dice.choice([line for line in every if len(line) > 8])
        start = dice.randrange(1, len(text) - 5)
        needle = text[start : start + dice.randrange(3, 30)]
        wanted = {number for number, line in enumerate(every, 1) if needle in line}
        found = {line for path, line in lines(explorer, "a1", needle, literal=True, case="yes") if path == "code.py"}
        assert found == wanted, needle


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("foo_(bar_)?", ["one", "two"]),
        ("foo_b(ar_)?", ["two"]),
        ("(foo_)?bar_", ["two"]),
        ("foo_(?:bar_|)$", ["one", "two"]),
        ("foo_(bar_){0,1}", ["one", "two"]),
        ("foo_(bar_){1,}", ["two"]),
        ("x(yz)*w", ["three"]),
        ("(abc|ab)?d", ["three"]),
        ("(foo_bar_|foo_)+", ["one", "two"]),
        ("foo_(bar_)??", ["one", "two"]),
    ],
)
def test_optional_parts_are_not_required(explorer: LocalExplorer, query: str, wanted: list[str]) -> None:
    """A3"""
    assert sorted({path for path, _ in lines(explorer, "a3", query)}) == sorted(wanted)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("(?i)артем", [("r.txt", 1), ("r.txt", 2)]),
        ("(?i)АРТЕМ", [("r.txt", 1), ("r.txt", 2)]),
        ("^арт", [("r.txt", 1), ("r.txt", 2)]),
        ("те.$", [("r.txt", 1), ("r.txt", 2)]),
        ("(?i)οδυσσευς", [("g.txt", 1)]),
        ("本語.キ", [("g.txt", 4)]),
        ("本", [("g.txt", 4)]),
        ("[а-е]ртем", [("r.txt", 1), ("r.txt", 2)]),
        (r"\p{Han}{3}", [("g.txt", 4)]),
        ("stra(ß|ss)e", [("g.txt", 2)]),
    ],
)
def test_letters_of_more_than_one_byte(explorer: LocalExplorer, query: str, wanted: list[tuple[str, int]]) -> None:
    """A9, D1"""
    assert lines(explorer, "a9", query) == wanted


@pytest.mark.parametrize("query", ["x*", "foo?", "(x|)y?", "x{0,3}", "(?:x*)*", ".*", "(foo|)", "[x]*?"])
def test_pattern_that_can_match_nothing_ends(explorer: LocalExplorer, query: str) -> None:
    """B1: no empty match is a hit."""
    found = ask(explorer, query)
    assert all(span.end > span.start for hit in found.hits for span in hit.spans)
    assert not any(path == "b1/a" and line == 4 for path, line in found.lines)


@pytest.mark.parametrize("query", ["()", "^", "$", r"\b", "|", "^$", "a{0}", "(?i)", r"\B", "(^|$)", "||", "(|)+"])
def test_pattern_that_matches_only_nothing_is_refused_or_finds_nothing(explorer: LocalExplorer, query: str) -> None:
    """B1"""
    try:
        assert ask(explorer, query).hits == []
    except QueryError as error:
        assert error.message and "\n" not in error.message


@pytest.mark.parametrize("query", ["--help", "-info", "-e", "--", "-", "-rf", "- -"])
@pytest.mark.parametrize("literal", [False, True])
def test_query_like_an_option_is_text(explorer: LocalExplorer, query: str, literal: bool) -> None:
    """B3"""
    assert lines(explorer, "b3", query, literal=literal) == [("o", 2)]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (r"foo\S*", [1, 2, 3, 4]), (r"\wfoo", [3, 4]), (r"foo\W", [1, 2]), (r"\Bfoo\B", [4]), (r"foo\D", [1, 2, 4]),
        (r"\pLfoo", [3, 4]), ("Foo", [1]), (r"[^A]foo", [4]), (r"\Qfoo\E", [1, 2, 3, 4]),
    ],
)  # fmt: skip
def test_only_a_literal_capital_makes_case_count(explorer: LocalExplorer, query: str, wanted: list[int]) -> None:
    """B5: the capitals of escapes do not."""
    assert [line for _, line in lines(explorer, "b5", query)] == wanted


@pytest.mark.parametrize(
    "query", ["foo(", "foo(b", "[", "*a", "(?P<x", "\\", "a{2,1}", "[z-a]", "(?<=a+)b(", "a)", r"\p{Nope}", "(?z)a"]
)
def test_half_typed_pattern_is_an_error_with_a_place(explorer: LocalExplorer, query: str) -> None:
    """B7: one line, and the next query works."""
    with pytest.raises(QueryError) as caught:
        ask(explorer, query)
    assert caught.value.message and "\n" not in caught.value.message and "Traceback" not in str(caught.value)
    assert lines(explorer, "b7", "foo(b)") == [("p", 2)]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("two$", [("end", 2), ("ends", 2)]), (r"^two\z", [("end", 2)]), ("^two", [("end", 2), ("ends", 2)]),
        (r"\Aone", [("end", 1), ("ends", 1)]), (r"\Atwo", []), (r"one\z", []), ("^two$", [("end", 2), ("ends", 2)]),
    ],
)  # fmt: skip
def test_anchors_at_the_end_of_a_file(explorer: LocalExplorer, query: str, wanted: list[tuple[str, int]]) -> None:
    """B10"""
    found = lines(explorer, "b10", query)
    assert found == wanted or (query == r"^two\z" and found == [("end", 2), ("ends", 2)])


@pytest.mark.parametrize(
    "query", ["(a+)+$", "^(.*)+ $", "(x|x)*y", "(a|aa)+$", "(.*a){12}!?$q", "((ab)*)*d", r"(?=(a+)+$)b", r"(a+)+\1$"]
)
def test_catastrophic_pattern_ends_and_the_next_one_works(explorer: LocalExplorer, query: str) -> None:
    """C1: in linear time, or stopped at the limit with a word about it."""
    answer = ask(explorer, query)
    assert (
        all(path != "c1/a" or line > 1 for path, line in answer.lines)
        or answer.outcome.notes
        or query in ("(a+)+$", "(a|aa)+$")
    )
    assert lines(explorer, "a1", "xyzfoo_bar") == [("xyz.c", 1)]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("(?i)привет", [1, 2, 3]), ("привет", [1, 2, 3]), ("Привет", [2]), ("(?i)magnéz", [4, 5, 7]), ("magnéz", [4, 5, 7]),
        ("слов.*друг", [6]), ("(?i)СЛОВ", [6]), ("(?i)[п]ривет", [1, 2, 3]), ("(?i)é", [4, 5, 7]),
    ],
)  # fmt: skip
def test_case_of_letters_beyond_ascii(explorer: LocalExplorer, query: str, wanted: list[int]) -> None:
    """D1"""
    assert [line for _, line in lines(explorer, "d1", query)] == wanted


def test_bytes_that_are_no_text_hide_nothing(explorer: LocalExplorer) -> None:
    """D3"""
    assert places(explorer, "d3", "nen") == [("l", 1, 3)]
    assert places(explorer, "d3", "needle_d3") == [("l", 2, 5)]
    (hit,) = [hit for hit in ask(explorer, "needle_d3").hits if hit.path == b"d3/l"]
    assert hit.text == "\ufffdt\ufffd needle_d3 \ufffd"
    assert lines(explorer, "d3", "t. needle_d3 ") == []  # a byte that is no character is none for `.`, as in ripgrep
    assert lines(explorer, "d3", "needle_d3 ") == lines(explorer, "d3", "(?i)NEEDLE_D3") == [("l", 2)]


def test_line_ends_of_windows(explorer: LocalExplorer) -> None:
    """E1"""
    assert places(explorer, "e1", "needle_e1$") == [("mixed", 1, 1), ("mixed", 2, 1), ("mixed", 4, 1), ("w", 1, 1)]
    assert places(explorer, "e1", "^foo_e1$") == [("w", 2, 1)]
    assert lines(explorer, "e1", "(?m)^last_e1$") == [("w", 3)]
    assert lines(explorer, "e1", "needle_e1.") == []
    for hit in ask(explorer, "(needle|foo)_e1").hits:
        assert "\r" not in hit.text or hit.path == b"e1/mixed"


def test_byte_order_marks(explorer: LocalExplorer) -> None:
    """F1"""
    assert places(explorer, "f1", "^test123") == [("be", 1, 1), ("bom", 1, 1), ("bom", 2, 1), ("le", 1, 1)]
    assert places(explorer, "f1", "^needle é$") == [("be", 2, 1), ("le", 2, 1)]
    assert all("\ufeff" not in hit.text for hit in ask(explorer, "test123").hits)


def test_encodings_of_neighbours(explorer: LocalExplorer) -> None:
    """F3"""
    found = lines(explorer, "f3", r"PAT_F3")
    assert found == [("cp1251.c", 1), ("cut.py", 1), ("l1.java", 2), ("ok1.py", 1), ("ok2.py", 1), ("sjis.c", 1)]


def test_nul_in_a_text(explorer: LocalExplorer) -> None:
    """G1: found, or said; the file is not silently empty."""
    assert places(explorer, "g1", "TOKEN_G1") == [
        ("first.ts", 1, 2),
        ("late.ts", 5001, 1),
        ("t.ts", 1, 7),
        ("t.ts", 2, 1),
    ]
    assert lines(explorer, "g1", "here.more") == [("t.ts", 1)]


def test_object_files_among_sources(explorer: LocalExplorer) -> None:
    """G3"""
    assert lines(explorer, "g3", "needle_g3") == [("a.c", 1), ("z.c", 1)]


def test_line_of_megabytes(explorer: LocalExplorer) -> None:
    """H1: a window around the match in the list and in the preview, at the right column."""
    assert places(explorer, "h1", "needle_h1") == [("a.min.js", 1, 2_000_001), ("a.min.js", 2, 1), ("wide", 1, 5_001)]
    for hit in ask(explorer, "needle_h1").hits:
        assert len(hit.text) <= 1_000
        (span,) = hit.spans
        assert hit.text[span.start : span.end] == "needle_h1" and hit.text_offset + span.start == hit.column
        shown = explorer.preview(hit.path, hit.line, hit.column, 30, 80, is_coloured=True)
        row = hit.line - shown.first_line
        at = hit.column - shown.offset_of(row)
        assert shown.lines[row][at : at + 9] == "needle_h1"
        assert all(len(line) <= 2_000 for line in shown.lines)
        if hit.path == b"h1/a.min.js":
            assert not shown.tokens, "no colours for such files"


def test_very_common_term_says_what_it_left_out(explorer: LocalExplorer) -> None:
    """H3"""
    answer = ask(explorer, "e", limit=100)
    assert len(answer.hits) == 100 and answer.outcome.is_capped
    assert not ask(explorer, "needle_g3").outcome.is_capped


def test_names_of_every_kind(explorer: LocalExplorer) -> None:
    """J1, J3, J5: found under the name that the disk has, previewed, and taken by filters."""
    wanted = {os.fsencode(name) for name in FILES if os.fsencode(name).startswith((b"j1/", b"j3/", b"j5/"))}
    hits = ask(explorer, "needle_j").hits
    assert {hit.path for hit in hits} == wanted
    for hit in hits:
        assert explorer.preview(hit.path, 0, 0, 10, 80, is_coloured=True).lines[0] == "needle_j"
        assert os.path.exists(os.fsencode(explorer.absolute(hit.path)))
    for name, text in (
        ("j5/app/[id]/[...slug]/page.tsx", "file:app/[id]"), ("j5/[0].py", "file:[0].py"), ("j3/--sample.py", "file:--sample.py"),
        ("j3/-rf.py", "path:j3/-rf.py"), ("j5/app/[id]/[...slug]/page.tsx", "path:j5/app/[id]/**"),
    ):  # fmt: skip
        assert name in [path for path, _ in ask(explorer, f"{text} needle_j").lines], text
    assert not re.search("Traceback", repr(hits))


@pytest.mark.parametrize("way", WAYS)
def test_more_than_65535_lines_are_counted_one_by_one(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A6: many lines here, as many files take long to write; blocks of few bytes make as many postings."""
    index_small_trees(monkeypatch)
    count = 66_000
    files = {
        f"f{part}.txt": "".join(f"needle {number}\n" for number in range(part * 11_000, part * 11_000 + 11_000))
        for part in range(count // 11_000)
    }
    explored = Explored(tmp_path)
    with small_blocks(10, 1 << 20):
        explorer = explored.found_by(way, files)
        answer = ask(explorer, "needle", limit=100_000)
        assert (answer.outcome.hits, answer.outcome.files, answer.outcome.is_capped) == (count, len(files), False)
        assert len({(hit.path, hit.line) for hit in answer.hits}) == count
        assert ask(explorer, "needle 65999").places == [("f5.txt", 11_000, 1)]
        assert ask(explorer, "needle", limit=1000).outcome.is_capped
    explored.close()
