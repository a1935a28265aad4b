"""Our reading of ignore rules against git's own."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgrep_tui.corpus.ignore import _tokens, translate
from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.sources import GitNames, walked
from mgrep_tui.settings.config import CorpusSettings
from tests.support.git_trees import Tree

_PARTS = ["a", "b", "ab", "abc", "a.o", "b.o", "foo", "x[y]", "a b", "a-b", "!a", "#a", "a\\b", "A", "é", "1", "a.b.o"]
_PIECES = [
    "a", "b", "ab", "foo", "*", "**", "?", "/", "/", ".o", "*.o", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]",
    "[a", "]", "[[:alpha:]]", "[[:digit:]x]", "[a\\]]", "\\*", "\\", "\\a", "x[y]", "x\\[y\\]", "a b", " ",
    "\\ ", "!", "#", "**/", "/**", "/**/", "a*b", "é", "A", "-", "[--a]", "[a-]", "[!-]", "[[:nothing:]]",
    "[[:alpha:", "[[]", "***", "\t", ".",
]  # fmt: skip
_lines = st.builds(
    lambda negated, pieces, folder: ("!" if negated else "") + "".join(pieces) + ("/" if folder else ""),
    st.booleans(),
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=5),
    st.booleans(),
)
_files = st.builds(
    lambda lines, end, mark: (b"\xef\xbb\xbf" if mark else b"") + end.join(line.encode() for line in lines),
    st.lists(_lines, min_size=1, max_size=5),
    st.sampled_from([b"\n", b"\r\n", b"\n\n"]),
    st.booleans(),
)
_paths = st.lists(
    st.builds("/".join, st.lists(st.sampled_from(_PARTS), min_size=1, max_size=4)), min_size=4, max_size=16, unique=True
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(_PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from([*"ab/.o", "/", "foo"]), max_size=12).map("".join),
)
def test_taking_the_first_place_that_fits_loses_no_match(pattern: str, path: str) -> None:
    """The expression without atomic groups is slow on hostile patterns, and plainly right."""
    plain = re.compile(b"".join(_tokens(pattern.encode())), re.DOTALL)
    quick = re.compile(translate(pattern.encode()), re.DOTALL)
    assert (quick.fullmatch(path.encode()) is None) == (plain.fullmatch(path.encode()) is None)


@pytest.fixture(scope="module")
def repository() -> Tree:
    with tempfile.TemporaryDirectory() as name:
        yield Tree(Path(name) / "tree").init()


def _emptied(tree: Tree) -> None:
    for child in tree.path.iterdir():
        if child.name == ".git":
            continue
        if child.is_dir():
            shutil.rmtree(child)
        else:
            child.unlink()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    _paths,
    st.dictionaries(st.sampled_from(["", "a/", "a/b/", "foo/"]), _files, min_size=1, max_size=3),
    st.none() | _files,
)
def test_a_walk_admits_what_git_admits(
    repository: Tree, paths: list[str], ignore_files: dict[str, bytes], exclude: bytes | None
) -> None:
    """K1 and its kind: any patterns, any folder, any order."""
    _emptied(repository)
    for path in paths:
        try:
            repository.write(path)
        except OSError:  # a part is a file and a folder at once
            continue
    for folder, content in ignore_files.items():
        try:
            repository.write(folder + ".gitignore", content)
        except OSError:
            continue
    repository.write(".git/info/exclude", exclude or b"")
    environment = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "XDG_CONFIG_HOME": str(repository.path / "none"),
    }
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        root = open_root(repository.path)
        corpus = CorpusSettings()
        by_git = sorted(GitNames(root, corpus).untracked(None).paths)
        by_us = sorted(walked(root, corpus, None).paths)
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert by_us == by_git
