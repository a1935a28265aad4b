"""What addresses mean, and that none of them is anything else to git: no option, no transport that runs programs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.repositories.addresses import Address, AddressError, is_loopback, parse_address, without_secret
from mgrep_tui.repositories.credentials import git_configuration, secret_for, variables_named, without_secrets


def parsed(text: str) -> Address:
    found = parse_address(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "url", "ref"),
    [
        ("github:pallets/flask", "https://github.com/pallets/flask.git", ""),
        ("github:pallets/flask@3.0.x", "https://github.com/pallets/flask.git", "3.0.x"),
        ("github:vitejs/vite@create-vite@5.0.0", "https://github.com/vitejs/vite.git", "create-vite@5.0.0"),
        ("gitlab:group/sub/name@feature/x", "https://gitlab.com/group/sub/name.git", "feature/x"),
        ("bitbucket:o/n", "https://bitbucket.org/o/n.git", ""),
        ("codeberg:o/n", "https://codeberg.org/o/n.git", ""),
        ("gitea:git.example.org:3000/o/n", "https://git.example.org:3000/o/n.git", ""),
        ("sourcehut:~u/n@main", "https://git.sr.ht/~u/n", "main"),
        ("https://example.org/o/n.git", "https://example.org/o/n.git", ""),
        ("https://example.org/o/n@v1", "https://example.org/o/n", "v1"),
        ("https://github.com/o/n/tree/feature/x", "https://github.com/o/n", "feature/x"),
        ("https://gitlab.com/g/s/n/-/tree/v1", "https://gitlab.com/g/s/n", "v1"),
        ("https://codeberg.org/o/n/src/branch/main", "https://codeberg.org/o/n", "main"),
        ("git+https://example.org/o/n", "https://example.org/o/n", ""),
        ("ssh://git@example.org:2222/o/n.git@v1", "ssh://git@example.org:2222/o/n.git", "v1"),
        ("git@example.org:o/n.git", "git@example.org:o/n.git", ""),
        ("example.org:o/n.git@v1", "example.org:o/n.git", "v1"),
        ("example.org:/srv/git/n", "example.org:/srv/git/n", ""),
        ("work:n.git", "work:n.git", ""),
        ("github.com/o/n@v1", "https://github.com/o/n", "v1"),
        ("file:///srv/a#b/c?d@main", "file:///srv/a%23b/c%3Fd", "main"),
        ("file:///srv/with%20space/n@main", "file:///srv/with%20space/n", "main"),
        ("file:///srv/a@b/n", "file:///srv/a%40b/n", ""),
    ],
)
def test_every_way_to_write_one(text: str, url: str, ref: str) -> None:
    found = parsed(text)
    assert (found.url, found.ref) == (url, ref)
    assert parsed(str(found)).key == found.key


@pytest.mark.parametrize(
    "text",
    [
        "src",
        "./github:o",
        "C:\\code",
        "C:/code",
        "a:b",
        "user@host",
        "app.py:12",
        "app.py:12:3",
        "example.org:3000/o/n",
        "src/app.py:a/b",
        "github.com",
        "@work",
        "/srv/x",
        "~/x",
        "",
    ],
)
def test_the_names_of_folders_are_none(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "github:flask", "github:a/b/c", "github:../x", "github:-o/n", "github:o/-n", "github:o/n@-x", "github:o/n@..",
        "github:o/n@a b", "github:o/n@x.lock", "github:o/n@x^{}", "github:o/n@@{1}", "github:o\n/n", "github:o/n;id",
        "ext::sh -c id", "https://-oProxyCommand=id/o/n", "https://h/o/n#--upload-pack=id", "ftp://h/o/n", "https://h", "https://h/",
        "ssh://-oProxyCommand=id/o/n", "git@h:-x/n", "git@h:a/../../b", "file://host/x", "file:///", "https://h:99999/o/n",
        "https://h/o/%2e%2e/n", "https://h/o/n\x00", "gitea:host/n", "fd::17/x", "git@-h:o/n",
    ],
)  # fmt: skip
def test_what_is_dangerous_or_senseless_is_refused(text: str) -> None:
    try:
        found = parse_address(text)
    except AddressError:
        return
    assert found is None  # then it is looked for as a folder


@given(st.text(max_size=60))
def test_no_text_becomes_an_option_or_another_transport(text: str) -> None:
    for form in (
        text,
        f"github:{text}",
        f"https://{text}",
        f"git@h.org:{text}",
        f"github:o/n@{text}",
        f"file:///{text}",
    ):
        try:
            found = parse_address(form)
        except AddressError:
            continue
        if found is None:
            continue
        assert (
            found.url.startswith(("https://", "http://", "ssh://", "git://", "file://", "git@h.org:"))
            or "@" in found.url
        )
        assert "::" not in found.url.partition("://")[0]
        # Folders of a file address may be called anything: git sees them behind `file:///`.
        names = [] if found.scheme == "file" else found.project.split("/")
        for word in (found.host, found.ref, *names):
            assert not word.startswith("-")
            assert not any(ord(char) < 32 for char in word)
        assert found.name
        assert parse_address(str(found)) == found or found.scheme in ("ssh", "https", "file")


def test_one_repository_has_one_place_however_it_is_written() -> None:
    forms = [
        "github:o/n",
        "https://github.com/o/n",
        "https://github.com/o/n.git",
        "git@github.com:o/n.git",
        "https://GitHub.com/o/n",
    ]
    assert len({parsed(form).key for form in forms}) == 1
    assert parsed("github:o/n@v1").key != parsed("github:o/n").key
    files = ["file:///srv/git/n", "file:///srv/git/n/", "file:///srv//git/./n", "file://localhost/srv/x/../git/n"]
    assert len({parsed(form).key for form in files}) == 1


def test_what_repo_may_call_it() -> None:
    assert parsed("github:pallets/flask").names == ("flask", "pallets/flask", "github.com/pallets/flask")
    assert parsed("github:pallets/flask@3.x").names[0] == "flask@3.x"
    assert parsed("file:///srv/flask/.git").names == ("flask",)


# --- secrets


def test_each_host_gets_its_own_token_and_no_other() -> None:
    environ = {"GITHUB_TOKEN": "gh", "GITLAB_TOKEN": "gl", "MGREP_TUI_TOKEN": "git.example.org=own other=x"}
    found = {
        text: secret.password if (secret := secret_for(parsed(text), environ)) else None
        for text in (
            "github:o/n",
            "gitlab:o/n",
            "https://git.example.org/o/n",
            "https://evil.example/o/n",
            "https://github.com.evil.example/o/n",
        )
    }
    assert list(found.values()) == ["gh", "gl", "own", None, None]


@pytest.mark.parametrize(
    "text", ["http://git.example.org/o/n", "ssh://git@github.com/o/n", "git://github.com/o/n", "file:///github.com/n"]
)
def test_a_token_never_travels_in_the_clear(text: str) -> None:
    environ = {"GITHUB_TOKEN": "gh", "MGREP_TUI_TOKEN": "git.example.org=own"}
    assert secret_for(parsed(text), environ) is None


@pytest.mark.parametrize("token", ["a\nX-Evil: 1", "a b", "a\x00b", ""])
def test_a_token_cannot_end_its_header(token: str) -> None:
    assert secret_for(parsed("github:o/n"), {"GITHUB_TOKEN": token + "\n"}) is None or "\n" not in token
    secret = secret_for(parsed("github:o/n"), {"GITHUB_TOKEN": token})
    assert secret is None


def test_git_is_told_for_the_one_host_only() -> None:
    address = parsed("github:o/n")
    names = [name for name, _ in git_configuration(address, secret_for(address, {"GH_TOKEN": "x"}))]
    assert names == [*["credential.https://github.com.helper"] * 2, "http.https://github.com/.sslVerify"]
    assert git_configuration(address, None) == []


@pytest.mark.parametrize(
    "text",
    [
        "https://me:hunter2@h.org", "https://me:hunter2@h.org/o/n@--x", "https://me:hunter2@h.org/o/n#a..b",
        "https://me:hun@ter2hunter2@h.org", "gitea:me:hunter2@h.org/o/n", "https://hunter2hunter2hunter2@h.org/o/n@..",
        "ftp://me:hunter2@h.org/o/n", "https://me:hunter2@h.org:99999/o/n", "https://me:hunter2@/o/n", "https://me:hunter2/x@h.org/o/n", "https://me:hunter2@-h/o/n",
    ],
)  # fmt: skip
def test_a_wrong_address_does_not_say_its_secret_back(text: str) -> None:
    with pytest.raises(AddressError) as caught:
        parse_address(text)
    assert "hunter2" not in str(caught.value)
    assert without_secret("git@h.org:o/n@v1 https://h.org/o/n@v1") == "git@h.org:o/n@v1 https://h.org/o/n@v1"


def test_a_token_in_the_place_of_the_user_is_one() -> None:
    token = "ghp_0123456789abcdefghijklmnop"
    address = parsed(f"https://{token}@github.com/o/n")
    secret = secret_for(address, {"GITHUB_TOKEN": "other"})
    assert secret is not None and (secret.user, secret.password) == ("x-access-token", token)
    assert token not in f"{address!r}{address}{address.url}{address.key}"
    assert secret_for(parsed("https://ada@bitbucket.org/o/n"), {}) is None


def test_a_secret_shows_nowhere() -> None:
    address = parsed("https://ada:hunter2@git.example.org/o/n")
    secret = secret_for(address, {})
    assert secret is not None
    assert secret.password == "hunter2"
    assert "hunter2" not in f"{address!r}{address}{address.url}{address.key}{address.names}{secret!r}"
    assert "GITHUB_TOKEN" not in without_secrets({"GITHUB_TOKEN": "x", "MGREP_TUI_TOKEN": "y", "PATH": "/bin"})
    assert variables_named(parsed("github:o/n")) == "GITHUB_TOKEN or MGREP_TUI_TOKEN=github.com=…"


def test_which_host_is_this_machine() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1:80", "[::1]:80")))
    assert not any(map(is_loopback, ("127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1")))
