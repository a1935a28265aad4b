"""Which commit, which remote and which lines a permalink names: what the forge has, not what is here alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgrep_tui.corpus.gitdiff import matching_lines
from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import MgrepError
from mgrep_tui.explorer.forges import is_forge, ssh_names, with_host
from mgrep_tui.explorer.permalink import permalink
from mgrep_tui.model import Hit
from tests.support.git_trees import Tree

FORGE = "https://github.com/o/n"
LINES = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """One published commit of a file of ten lines."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    made = Tree(tmp_path / "tree").init()
    made.git("remote", "add", "origin", f"{FORGE}.git")
    made.write("a.py", LINES)
    publish(made, made.commit())
    return made


def publish(tree: Tree, commit: str, name: str = "origin/main") -> str:
    """As if `commit` had been pushed."""
    tree.git("update-ref", f"refs/remotes/{name}", commit)
    return commit


def link(tree: Tree, path: str, first: int, last: int | None = None) -> str:
    """The permalink of 1-based lines, without what all links begin with."""
    hit = Hit(path.encode(), first - 1, 0, "", first_line=first - 1, last_line=(last or first) - 1)
    found = permalink(open_root(tree.path), hit)
    assert found.startswith("https://github.com/")
    return found.removeprefix("https://github.com/")


def head(tree: Tree) -> str:
    return tree.git("rev-parse", "HEAD").strip().decode()


def test_a_file_that_is_in_no_commit_has_no_link(tree: Tree) -> None:
    tree.write("new.py")
    with pytest.raises(MgrepError, match="in no published commit yet"):
        link(tree, "new.py", 1)


def test_lines_that_moved_since_are_linked_where_they_were(tree: Tree) -> None:
    tree.write("a.py", "import x\n\n" + LINES)
    assert link(tree, "a.py", 5) == f"o/n/blob/{head(tree)}/a.py#L3"
    assert link(tree, "a.py", 1, 4) == f"o/n/blob/{head(tree)}/a.py#L1-L2"
    tree.write("a.py", LINES.replace("line 4\n", "other\n"))
    assert link(tree, "a.py", 3, 5) == f"o/n/blob/{head(tree)}/a.py#L3-L5"
    with pytest.raises(MgrepError, match="These lines are in no published commit yet"):
        link(tree, "a.py", 4)


def test_a_commit_that_is_here_alone_is_not_linked(tree: Tree) -> None:
    pushed = head(tree)
    tree.write("a.py", "# not pushed\n" + LINES)
    tree.write("b.py")
    tree.commit()
    assert link(tree, "a.py", 3) == f"o/n/blob/{pushed}/a.py#L2"
    with pytest.raises(MgrepError, match="This file is in no published commit yet"):
        link(tree, "b.py", 1)
    published = publish(tree, head(tree))
    assert link(tree, "a.py", 3) == f"o/n/blob/{published}/a.py#L3"


def test_a_history_that_the_remote_does_not_have_is_said(tree: Tree) -> None:
    tree.git("checkout", "-q", "--orphan", "alone")
    tree.commit("another beginning")
    with pytest.raises(MgrepError, match="No commit of this branch is published yet"):
        link(tree, "a.py", 1)


def test_an_older_commit_that_is_checked_out_is_the_one(tree: Tree) -> None:
    old = head(tree)
    tree.write("a.py", "x\n")
    publish(tree, tree.commit())
    tree.git("checkout", "-q", "--detach", old)
    assert link(tree, "a.py", 10) == f"o/n/blob/{old}/a.py#L10"


def test_where_nothing_is_known_of_the_remote_the_commit_is_trusted(tree: Tree) -> None:
    tree.git("update-ref", "-d", "refs/remotes/origin/main")
    assert link(tree, "a.py", 1) == f"o/n/blob/{head(tree)}/a.py#L1"


def test_a_folder_of_the_repository_links_with_its_whole_path(tree: Tree) -> None:
    name = "sp ace#1/50%/\u00fc?.py"
    tree.write(name)
    publish(tree, tree.commit())
    inner = Tree(tree.path / "sp ace#1")
    assert link(inner, "50%/\u00fc?.py", 1) == f"o/n/blob/{head(tree)}/sp%20ace%231/50%25/%C3%BC%3F.py#L1"


def test_of_several_remotes_the_one_that_has_the_commit(tree: Tree) -> None:
    tree.git("remote", "add", "upstream", "git@github.com:them/n.git")
    tree.git("remote", "add", "backup", "/srv/backup.git")
    old = head(tree)
    assert link(tree, "a.py", 1) == f"o/n/blob/{old}/a.py#L1"
    tree.write("a.py", "\n" + LINES)
    theirs = publish(tree, tree.commit(), "upstream/main")
    assert link(tree, "a.py", 2) == f"them/n/blob/{theirs}/a.py#L2"
    tree.write("a.py", "\n\n" + LINES)
    tree.commit()
    assert link(tree, "a.py", 3) == f"o/n/blob/{old}/a.py#L1"


def test_a_remote_need_not_be_called_origin(tree: Tree) -> None:
    tree.git("remote", "rename", "origin", "github")
    assert link(tree, "a.py", 1) == f"o/n/blob/{head(tree)}/a.py#L1"
    tree.git("remote", "add", "origin", "../elsewhere")
    assert link(tree, "a.py", 1) == f"o/n/blob/{head(tree)}/a.py#L1"


def test_without_a_remote_it_is_said(tree: Tree) -> None:
    tree.git("remote", "remove", "origin")
    with pytest.raises(MgrepError, match="has no remote"):
        link(tree, "a.py", 1)
    tree.git("remote", "add", "origin", "/srv/git/n.git")
    with pytest.raises(MgrepError, match="not an address of a forge"):
        link(tree, "a.py", 1)


def test_the_short_names_of_the_person_are_resolved(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "gitconfig").write_text('[url "git@work:"]\n\tinsteadOf = gh:\n')
    ssh = tmp_path / "home" / ".ssh" / "config"
    ssh.parent.mkdir(parents=True)
    ssh.write_text("Host work other\n  User git\n  HostName = github.com\nHost *\n  HostName nowhere.example\n")
    tree.git("remote", "set-url", "origin", "gh:them/n.git")
    assert link(tree, "a.py", 1) == f"them/n/blob/{head(tree)}/a.py#L1"


def test_what_ssh_calls_a_host() -> None:
    names = ssh_names(
        "host aa bb\nHostname\tone.org\nHost *.c !d\nhostname two.org\nMatch all\nHostName three.org\nHost e\nHostName %h.f"
    )
    assert names == {"aa": "one.org", "bb": "one.org"}
    assert with_host("git@aa:o/n", names) == "git@one.org:o/n"
    assert with_host("ssh://git@bb:22/o/n", names) == "ssh://git@one.org:22/o/n"
    for other in ("https://aa/o/n", "git@xx:o/n", "/a", "a"):
        assert with_host(other, names) == other
    assert not is_forge("a") and is_forge("a.org:o/n")


def test_lines_that_stayed_are_matched() -> None:
    old, new = [b"a", b"b", b"c", b"d"], [b"x", b"a", b"c", b"y", b"d"]
    assert matching_lines(old, new) == {1: 0, 2: 2, 4: 3}
    assert matching_lines(old, old) == {number: number for number in range(4)}
    assert matching_lines([], new) == {}
