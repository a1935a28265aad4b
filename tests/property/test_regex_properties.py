r"""Patterns mean the same however they are run: on a whole buffer or line by line, indexed or scanned, by RE2 or by another engine.

Two oracles are used. `naive` cuts the text into lines and asks `Matcher.spans` about each, which is the definition of a match. The `regex`
module, a backtracking engine with Unicode classes, is asked whether that definition itself is right.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import regex
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from mgrep_tui.errors import QueryError
from mgrep_tui.search.matcher import Matcher, compile_pattern
from mgrep_tui.search.pattern_parser import parse_pattern
from mgrep_tui.search.pattern_printer import Purpose, print_tree
from mgrep_tui.search.pattern_tree import is_nullable, without_empty
from tests.support.regex_ways import ask, snapshot_of, write_tree

LETTERS = "abkKsS_1 .-éÉſ\u212a\u0301ж\n"
TEXTS = st.text(alphabet=LETTERS + "\r", max_size=40)
RAW = st.lists(
    st.one_of(
        TEXTS.map(str.encode),
        st.sampled_from([b"\xff", b"\xc3", b"\x00", b"\r\n", b"\n\n", b"foo_bar", "\ufdd0".encode()]),
    ),
    max_size=8,
).map(b"".join)

ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "k",
        "S",
        "é",
        "ж",
        "_",
        r"\.",
        ".",
        r"\w",
        r"\W",
        r"\d",
        r"\s",
        r"\S",
        "[ab]",
        "[^a]",
        "[^é]",
        r"[\W_]",
        r"[^\W]",
        "[a-z]",
        " ",
        "foo_bar",
    ]
)
PLACES = st.sampled_from(["^", "$", r"\b", r"\B", r"\A", r"\z"])


def patterns(atoms: st.SearchStrategy[str] = ATOMS, places: st.SearchStrategy[str] = PLACES) -> st.SearchStrategy[str]:
    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.lists(inner, min_size=2, max_size=4).map("".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda options: f"(?:{'|'.join(options)})"),
            st.builds(
                lambda part, count: f"(?:{part}){count}",
                inner,
                st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,2}", "*?", "+?", "??"]),
            ),
            inner.map(lambda part: f"(?i:{part})"),
            inner.map(lambda part: f"({part})"),
        )

    return st.recursive(st.one_of(atoms, atoms, places), grown, max_leaves=8)


def compiled(pattern: str, **options: object) -> Matcher:
    try:
        return compile_pattern(pattern, **options)  # type: ignore[arg-type]
    except QueryError:
        reject()


def naive(matcher: Matcher, content: bytes) -> list[tuple[int, list[tuple[int, int]]]]:
    """Line by line."""
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    found = []
    for number, line in enumerate(lines):
        spans = matcher.spans(line.removesuffix(b"\r"), starts_file=number == 0, ends_file=number == len(lines) - 1)
        if spans:
            found.append((number, spans))
    return found


@settings(deadline=None, max_examples=400)
@given(patterns(), RAW, st.sampled_from(["smart", "yes", "no"]), st.booleans())
def test_buffers_are_searched_as_their_lines_are(pattern: str, content: bytes, case: str, is_word: bool) -> None:
    matcher = compiled(pattern, case=case, is_word=is_word)
    if is_nullable(parse_pattern(pattern).tree) and (r"\A" in pattern or r"\z" in pattern):
        # At the file's ends nothing may be a match; the oracle has no word for that.
        reject()
    found = [
        (line, [(start - begin, end - begin) for start, end in spans])
        for line, begin, _, spans in matcher.lines(content)
    ]
    assert found == naive(matcher, content)


@settings(deadline=None, max_examples=300)
@given(
    patterns(places=st.sampled_from(["^", "$", r"\b", r"\B"])),
    TEXTS.filter(lambda text: "\r" not in text),
    st.booleans(),
)
def test_lines_match_as_another_engine_says(pattern: str, text: str, folds: bool) -> None:
    tree = parse_pattern(pattern).tree
    if is_nullable(tree):
        reject()
    matcher = compiled(pattern, case="no" if folds else "yes")
    # `\w` of the other engine lacks no letter of this alphabet; its `\b` is that of its `\w`.
    other = regex.compile(pattern, regex.V0 | regex.UNICODE | (regex.IGNORECASE if folds else 0))
    for line in text.split("\n"):
        expected = [
            (len(line[: found.start()].encode()), len(line[: found.end()].encode())) for found in other.finditer(line)
        ]
        assert matcher.spans(line.encode(), starts_file=True, ends_file=True) == expected, line


@settings(deadline=None, max_examples=300)
@given(patterns(places=st.nothing()), st.text(alphabet="abk_1 é", min_size=1, max_size=8))
def test_pattern_without_the_empty_text(pattern: str, text: str) -> None:
    """What is left of a nullable pattern matches exactly its non-empty texts."""
    tree = parse_pattern(pattern).tree
    rest = without_empty(tree)
    whole = regex.compile(f"(?:{pattern})", regex.V0).fullmatch(text) is not None
    if rest is None:
        assert not whole
        return
    source = re.sub(
        r"\\x\{(\w+)\}", lambda code: f"\\U{code.group(1):0>8}", print_tree(rest, Purpose.PLAN, folds=False)[0]
    )
    other = regex.compile(f"(?:{source})", regex.V0)
    assert (other.fullmatch(text) is not None) == whole
    assert other.fullmatch("") is None


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="ab()[]{}|*+?\\^$.-1,<>P:=!i~é#xQEpwW", max_size=12))
def test_any_text_is_a_pattern_or_says_where_not(pattern: str) -> None:
    try:
        matcher = compile_pattern(pattern)
    except QueryError as error:
        assert error.position is None or 0 <= error.position <= len(pattern)
        return
    matcher.lines(b"aab(b)\nxx")


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=LETTERS.replace("\n", "") + "()[]*+?.\\", min_size=1, max_size=6), RAW)
def test_literal_is_the_escaped_pattern(text: str, content: bytes) -> None:
    literal = compile_pattern(text, is_literal=True)
    escaped = compile_pattern(regex.escape(text, special_only=True))
    assert literal.lines(content) == escaped.lines(content)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(RAW, min_size=1, max_size=4), st.lists(patterns(), min_size=1, max_size=6), st.booleans())
def test_indexed_answer_is_the_scanned_answer(contents: list[bytes], some: list[str], is_word: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = write_tree(Path(folder) / "tree", {f"f{number}": content for number, content in enumerate(contents)})
        ways = [snapshot_of(root, Path(folder) / "index", way) for way in ("indexed", "dirty", "off")]
        for pattern in some:
            try:
                answers = [ask(root, f"/{pattern.replace('/', '')}/", way, is_word=is_word).hits for way in ways]
            except QueryError:
                continue
            assert answers[0] == answers[1] == answers[2], pattern
