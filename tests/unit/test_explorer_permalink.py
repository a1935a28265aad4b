"""Addresses of lines at the forges, and no secret in them."""

from __future__ import annotations

import pytest

from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.permalink import address

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


@pytest.mark.parametrize("remote", ["/srv/git/name.git", "../name", "", "file:///srv/x"])
def test_a_remote_without_an_address_is_said(remote: str) -> None:
    with pytest.raises(MgrepError):
        address(remote, COMMIT, b"x", 1, 1)
