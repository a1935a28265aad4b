"""Colours of a window of code."""

from __future__ import annotations

import pytest

from mgrep_tui.text import highlight as module
from mgrep_tui.text.highlight import MAX_LINE_CHARS, ROLES, Token, can_highlight, highlight
from mgrep_tui.text.languages import LANGUAGES


def roles(text: str, language: str, context: str = "") -> list[list[tuple[str, str]]]:
    lines = text.split("\n")
    return [
        [(lines[row][token.start : token.end], token.role) for token in tokens]
        for row, tokens in enumerate(highlight(text, language, context))
    ]


def test_tokens_of_python() -> None:
    found = roles('@cache\ndef f(x):  # why\n    return "a\\n" + str(1)\n', "python")
    assert found[0] == [("@cache", "decorator")]
    assert ("def", "keyword") in found[1]
    assert ("f", "function") in found[1]
    assert ("# why", "comment") in found[1]
    assert ("\\n", "escape") in found[2]
    assert ("str", "builtin") in found[2]
    assert ("1", "number") in found[2]
    assert found[3] == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("c", "static int f(void) { /* x */ }", ("/* x */", "comment")),
        ("c", "#include <stdio.h>", ("#include", "preprocessor")),
        ("go", "func main() {}", ("func", "keyword")),
        ("rust", "fn main() {}", ("main", "function")),
        ("tsx", "const a = <div/>", ("const", "keyword")),
        ("java", "class A {}", ("A", "class")),
        ("json", '{"a": 1}', ("1", "number")),
        ("yaml", "a: b", ("a", "tag")),
        ("markdown", "# Title", ("# Title", "heading")),
        ("diff", "+added", ("+added", "added")),
        ("svelte", "<p>x</p>", ("p", "tag")),
        ("notebook", '{"a": "b"}', ('"b"', "string")),
    ],
)
def test_other_languages_have_colours(language: str, text: str, expected: tuple[str, str]) -> None:
    assert expected in roles(text, language)[0]


def test_a_token_over_many_lines_is_cut_at_their_ends() -> None:
    found = roles('x = """one\n\n  two\n"""', "python")
    assert found[0][-1][0].startswith('"""')
    assert found[1] == []
    assert found[2] == [("  two", found[2][0][1])]
    assert found[3][0][0] == '"""'


def test_the_lines_before_a_window_give_it_its_meaning() -> None:
    context = "int a;\n/* a comment\n"
    inside = roles("still inside\nover */ int b;", "c", context)
    assert inside[0] == [("still inside", "comment")]
    assert ("int", "type") in inside[1] or ("int", "keyword") in inside[1]
    assert roles("still inside", "c")[0] != inside[0]
    assert roles("still inside", "c", context.removesuffix("\n"))[0] == inside[0]


def test_a_long_line_stays_plain_and_its_neighbours_do_not() -> None:
    """H1."""
    found = highlight(f"def a(): pass\n{'x' * (MAX_LINE_CHARS + 1)} = 'a'\ndef b(): pass", "python")
    assert found[1] == []
    assert found[0] == found[2]
    assert Token(0, 3, "keyword") in found[0]


def test_unknown_languages_have_no_colours() -> None:
    assert highlight("def f(): pass\nx", "") == [[], []]
    assert highlight("text", "text") == [[]]
    assert not can_highlight("text")
    assert can_highlight("python")


def test_what_is_left_when_the_time_is_over_stays_plain() -> None:
    found = highlight("def f(): pass\n" * 3, "python", limit_s=-1.0)
    assert found == [[], [], [], []]


def test_a_lexer_that_fails_costs_only_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def get_tokens_unprocessed(self, text: str) -> object:
            raise RuntimeError(text)

    monkeypatch.setattr(module, "_lexer", lambda language: Broken())
    assert highlight("a\nb", "python") == [[], []]


def test_only_line_feeds_separate_lines() -> None:
    text = "a = 1\x0b\x0c\x85\u2028b = 2\r\nc = 3"
    assert len(highlight(text, "python")) == 2


@pytest.mark.parametrize("language", sorted(name for name, row in LANGUAGES.items() if row.lexer))
def test_every_lexer_of_the_table_is_there_and_every_role_is_known(language: str) -> None:
    assert module._lexer(language) is not None
    text = 'a "b" 1 # c\n<d e="f">\n// g\n/* h */ function i() { return; }\n' * 3
    assert {token.role for line in highlight(text, language) for token in line} <= set(ROLES)
