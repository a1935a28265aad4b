"""What one root among several is asked: `repo:` decided, paths with the root's name, nested roots left out."""

from __future__ import annotations

import pytest

from mgrep_tui.model import Mode
from mgrep_tui.search.filters import FileFacts
from mgrep_tui.search.query import Query, parse
from mgrep_tui.search.scope import Scope, is_meant, scoped

FLASK = Scope(("flask", "pallets/flask"), frozenset({"flask", "pallets/flask", "click"}), b"flask/")


def regex(text: str) -> Query:
    return parse(text, Mode.REGEX)


def accepts(text: str, path: bytes, scope: Scope = FLASK) -> bool:
    query = scoped(regex(text), scope)
    return query is not None and query.filters.accepts_file(FileFacts(path, "python"))


@pytest.mark.parametrize(
    ("value", "names", "expected"),
    [
        ("flask", ("flask",), True),
        ("FLASK", ("flask",), True),
        ("fla", ("flask",), True),
        ("flask", ("flask-login",), False),  # another root has this very name
        ("login", ("flask-login",), True),
        ("pallets/flask", ("flask", "pallets/flask"), True),
        ("pallets/", ("flask", "pallets/flask"), True),
        ("allets/", ("flask", "pallets/flask"), False),
        ("pallets/*", ("flask", "pallets/flask"), True),
        ("f*k", ("flask", "pallets/flask"), True),
        ("f?", ("flask",), False),
        ("[x]", ("a[x]b",), True),
    ],
)
def test_which_root_a_name_means(value: str, names: tuple[str, ...], expected: bool) -> None:
    assert is_meant(value, names, frozenset({"flask", "flask-login"})) is expected


def test_a_root_that_is_not_meant_is_not_asked_at_all() -> None:
    assert scoped(regex("route repo:click"), FLASK) is None
    assert scoped(regex("route -repo:flask"), FLASK) is None
    assert scoped(regex("route -repo:click"), FLASK) is not None


def test_the_filter_leaves_nothing_behind_where_the_root_is_meant() -> None:
    query = scoped(regex("route repo:flask lang:python"), FLASK)
    assert query is not None
    assert query.filters == regex("lang:python").filters


def test_or_and_groups_are_decided_too() -> None:
    assert accepts("x (repo:click or lang:python)", b"a.py")
    assert not accepts("x (repo:click or path:docs)", b"a.py")
    assert not accepts("x -(repo:flask lang:python)", b"a.py")
    assert accepts("x (repo:flask or repo:click)", b"a.py")


def test_the_filter_alone_lists_the_files_of_the_root() -> None:
    query = scoped(regex("repo:flask"), FLASK)
    assert query is not None
    assert not query.is_empty
    assert query.filters.accepts_file(FileFacts(b"any"))


def test_a_path_is_meant_with_and_without_the_name_of_its_root() -> None:
    assert accepts("x path:src/**", b"src/app.py")
    assert accepts("x path:flask/src/**", b"src/app.py")
    assert not accepts("x path:click/src/**", b"src/app.py")
    assert not accepts("x -path:flask/src/**", b"src/app.py")
    assert not accepts("x -path:src/**", b"src/app.py")
    assert accepts("x -path:click/src/**", b"src/app.py")


def test_a_single_root_is_not_named_in_its_paths() -> None:
    assert not accepts("x path:flask/src/**", b"src/app.py", Scope(("flask",)))


def test_a_root_within_the_root_answers_for_itself() -> None:
    outer = Scope(("outer",), prefix=b"outer/", nested=(b"lib/sub/",))
    assert not accepts("x", b"lib/sub/a.py", outer)
    assert accepts("x", b"lib/subway/a.py", outer)
    assert not accepts("x path:outer/lib/**", b"lib/sub/a.py", outer)
    assert accepts("x path:outer/lib/**", b"lib/b.py", outer)


def test_an_empty_query_stays_empty_with_a_nested_root() -> None:
    query = scoped(regex(""), Scope(("outer",), prefix=b"outer/", nested=(b"sub/",)))
    assert query is not None
    assert query.is_empty


def test_the_same_words_in_both_modes() -> None:
    assert scoped(parse("retry repo:click", Mode.SEMANTIC), FLASK) is None
    query = scoped(parse("retry repo:flask", Mode.SEMANTIC), FLASK)
    assert query is not None
    assert query.words == ("retry",)
    assert [chip.label for chip in query.chips] == ["repo:flask"]
