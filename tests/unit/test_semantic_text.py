"""The best line of a chunk and the words lit in it; copies of chunks."""

from __future__ import annotations

import pytest

from mgrep_tui.retrieval.words import question_stems
from mgrep_tui.search.semantic_folding import Folding
from mgrep_tui.search.semantic_text import SHOWN_CHARS, ChunkText, QuestionWords, best_line


def lit(question: str, line: str) -> list[str]:
    pattern = QuestionWords(question_stems(question))
    best = best_line(ChunkText((line,)), pattern, "")
    return [best.text[span.start : span.end] for span in best.spans]


@pytest.mark.parametrize(
    ("question", "line", "expected"),
    [
        ("resolve host", "def resolves_hostname(host):", ["resolves", "hostname", "host"]),
        ("parsing", "x = parser.parse(y)", ["parser", "parse"]),
        ("user name", "getUserName(user_names)", ["User", "Name", "user", "names"]),
        ("io", "io.read(audio, version)", ["io"]),
        ("retry policy", "RetryPolicies", ["Retry", "Policies"]),
        ("안녕", "print('안녕하세요')", ["안녕"]),
    ],
)
def test_words_are_lit_in_any_of_their_forms(question: str, line: str, expected: list[str]) -> None:
    assert lit(question, line) == expected


def test_the_line_with_most_different_words_wins() -> None:
    lines = ("network network network", "a failure of the network", "nothing")
    assert best_line(ChunkText(lines), QuestionWords(question_stems("network failure")), "").line == 1


def test_without_a_word_the_line_of_the_symbol_or_the_first_that_says_something() -> None:
    assert best_line(ChunkText(("", "# comment", "def f():")), None, "f()").line == 2
    assert best_line(ChunkText(("", "  text")), QuestionWords(("zzz",)), "").line == 1
    assert best_line(ChunkText(("",)), None, "").text == ""
    assert best_line(ChunkText(()), None, "").spans == ()


def test_a_very_long_line_is_shown_around_its_first_word() -> None:
    line = "x" * 1500 + " needle " + "y" * 300
    best = best_line(ChunkText((line,)), QuestionWords(("needl",)), "")
    assert len(best.text) == SHOWN_CHARS
    assert best.text[best.spans[0].start : best.spans[0].end] == "needle"
    assert line[best.column :].startswith("needle")
    assert line[best.text_offset :].startswith(best.text)


def test_equal_and_nearly_equal_chunks_are_copies() -> None:
    """FAULTS O5."""
    body = tuple(f"line {number}" for number in range(20))
    folding = Folding()
    assert folding.twin_of(0, "f", body) is None
    assert folding.twin_of(1, "g", tuple(f"    {line}" for line in body)) == 0
    assert folding.twin_of(1, "f", (*body[:19], "another end")) == 0
    assert folding.twin_of(1, "g", (*body[:19], "another end")) is None
    assert folding.twin_of(2, "f", tuple(f"other {number}" for number in range(20))) is None


def test_short_chunks_fold_only_when_equal() -> None:
    folding = Folding()
    assert folding.twin_of(0, "get", ("def get(self):", "return self.a")) is None
    assert folding.twin_of(1, "get", ("def get(self):", "return self.b")) is None
    assert folding.twin_of(2, "get", ("def get(self):", "return self.b")) == 1


def test_a_demanded_text_far_out_in_a_long_line_is_in_the_window() -> None:
    line = "é" * 1_500 + "needle" + "x" * 400
    best = best_line(ChunkText(("needle", line)), None, "", [[(1, [(1_500, 1_506)])]])
    assert (best.line, best.column) == (1, 1_500)
    assert [best.text[span.start : span.end] for span in best.spans] == ["needle"]
