"""The query language: what is a filter, what is the pattern, and where each stands in the text."""

from __future__ import annotations

import pytest

from mgrep_tui.errors import QueryError
from mgrep_tui.model import Mode
from mgrep_tui.search.filters import And, ChunkFacts, FileFacts, HasWord, Is, Language, Not, Or, PathLike
from mgrep_tui.search.query import Query, parse, write

PYTHON = Language("python", frozenset({"python"}))
GO = Language("go", frozenset({"go"}))


def regex(text: str, **options: object) -> Query:
    return parse(text, Mode.REGEX, **options)  # type: ignore[arg-type]


def semantic(text: str) -> Query:
    return parse(text, Mode.SEMANTIC)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("foo.*bar lang:python", "foo.*bar"),
        ("lang:python foo.*bar", "foo.*bar"),
        ("foo lang:python bar", "foo bar"),
        ("lang:python  foo  bar", "foo  bar"),
        ("foo  lang:python", "foo"),
        (" foo ", " foo "),
        ("lang:python foo ", "foo "),
        ("a lang:go is:test b", "a b"),
        ("foo(bar)? lang:go", "foo(bar)?"),
        ("(foo or bar) lang:go", "(foo or bar)"),
        ("foo or bar", "foo or bar"),
        ("or lang:go", "or"),
        ("lang:go or", "or"),
        ('"quoted text" lang:go', '"quoted text"'),
        ("--help", "--help"),
        ("-info", "-info"),
        ("-e", "-e"),
        ("--", "--"),
        ("-", "-"),
        ("--lang:go", "--lang:go"),
        ("x:y", "x:y"),
        ("http://a.b", "http://a.b"),
        ("file:///etc/hosts", "file:///etc/hosts"),
        ("kind: Deployment", "kind: Deployment"),
        ("default: case: x", "default: case: x"),
        (r"lang\:go", r"lang\:go"),
        ("foolang:go", "foolang:go"),
        ("(lang:go foo)", "(lang:go foo)"),
        ("-(a b)", "-(a b)"),
        ("(lang:go", "(lang:go"),
        ("/a b/ lang:go", "a b"),
        ("/ a / lang:go", " a "),
        ("/lang:go/", "lang:go"),
        ("/a lang:go b/ is:test", "a lang:go b"),
        ("/usr/bin/", "/usr/bin/"),
        ("/* text */", "/* text */"),
        (r"/\*.*\*/", r"/\*.*\*/"),
        ("/a/ b", "/a/ b"),
        ("lang:go", ""),
        ("   ", ""),
        ("", ""),
    ],
)
def test_what_the_pattern_is(text: str, pattern: str) -> None:
    assert regex(text).pattern == pattern


def test_filters_join() -> None:
    assert regex("lang:python is:test x").filters.condition == And((PYTHON, Is("test")))
    assert regex("lang:python or lang:go x").filters.condition == Or((PYTHON, GO))
    assert regex("lang:python or lang:go is:test").filters.condition == And((Or((PYTHON, GO)), Is("test")))
    assert regex("(is:test lang:go) or lang:python").filters.condition == Or((And((Is("test"), GO)), PYTHON))
    assert regex("-lang:go").filters.condition == Not(GO)
    assert regex("-(lang:go or -is:test)").filters.condition == Not(Or((GO, Not(Is("test")))))
    assert regex("((lang:go))").filters.condition == GO
    assert regex("(path:a or path:b) (path:c)").filters.condition == And(
        (Or((PathLike("a"), PathLike("b"))), PathLike("c"))
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('path:"a b"', "a b"),
        (r'path:"a \"b\""', 'a "b"'),
        ("path:app/(group)/page.tsx", "app/(group)/page.tsx"),
        ("(path:app/(group)/page.tsx)", "app/(group)/page.tsx"),
        ("file:app/[id]/[...slug]/*", "app/[id]/[...slug]/*"),
        ("path:a:b", "a:b"),
    ],
)
def test_values(text: str, value: str) -> None:
    assert regex(text).filters.condition == PathLike(value)


def test_languages_by_their_short_names() -> None:
    assert regex("lang:py").filters.condition == Language("py", frozenset({"python"}))
    assert regex("lang:c,cpp").filters.condition == Language("c,cpp", frozenset({"c", "cpp"}))
    assert regex("lang:C++").filters.condition == Language("C++", frozenset({"cpp"}))
    assert regex("lang:typescript").filters.condition == Language("typescript", frozenset({"typescript", "tsx"}))
    half_typed = regex("lang:jav").filters.condition
    assert isinstance(half_typed, Language)
    assert {"java", "javascript"} <= half_typed.names


@pytest.mark.parametrize(
    ("text", "position"),
    [("lang:nope", 5), ("foo is:nope", 7), ("kind:nope x", 5), ("case:maybe", 5), ("a (lang:go or lang:nope)", 19)],
)
def test_value_that_means_nothing(text: str, position: int) -> None:
    with pytest.raises(QueryError) as caught:
        regex(text)
    assert caught.value.position == position


def test_case() -> None:
    assert regex("x").case == "smart"
    assert regex("x case:yes").case == "yes"
    assert regex("x case:no", case="yes").case == "no"
    assert regex("x case:auto", case="yes").case == "smart"
    assert regex("x", case="yes").case == "yes"
    assert regex("x -case:yes").pattern == "x -case:yes"
    assert regex("(case:yes)").pattern == "(case:yes)"


def test_chips_have_their_places() -> None:
    query = regex("lang:go  foo (is:test or path:a) -path:b case:yes")
    assert [(chip.label, query.text[chip.start : chip.end]) for chip in query.chips] == [
        ("lang:go", "lang:go"),
        ("(is:test or path:a)", "(is:test or path:a)"),
        ("-path:b", "-path:b"),
        ("case:yes", "case:yes"),
    ]
    assert [chip.is_negated for chip in query.chips] == [False, False, True, False]
    assert query.without(query.chips[0]) == "foo (is:test or path:a) -path:b case:yes"
    assert query.without(query.chips[1]) == "lang:go  foo -path:b case:yes"
    assert query.without(query.chips[3]) == "lang:go  foo (is:test or path:a) -path:b"


def test_places_of_the_pattern_in_the_text() -> None:
    query = regex("lang:go  ab is:test cd")
    assert query.pattern == "ab cd"
    assert [query.text[query.position_of(place)] for place in (0, 1, 3, 4)] == ["a", "b", "c", "d"]
    slashed = regex("is:test /ab c/")
    assert slashed.text[slashed.position_of(3)] == "c"


def test_literal_text_keeps_its_slashes() -> None:
    assert regex("/a/", is_literal=True).pattern == "/a/"
    assert regex(r"lang\:go x", is_literal=True).pattern == "lang:go x"


def test_words_of_semantic_mode() -> None:
    query = semantic('retry a "failed upload" lang:python -flaky /sleep\\(/')
    assert query.words == ("retry", "a")
    assert query.phrases == ("failed upload",)
    assert query.plain == "retry a failed upload"
    assert [chip.label for chip in query.chips] == ["lang:python", "-flaky", "/sleep\\(/"]
    assert query.filters.needs_text


@pytest.mark.parametrize("text", ["--help", "-info", "-e", "--", "-", "-info -other"])
def test_semantic_query_of_dashes_alone(text: str) -> None:
    """B3: there is nothing to take away from, so it is what is looked for"""
    assert semantic(text).words == tuple(text.split())
    assert not semantic(text).filters


def test_dash_takes_away() -> None:
    assert semantic("upload -test").filters.condition == Not(HasWord("test", lambda text: False))
    assert semantic("upload -x").words == ("upload", "-x")
    assert semantic("well-known").words == ("well-known",)


def test_semantic_text_that_only_looks_like_a_term() -> None:
    assert semantic("foo()").words == ("foo()",)
    assert semantic("(foo or bar)").words == ("(foo", "or", "bar)")
    assert semantic("this or that").words == ("this", "or", "that")
    assert semantic('an "unclosed quote').words == ("an", '"unclosed', "quote")
    assert semantic("/usr/bin/env").words == ("/usr/bin/env",)


def test_pattern_in_a_semantic_query_is_checked() -> None:
    with pytest.raises(QueryError) as caught:
        semantic("words /a(b/")
    assert caught.value.position == 8


def test_filters_judge_files_and_chunks() -> None:
    file = FileFacts(b"src/api/upload.py", "python", is_dirty=True)
    chunk = ChunkFacts(file, "method", "retry_send", "Uploader", "def retry_send(self): sleep(1)")

    def accepts(text: str) -> tuple[bool, bool]:
        filters = parse(text, Mode.SEMANTIC).filters
        return filters.accepts_file(file), filters.accepts_chunk(chunk)

    for text in (
        "lang:python",
        "path:src/**",
        "path:upload",
        "path:*.py",
        "path:/src",
        "is:dirty",
        "-is:test",
        "lang:go or is:dirty",
    ):
        assert accepts(text) == (True, True), text
    for text in (
        "lang:go",
        "path:api/**",
        "path:*.go",
        "path:/api",
        "is:untracked",
        "-lang:python",
        "lang:python is:test",
    ):
        assert accepts(text) == (False, False), text
    for text in (
        "sym:retry",
        "class:uploader",
        "class:Uploader",
        "kind:method",
        "sym:Uploader.retry",
        '"sleep(1)"',
        "/sle+p/",
        "-kind:class",
    ):
        assert accepts(f"x {text}") == (True, True), text
    for text in ("sym:Retry", "class:Down", "kind:class", '"sleep(2)"', "/^sleep/", "-sleep", "-sym:retry"):
        assert accepts(f"x {text}") == (True, False), text
    unread = ChunkFacts(file, "method", "retry_send", "Uploader")
    assert parse('x "sleep(2)"', Mode.SEMANTIC).filters.accepts_chunk(unread)
    assert parse('x -"sleep(2)"', Mode.SEMANTIC).filters.accepts_chunk(unread)


@pytest.mark.parametrize(
    ("pattern", "path", "is_meant"),
    [
        ("upload", b"src/upload/x.py", True),
        ("UPLOAD", b"src/upload/x.py", False),
        ("upload", b"src/Upload.py", True),
        ("src/up", b"src/upload.py", True),
        ("/up", b"src/upload.py", False),
        ("/src", b"src/upload.py", True),
        ("*.py", b"a/b/c.py", True),
        ("*.py", b"a/b/c.pyi", False),
        ("test_?.c", b"a/test_1.c", True),
        ("src/api/**", b"src/api/v1/x.go", True),
        ("src/api/**", b"lib/src/api/x.go", False),
        ("**/api/**", b"lib/src/api/x.go", True),
        ("**/api/**", b"api/x.go", True),
        ("src/*.go", b"src/a/x.go", False),
        ("src/*.go", b"src/x.go", True),
        ("*.{ts,tsx}", b"a/b.tsx", True),
        ("*.{ts,tsx}", b"a/b.js", False),
        ("a{b}c", b"x/a{b}c", True),
        ("[id]", b"app/[id]/page.tsx", True),
        ("app/[id]/*", b"app/[id]/page.tsx", True),
        ("app/[id]/*", b"app/i/page.tsx", False),
        ("*.py", b"caf\xe9.py", True),
        ("caf?.py", b"caf\xe9.py", True),
        ("a.b", b"aXb", False),
    ],
)
def test_paths(pattern: str, path: bytes, is_meant: bool) -> None:
    assert regex(f'path:"{pattern}"').filters.accepts_file(FileFacts(path)) is is_meant


def test_nesting_has_a_limit() -> None:
    with pytest.raises(QueryError, match="nested too deeply"):
        regex("(" * 5000 + "lang:go" + ")" * 5000)


def test_written_forms() -> None:
    assert write(regex("lang:go a or is:test")) == "a or lang:go is:test"
    assert write(regex("/a lang:go/ is:test")) == "/a lang:go/ is:test"
    assert write(regex("is:test / a/")) == " a is:test"
    assert write(regex("is:test /a /")) == "/a / is:test"
    assert write(semantic('b -(is:test or "x y") "z" a')) == 'b a -(is:test or "x y") "z"'
