"""Addresses of lines at the forges, and no secret in them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.permalink import Origin, address, permalink
from mgrep_tui.model import Hit
from tests.support.git_trees import Tree

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("remote", "wanted"),
    [
        ("git@github.com:owner/name.git", f"https://github.com/owner/name/blob/{COMMIT}/src/a%20b.py#L3-L5"),
        (
            "https://user:token@github.com/owner/name.git",
            f"https://github.com/owner/name/blob/{COMMIT}/src/a%20b.py#L3-L5",
        ),
        (
            "ssh://git@gitlab.example.org:2222/group/sub/name.git",
            f"https://gitlab.example.org/group/sub/name/-/blob/{COMMIT}/src/a%20b.py#L3-5",
        ),
        ("https://bitbucket.org/owner/name", f"https://bitbucket.org/owner/name/src/{COMMIT}/src/a%20b.py#lines-3:5"),
        (
            "git://code.example.org/owner/name",
            f"https://code.example.org/owner/name/src/commit/{COMMIT}/src/a%20b.py#L3-L5",
        ),
    ],
)
def test_each_forge_has_its_own_form_and_no_token_is_copied(remote: str, wanted: str) -> None:
    assert address(remote, COMMIT, b"src/a b.py", 3, 5) == wanted


def test_one_line_is_one_line() -> None:
    assert address("git@github.com:o/n", COMMIT, b"caf\xe9", 7, 7).endswith("/caf%E9#L7")


@pytest.mark.parametrize("remote", ["/srv/git/name.git", "../name", "", "file:///srv/x", "C:/git/n"])
def test_a_remote_without_an_address_is_said(remote: str) -> None:
    with pytest.raises(MgrepError):
        address(remote, COMMIT, b"x", 1, 1)


@pytest.mark.parametrize(
    ("remote", "wanted"),
    [
        ("https://git.sr.ht/~u/n", f"https://git.sr.ht/~u/n/tree/{COMMIT}/item/a/b.py#L3-5"),
        ("https://codeberg.org/o/n.git", f"https://codeberg.org/o/n/src/commit/{COMMIT}/a/b.py#L3-L5"),
        ("https://git.example.org:3000/o/n.git", f"https://git.example.org:3000/o/n/src/commit/{COMMIT}/a/b.py#L3-L5"),
        ("http://git.local/o/n", f"http://git.local/o/n/src/commit/{COMMIT}/a/b.py#L3-L5"),
        ("ssh://git@ssh.github.com:443/o/n.git", f"https://github.com/o/n/blob/{COMMIT}/a/b.py#L3-L5"),
        ("https://GitHub.com/o/n", f"https://github.com/o/n/blob/{COMMIT}/a/b.py#L3-L5"),
        (
            "https://bitbucket.example.org/scm/key/n.git",
            f"https://bitbucket.example.org/projects/key/repos/n/browse/a/b.py?at={COMMIT}#3-5",
        ),
        (
            "ssh://git@bitbucket.example.org:7999/~ada/n.git",
            f"https://bitbucket.example.org/users/ada/repos/n/browse/a/b.py?at={COMMIT}#3-5",
        ),
        (
            "https://bitbucket.example.org/bitbucket/scm/key/n.git",
            f"https://bitbucket.example.org/bitbucket/projects/key/repos/n/browse/a/b.py?at={COMMIT}#3-5",
        ),
        ("ssh://git@git.example.org:2222/o/n", f"https://git.example.org/o/n/src/commit/{COMMIT}/a/b.py#L3-L5"),
    ],
)
def test_forges_of_ones_own_keep_scheme_and_port(remote: str, wanted: str) -> None:
    assert address(remote, COMMIT, b"a/b.py", 3, 5) == wanted


@pytest.mark.parametrize("secret", ["tok", "us:er", "p@ss", "a:b@c", "%40"])
def test_no_part_of_a_secret_is_left(secret: str) -> None:
    found = address(f"https://ada:{secret}@github.com/o/n.git", COMMIT, b"x", 1, 1)
    assert found == f"https://github.com/o/n/blob/{COMMIT}/x#L1"


@pytest.mark.parametrize("path", [b"a#b", b"a?b", b"a%20b", b"a b", b"\xff\n\x1b", "ü/é".encode(), b"a&b;c", b"#L1"])
def test_a_path_is_a_path_whatever_it_holds(path: bytes) -> None:
    found = address("https://github.com/o/n", COMMIT, path, 1, 1)
    file = urlsplit(found)
    assert unquote_to_bytes(file.path) == f"/o/n/blob/{COMMIT}/".encode() + path
    assert (file.query, file.fragment) == ("", "L1")
    assert found.isascii() and found.isprintable() and " " not in found


def test_a_rendered_file_is_asked_for_as_text() -> None:
    assert address("https://github.com/o/n", COMMIT, b"README.md", 2, 2).endswith("README.md?plain=1#L2")
    assert address("https://gitlab.com/o/n", COMMIT, b"README.md", 2, 2).endswith("README.md?plain=1#L2")
    assert address("https://codeberg.org/o/n", COMMIT, b"README.md", 2, 2).endswith("README.md?display=source#L2")


def test_a_file_of_a_repository_within_links_to_its_own(tmp_path: Path) -> None:
    outer, inner = Tree(tmp_path / "outer").init(), Tree(tmp_path / "outer" / "lib" / "inner").init()
    outer.git("remote", "add", "origin", "https://github.com/o/outer")
    inner.git("remote", "add", "origin", "https://github.com/o/inner")
    outer.write("a.py")
    inner.write("src/b.py")
    inner_commit, outer_commit = inner.commit(), outer.commit()
    root = open_root(outer.path)
    assert permalink(root, Hit(b"a.py", 0, 0, "")) == f"https://github.com/o/outer/blob/{outer_commit}/a.py#L1"
    assert (
        permalink(root, Hit(b"lib/inner/src/b.py", 0, 0, ""))
        == f"https://github.com/o/inner/blob/{inner_commit}/src/b.py#L1"
    )


def test_a_tree_without_git_links_to_where_it_came_from(tmp_path: Path) -> None:
    root = open_root(tmp_path)
    found = permalink(root, Hit(b"a.py", 4, 0, "", first_line=4, last_line=5), Origin("https://github.com/o/n", COMMIT))
    assert found == f"https://github.com/o/n/blob/{COMMIT}/a.py#L5-L6"
    with pytest.raises(MgrepError):
        permalink(root, Hit(b"a.py", 0, 0, ""), Origin("https://github.com/o/n", ""))
