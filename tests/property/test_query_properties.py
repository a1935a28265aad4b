"""The query language holds for every text: parse, print, parse gives the same; no text raises anything but an error with a place."""

from __future__ import annotations

import re

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from mgrep_tui.errors import QueryError
from mgrep_tui.model import Mode
from mgrep_tui.search.filters import And, Condition, Not, Or
from mgrep_tui.search.query import Query, parse, write

VALUES = st.sampled_from(["a", "src/**", "*.py", "a b", 'q"uote', "(x)", ")", "//x", "back\\slash", "é", "or", "-x"])
FILTERS = st.one_of(
    st.sampled_from(["lang:python", "lang:c,cpp", "is:test", "is:dirty", "kind:method", "kind:func"]),
    st.builds(
        lambda key, value: f'{key}:"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"',
        st.sampled_from(["path", "file", "sym", "class"]),
        VALUES,
    ),
)
HARD = st.one_of(st.sampled_from(['"some text"', '"a \\" b"', "/a+b/", "-word", "-/x y/"]), FILTERS)


def groups(leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        several = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(
            several.map(lambda parts: f"({' '.join(parts)})"),
            several.map(lambda parts: f"({' or '.join(parts)})"),
            inner.filter(lambda part: not part.startswith("-")).map(lambda part: f"-{part}"),
            several.map(" or ".join),
        )

    return st.recursive(leaves, grown, max_leaves=6)


WORDS = st.sampled_from(
    [
        "foo",
        "foo.*bar",
        "-",
        "--help",
        "or",
        "OR",
        "(a|b)",
        "(",
        ")",
        '"',
        "x:y",
        "lang:",
        "a/b",
        "/",
        "/x/",
        "[",
        "é",
        "\\",
        "\\/",
    ]
)
BLANKS = st.sampled_from([" ", "  ", "\t"])


@st.composite
def texts(draw: st.DrawFn, hard: st.SearchStrategy[str]) -> str:
    parts = draw(st.lists(st.one_of(WORDS, groups(hard)), max_size=6))
    text = draw(st.sampled_from(["", " "]))
    for part in parts:
        text += part + draw(BLANKS)
    return text if draw(st.booleans()) else text.rstrip()


def canonical(query: Query) -> tuple[object, ...]:
    # A delimited pattern comes back with its slashes escaped, which means the same.
    pattern = re.sub(r"(\\\\)|\\/", lambda found: found.group(1) or "/", query.pattern)
    return pattern, query.words, query.phrases, query.filters, query.case


@settings(deadline=None)
@given(texts(FILTERS))
def test_regex_queries_survive_printing(text: str) -> None:
    query = parse(text, Mode.REGEX)
    printed = write(query)
    again = parse(printed, Mode.REGEX)
    assert canonical(again) == canonical(query), printed
    assert write(again) == printed


@settings(deadline=None)
@given(texts(HARD))
def test_semantic_queries_survive_printing(text: str) -> None:
    try:
        query = parse(text, Mode.SEMANTIC)
    except QueryError:
        reject()
    printed = write(query)
    again = parse(printed, Mode.SEMANTIC)
    assert (again.words, again.filters) == (query.words, query.filters), printed
    assert write(again) == printed


@settings(deadline=None)
@given(st.text(alphabet='ab /\\"()-:or langispthe*.[]{}\n', max_size=40) | st.text(max_size=20), st.sampled_from(Mode))
def test_any_text_parses_or_says_where_not(text: str, mode: Mode) -> None:
    try:
        query = parse(text, mode)
    except QueryError as error:
        assert error.position is None or 0 <= error.position <= len(text)
        return
    for chip in query.chips:
        assert 0 <= chip.start < chip.end <= len(text)
        assert chip.label == " ".join(text[chip.start : chip.end].split())
    for piece in query.pieces:
        shown = text[piece.in_text : piece.in_text + piece.length]
        assert query.pattern[piece.in_pattern : piece.in_pattern + piece.length] == shown


@settings(deadline=None)
@given(
    st.lists(WORDS.filter(lambda word: word != "/x/"), min_size=1, max_size=6), st.lists(BLANKS, min_size=6, max_size=6)
)
def test_what_is_no_filter_stays_in_the_pattern(words: list[str], blanks: list[str]) -> None:
    text = "".join(word + blank for word, blank in zip(words, blanks, strict=False))
    assert parse(text, Mode.REGEX, is_literal=True).pattern.replace("\\:", ":") == text.replace("\\:", ":")
    assert parse(text, Mode.REGEX).pattern in (text, text.strip()[1:-1])


@settings(deadline=None)
@given(texts(HARD))
def test_conditions_are_flat(text: str) -> None:
    def check(condition: Condition) -> None:
        if isinstance(condition, And | Or):
            assert len(condition.parts) != 1
            for part in condition.parts:
                assert type(part) is not type(condition)
                check(part)
        elif isinstance(condition, Not):
            check(condition.inner)

    try:
        query = parse(text, Mode.SEMANTIC)
    except QueryError:
        reject()
    check(query.filters.condition)


@settings(deadline=None)
@given(texts(FILTERS))
def test_taking_a_chip_out_leaves_the_others(text: str) -> None:
    query = parse(text, Mode.REGEX)
    for chip in query.chips:
        rest = parse(query.without(chip), Mode.REGEX)
        assert len(rest.chips) <= len(query.chips)
