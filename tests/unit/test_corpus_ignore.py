"""Single rules of ignore files, each held against git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mgrep_tui.corpus.ignore import RuleSet, parse
from tests.support.git_trees import Tree

_NAMES = [
    "a", "b", "c", "ab", "abc", "a.o", "b.o", "foo", "foo/a", "foo/b", "foo/bar/a", "x/foo/a", "a b", "a ",
    "#a", "!a", "a\\", "a*b", "axb", "[a", "a]", "-", "é", "A", "Z", "5", "a/b/c/d", "x/y/z/a.o", "foo.tar.gz",
    "deep/er/foo/bar", "\t", "a/x", "aXb", "x5",
]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "a", "/a", "*.o", "foo/", "foo/*", "/foo/*", "foo/**", "**/foo", "**/foo/*", "a/**/d", "a/**", "**",
        "*", "/*", "/", "//", "foo//a", "a ", "a  ", "a\\ ", "a\\  ", "a b", "#a", "\\#a", "!a", "\\!a", "a\\",
        "a\\\\", "a\\*b", "a*b", "a?b", "[ab]", "[!ab]", "[^ab]", "[a-c]", "[c-a]", "[a", "[a]", "[]a]",
        "[!]a]", "[\\[]a", "[a\\]]", "[a-]", "[-a]", "[!-]", "[[:alpha:]]", "[[:upper:]]", "[[:digit:]]",
        "x[[:digit:]]", "[[:alnum:][:space:]]", "[[:nothing:]]", "[[:alpha:", "[[:]", "[[a]", "foo/[ab]",
        "foo[/]a", "a[/]x", "?", "??", "é", "[é]", "*/a", "*/*/a", "**/a", "***", "a**", "**a", "x/**/**/a.o",
        "*a*b*c*", "*.tar.*", "f*o", "foo.*.gz", "deep/**/bar", "/**/a", "**/*.o", "**/b*/c/**", "a/*/c/*",
        "a\r", "  a", "\ta", "\t", "[\\t]", "[a-\\c]", "\\[a", "[z-\\", ".", "..", "./a", "foo/./a",
    ],
)  # fmt: skip
def test_a_rule_matches_what_git_matches(tmp_path: Path, line: str) -> None:
    tree = Tree(tmp_path / "tree").init()
    tree.write(".gitignore", line + "\n")
    given = "\0".join(_NAMES).encode() + b"\0"
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=" + os.devnull, "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=tree.path,
        input=given,
        capture_output=True,
        check=False,
    )
    by_git = [name.decode() for name in done.stdout.split(b"\0")[:-1]]
    rules = RuleSet((line + "\n").encode())
    assert [name for name in _NAMES if _is_ignored(rules, name.encode())] == by_git


def _is_ignored(rules: RuleSet, path: bytes) -> bool:
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        rule = rules.match(b"/".join(parts[:depth]), True)
        if rule is not None and not rule.is_negated:
            return True
    rule = rules.match(path, False)
    return rule is not None and not rule.is_negated


def test_the_last_matching_rule_decides() -> None:
    rules = RuleSet(b"*.log\n!keep.log\n/deep/\n!*.txt\nkeep.log\n!keep.log\n")
    rule = rules.match(b"keep.log", False)
    assert rule is not None and rule.is_negated and rule.line == 5
    rule = rules.match(b"other.log", False)
    assert rule is not None and not rule.is_negated and rule.line == 0
    assert rules.match(b"deep", False) is None
    assert rules.match(b"other.py", False) is None


def test_rules_below_a_folder_see_paths_from_there() -> None:
    rules = RuleSet(b"/a\nb/c\n", b"sub/dir/")
    assert rules.match(b"sub/dir/a", False) is not None
    assert rules.match(b"sub/dir/x/a", False) is None
    assert rules.match(b"sub/dir/b/c", False) is not None
    assert rules.match(b"sub/dir/x/b/c", False) is None


def test_marks_comments_and_blank_lines_are_no_rules() -> None:
    assert [rule.pattern for rule in parse(b"\xef\xbb\xbfa\r\n\r\n# c\n\n   \n!b/\n/\n")] == [b"a", b"b"]


def test_a_hostile_pattern_costs_no_power_of_the_length() -> None:
    """With plain backtracking each of these takes hours; the test's own time limit would end it."""
    name = b"a" * 200
    assert RuleSet(b"*a" * 30 + b"b\n").match(name, False) is None
    assert RuleSet(b"**/a*" * 20 + b"/b\n").match(b"/".join([name] * 20), False) is None
