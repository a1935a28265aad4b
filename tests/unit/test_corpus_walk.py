"""Which files are searched: git's rules, our own, nested repositories, links, special files."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.walk import Listing, list_files, stream_files
from mgrep_tui.errors import Cancelled, UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import SkipReason
from mgrep_tui.settings.config import CorpusSettings
from tests.support.git_trees import Tree


@pytest.fixture(autouse=True)
def own_git_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree")


def listing(path: Path, **settings: object) -> Listing:
    """All that is listed, which is what comes as a stream too."""
    root, wished = open_root(path), CorpusSettings(**settings)  # type: ignore[arg-type]
    found = list_files(root, wished)
    assert sorted(entry for part in stream_files(root, wished) for entry in part) == found.entries
    return found


def names(path: Path, **settings: object) -> list[str]:
    return [os.fsdecode(entry.path) for entry in listing(path, **settings).entries]


# --- git's rules


def test_tracked_and_untracked_files_count_and_ignored_ones_do_not(tree: Tree) -> None:
    tree.init()
    tree.write(".gitignore", "*.o\n/out/\n")
    tree.write("a.c")
    tree.commit()
    tree.write("b.c")
    tree.write("b.o")
    tree.write("out/c.c")
    tree.write("sub/out/d.c")
    assert names(tree.path) == ["a.c", "b.c", "sub/out/d.c"]
    assert names(tree.path, use_gitignore=False) == ["a.c", "b.c", "b.o", "out/c.c", "sub/out/d.c"]


def test_a_file_taken_back_under_an_ignored_folder_stays_ignored(tree: Tree) -> None:
    """K1."""
    tree.init()
    tree.write(".gitignore", "build\n!keep.log\n")
    tree.write("build/keep.log")
    tree.write("keep.log")
    assert names(tree.path) == ["keep.log"]
    tree.write(".ignore", "nothing\n!nothing-else\n")  # makes the walk do git's work: same answer
    assert names(tree.path) == ["keep.log"]


def test_rules_of_parent_folders_hold_in_a_subfolder(tree: Tree) -> None:
    """K3: started in a subfolder, the same files as from the top."""
    tree.init()
    tree.write(".gitignore", "**/bar/*\n/foo/gen/\n")
    tree.write(".mgrepignore", "/foo/own/\n*.tmp\n")
    for name in (
        "foo/bar/x.c",
        "foo/gen/y.c",
        "foo/own/z.c",
        "foo/a.c",
        "foo/b.tmp",
        "foo/deep/bar/q.c",
        "foo/deep/r.c",
    ):
        tree.write(name)
    from_top = [name.removeprefix("foo/") for name in names(tree.path) if name.startswith("foo/")]
    assert names(tree.path / "foo") == from_top == ["a.c", "deep/r.c"]
    tree.write("foo/.ignore", "!nothing\n")
    assert names(tree.path / "foo") == from_top


def test_excludes_of_the_repository_hold_in_its_linked_work_tree(tree: Tree, tmp_path: Path) -> None:
    """K5: `.git` is a file there."""
    tree.init()
    tree.write("a.c")
    tree.commit()
    tree.write(".git/info/exclude", "ignored\n")
    tree.git("worktree", "add", "-q", str(tmp_path / "w"))
    for folder in (tree.path, tmp_path / "w"):
        (folder / "ignored").write_text("x")
        (folder / "seen").write_text("x")
        assert names(folder) == ["a.c", "seen"]
        (folder / ".ignore").write_text("!nothing\n")
        assert names(folder) == ["a.c", "seen"]


def test_a_tracked_file_is_searched_though_a_rule_matches_it(tree: Tree) -> None:
    """K7."""
    tree.init()
    tree.write(".gitignore", "*.log\n")
    tree.write("secret.log")
    tree.write("other.log")
    tree.git("add", "-f", "secret.log")
    assert names(tree.path) == ["secret.log"]


def test_a_gitignore_above_the_repository_does_not_reach_into_it(tree: Tree) -> None:
    """K11."""
    tree.write(".gitignore", "*\n")
    repository = Tree(tree.path / "project").init()
    repository.write("a.c")
    assert names(repository.path) == ["a.c"]
    repository.write(".ignore", "!nothing\n")
    assert names(repository.path) == ["a.c"]


def test_the_users_own_excludes_hold(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = tmp_path / "config"
    excludes = tmp_path / "excludes"
    excludes.write_text("*.mine\n")
    configuration.write_text(f"[core]\n\texcludesFile = {excludes}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    tree.init()
    tree.write("a.c")
    tree.write("b.mine")
    assert names(tree.path) == ["a.c"]
    tree.write(".ignore", "!nothing\n")
    assert names(tree.path) == ["a.c"]


def test_deleted_and_renamed_tracked_files_are_not_listed(tree: Tree) -> None:
    tree.init()
    tree.write("a.c")
    tree.write("gone/b.c")
    tree.commit()
    (tree.path / "a.c").rename(tree.path / "z.c")
    (tree.path / "gone" / "b.c").unlink()
    (tree.path / "gone").rmdir()
    assert names(tree.path) == ["z.c"]


def test_a_file_in_conflict_is_listed_once(tree: Tree) -> None:
    tree.init()
    tree.write("a.c", "base\n")
    tree.commit()
    tree.git("checkout", "-q", "-b", "other")
    tree.write("a.c", "other\n")
    tree.commit()
    tree.git("checkout", "-q", "main")
    tree.write("a.c", "main\n")
    tree.commit()
    with pytest.raises(subprocess.CalledProcessError):
        tree.git("merge", "other")
    assert names(tree.path) == ["a.c"]


def test_a_root_inside_an_ignored_folder_is_searched(tree: Tree) -> None:
    tree.init()
    tree.write(".gitignore", "build/\n")
    tree.write("build/made/a.c")
    tree.write("build/made/.gitignore", "*.o\n")
    tree.write("build/made/b.o")
    found = listing(tree.path / "build" / "made")
    assert [entry.path for entry in found.entries] == [b"a.c"]


def test_without_a_commit_an_empty_folder_and_a_bare_repository(tree: Tree, tmp_path: Path) -> None:
    """O1."""
    tree.init()
    assert names(tree.path) == []
    tree.write("a.c")
    assert names(tree.path) == ["a.c"]
    empty = Tree(tmp_path / "empty")
    assert names(empty.path) == []
    bare = Tree(tmp_path / "bare.git")
    bare.git("init", "-q", "--bare")
    found = listing(bare.path)
    assert found.entries == []
    assert "bare" in found.notes[0]


# --- nested repositories


def test_submodule_and_nested_repository_are_searched_once_by_their_own_rules(tree: Tree, tmp_path: Path) -> None:
    """K9."""
    library = Tree(tmp_path / "library").init()
    library.write("lib.c")
    library.write(".gitignore", "*.gen\n")
    library.commit()
    tree.init()
    tree.write("a.c")
    tree.write(".gitignore", "*.c.bak\n")
    tree.commit()
    tree.git("submodule", "add", "-q", str(library.path), "sub")
    tree.commit()
    nested = Tree(tree.path / "nested")
    nested.git("clone", "-q", str(library.path), "inner")
    for folder in ("sub", "nested/inner"):
        tree.write(f"{folder}/new.c")
        tree.write(f"{folder}/x.gen")
        tree.write(f"{folder}/y.c.bak")  # the outer rule is not the inner repository's
    tree.write(".mgrepignore", "new.c\n")
    expected = ["a.c", "nested/inner/lib.c", "nested/inner/y.c.bak", "sub/lib.c", "sub/y.c.bak"]
    assert names(tree.path) == expected
    tree.write("sub/.ignore", "!x.gen\n")  # own rules of the inner repository, walked there
    assert names(tree.path) == [*expected[:3], "sub/lib.c", "sub/x.gen", "sub/y.c.bak"]


def test_a_folder_in_place_of_a_tracked_link_follows_the_rules(tree: Tree) -> None:
    """K9: git lists the name still, but it is no submodule; what lies there is untracked, and may be ignored."""
    tree.init()
    tree.write(".gitignore", "*.o\n")
    tree.write("a/x.py")
    (tree.path / "link").symlink_to("a")
    tree.commit()
    (tree.path / "link").unlink()
    tree.write("link/y.py")
    tree.write("link/z.o")
    assert names(tree.path) == ["a/x.py", "link/y.py"]


def test_a_submodule_that_is_not_checked_out_is_empty(tree: Tree, tmp_path: Path) -> None:
    library = Tree(tmp_path / "library").init()
    library.write("lib.c")
    library.commit()
    tree.init()
    tree.git("submodule", "add", "-q", str(library.path), "sub")
    tree.write("a.c")
    tree.commit()
    tree.git("submodule", "deinit", "-q", "-f", "sub")
    assert names(tree.path) == ["a.c"]


def test_repositories_in_a_folder_outside_git_keep_their_rules(tree: Tree) -> None:
    one = Tree(tree.path / "one").init()
    one.write(".gitignore", "*.log\n")
    one.write("kept.log")
    one.git("add", "-f", "kept.log")
    one.write("lost.log")
    tree.write("loose.log")
    assert names(tree.path) == ["loose.log", "one/kept.log"]


# --- our own rules, hidden files


def test_own_ignore_files_leave_out_tracked_files_too(tree: Tree) -> None:
    tree.init()
    tree.write("a.c")
    tree.write("big/data.c")
    tree.write("sub/b.c")
    tree.write("sub/c.c")
    tree.commit()
    tree.write(".ignore", "big/\n")
    tree.write("sub/.mgrepignore", "/b.c\n")
    assert names(tree.path) == ["a.c", "sub/c.c"]
    assert names(tree.path, ignore_files=()) == ["a.c", "big/data.c", "sub/b.c", "sub/c.c"]


def test_mgrepignore_wins_over_ignore_and_both_over_gitignore(tree: Tree) -> None:
    tree.init()
    tree.write(".gitignore", "*.gen\n*.log\n")
    tree.write(".ignore", "!a.gen\nb.c\n")
    tree.write(".mgrepignore", "!b.c\nc.c\n")
    for name in ("a.gen", "z.gen", "b.c", "c.c", "d.c", "e.log"):
        tree.write(name)
    assert names(tree.path) == ["a.gen", "b.c", "d.c"]


def test_a_folder_that_git_ignores_can_be_taken_back(tree: Tree) -> None:
    tree.init()
    tree.write(".gitignore", "build/\n")
    tree.write("build/x/made.c")
    tree.write("tracked.log")
    tree.commit()
    tree.write(".gitignore", "build/\n*.log\n")
    assert names(tree.path) == ["tracked.log"]
    tree.write(".ignore", "!build/\n")
    assert names(tree.path) == ["build/x/made.c", "tracked.log"]


def test_an_ignore_file_beside_nothing_but_ignored_files_can_take_them_back(tree: Tree) -> None:
    tree.init()
    tree.write(".gitignore", "*.gen\n")
    tree.write("a/b.gen")
    tree.write("a/deep/c.gen")
    tree.write("a/.ignore", "!*.gen\n")
    assert names(tree.path) == ["a/b.gen", "a/deep/c.gen"]


@pytest.mark.parametrize("with_git", [True, False])
def test_hidden_files_are_left_out_unless_asked_for(tree: Tree, with_git: bool) -> None:
    if with_git:
        tree.init()
    for name in (".env", ".github/workflows/ci.yml", "a/.b/c.py", "a/d.py"):
        tree.write(name)
    if with_git:
        tree.commit()
    assert names(tree.path) == ["a/d.py"]
    assert names(tree.path, hidden=True) == [".env", ".github/workflows/ci.yml", "a/.b/c.py", "a/d.py"]


def test_ignore_rules_hold_outside_git(tree: Tree) -> None:
    tree.write(".gitignore", "*.o\n")
    tree.write("sub/.gitignore", "!keep.o\n/local\n")
    for name in ("a.c", "a.o", "sub/keep.o", "sub/local/x.c", "local/y.c"):
        tree.write(name)
    found = listing(tree.path)
    assert [entry.path for entry in found.entries] == [b"a.c", b"local/y.c", b"sub/keep.o"]
    assert not found.is_git
    assert len(names(tree.path, use_gitignore=False)) == 5


def test_without_a_git_program_the_rules_are_read_by_ourselves(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.init()
    tree.write(".gitignore", "*.o\n")
    tree.write(".git/info/exclude", "secret\n")
    for name in ("a.c", "a.o", "secret"):
        tree.write(name)
    expected = names(tree.path)
    monkeypatch.setenv("PATH", str(tree.path))
    found = listing(tree.path)
    assert [os.fsdecode(entry.path) for entry in found.entries] == expected == ["a.c"]
    assert "git is not installed" in found.notes[0]


def test_a_damaged_git_index_is_said_and_the_files_are_still_there(tree: Tree) -> None:
    tree.init()
    tree.write(".gitignore", "*.o\n")
    tree.write("a.c")
    tree.write("a.o")
    tree.commit()
    tree.write(".git/index", b"damaged" * 100)
    found = listing(tree.path)
    assert [entry.path for entry in found.entries] == [b"a.c"]
    assert "git failed" in found.notes[0]
    assert not found.is_git


@pytest.mark.parametrize("target", ["/", "..", "/not/there/for/this/test"])
def test_a_work_tree_that_is_set_elsewhere_leads_nowhere(tree: Tree, target: str) -> None:
    tree.init()
    tree.write("a.c")
    tree.git("config", "core.worktree", target)
    assert names(tree.path) == ["a.c"]


# --- special files, links, limits


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("with_git", [True, False])
def test_a_fifo_is_skipped(tree: Tree, with_git: bool) -> None:
    """I1."""
    if with_git:
        tree.init()
    tree.write("a.py")
    os.mkfifo(tree.path / "pipe.py")
    found = listing(tree.path)
    assert [entry.path for entry in found.entries] == [b"a.py"]
    if not with_git:  # git does not name special files at all
        assert [(skip.path, skip.reason) for skip in found.skips] == [(b"pipe.py", SkipReason.SPECIAL)]


@pytest.mark.parametrize("with_git", [True, False])
@pytest.mark.parametrize("follow_links", [True, False])
def test_link_cycles_end_and_each_real_file_is_listed_once(tree: Tree, with_git: bool, follow_links: bool) -> None:
    """I3."""
    if with_git:
        tree.init()
    tree.write("d/a.py")
    (tree.path / "d" / "loop").symlink_to("..")
    (tree.path / "a").symlink_to("b")
    (tree.path / "b").symlink_to("a")
    (tree.path / "again.py").symlink_to("d/a.py")
    (tree.path / "folder").symlink_to("d")
    assert names(tree.path, follow_links=follow_links) == ["d/a.py"]


def test_a_link_that_leads_out_is_not_followed_but_named(tree: Tree, tmp_path: Path) -> None:
    outside = Tree(tmp_path / "outside")
    outside.write("secret.py")
    tree.init()
    tree.write("a.py")
    (tree.path / "out").symlink_to(outside.path)
    (tree.path / "one.py").symlink_to(outside.path / "secret.py")
    (tree.path / "broken").symlink_to(outside.path / "nothing")
    for follow_links in (False, True):
        found = listing(tree.path, follow_links=follow_links)
        assert [entry.path for entry in found.entries] == [b"a.py"]
        assert sorted(skip.path for skip in found.skips if skip.reason is SkipReason.OUTSIDE) == [b"one.py", b"out"]


def test_followed_links_admit_what_a_rule_leaves_out(tree: Tree) -> None:
    tree.init()
    tree.write(".gitignore", "build/\n")
    tree.write("build/docs/a.md")
    tree.write("build/docs/b.md")
    tree.write("build/c.md")
    (tree.path / "docs").symlink_to("build/docs")
    (tree.path / "first.md").symlink_to("build/docs/a.md")
    (tree.path / "repository").symlink_to(".git")
    assert names(tree.path) == []
    assert names(tree.path, follow_links=True) == ["build/docs/a.md", "build/docs/b.md"]


def test_files_below_a_folder_that_became_a_link_are_gone(tree: Tree, tmp_path: Path) -> None:
    """Git's index still names them, and reading them would lead out of the root."""
    outside = Tree(tmp_path / "outside")
    outside.write("key.py", "secret")
    tree.init()
    tree.write("src/key.py")
    tree.write("src/deep/key.py")
    tree.write("a.py")
    tree.commit()
    (tree.path / "src").rename(tmp_path / "moved")
    (tree.path / "src").symlink_to(outside.path)
    assert names(tree.path) == ["a.py"]


def test_large_files_are_skipped_with_their_size(tree: Tree) -> None:
    tree.write("big.py", b"x" * 2_000_000)
    tree.write("small.py")
    found = listing(tree.path, max_file_bytes=1_500_000)
    assert [entry.path for entry in found.entries] == [b"small.py"]
    assert [(skip.path, skip.reason, skip.detail) for skip in found.skips] == [
        (b"big.py", SkipReason.TOO_BIG, "2.0 MB, limit 1.5 MB")
    ]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may reach; pytest's own is for one user."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextlib.contextmanager
def ordinary_user() -> Iterator[None]:
    """As a user whom permissions bind, also when the tests are run by root."""
    is_super = os.geteuid() == 0
    if is_super:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_super:
            os.seteuid(0)


@pytest.mark.skipif(os.name != "posix", reason="permissions work differently")
@pytest.mark.parametrize("kind", ["plain", "tracked", "untracked", "subfolder"])
def test_a_forbidden_folder_is_named_and_the_rest_is_listed(open_folder: Path, kind: str) -> None:
    """I5: as an ordinary user."""
    tree = Tree(open_folder / "tree")
    if kind != "plain":
        tree.init()
    tree.write("in/good/a.py")
    tree.write("in/top/locked/b.py")
    tree.write("in/top/locked/c.py")
    if kind == "tracked":
        tree.commit()
    locked = tree.path / "in" / "top" / "locked"
    start = tree.path / "in" if kind == "subfolder" else tree.path
    listing(start)  # everything is imported
    locked.chmod(0)
    try:
        with ordinary_user():
            found = listing(start)
    finally:
        locked.chmod(0o755)
    prefix = b"" if kind == "subfolder" else b"in/"
    assert [entry.path for entry in found.entries] == [prefix + b"good/a.py"]
    assert [(skip.path, skip.reason) for skip in found.skips] == [(prefix + b"top/locked", SkipReason.UNREADABLE)]


@pytest.mark.skipif(os.name != "posix", reason="permissions work differently")
def test_a_forbidden_root_is_refused_in_words(open_folder: Path) -> None:
    locked = open_folder / "locked"
    locked.mkdir()
    locked.chmod(0)
    with ordinary_user(), pytest.raises(UnreadableError, match="cannot be read: Permission denied"):
        open_root(locked)
    with pytest.raises(UnreadableError, match="does not exist"):
        open_root(open_folder / "nothing")
    (open_folder / "file").write_text("x")
    with pytest.raises(UnreadableError, match="is not a folder"):
        open_root(open_folder / "file")


# --- names, order, repetition


@pytest.mark.parametrize("with_git", [True, False])
def test_names_of_every_kind_are_listed_as_bytes(tree: Tree, with_git: bool) -> None:
    """J1, J3, J5."""
    given = [
        b"caf\xe9.py",
        b"--sample.py",
        b"-rf.py",
        b"app/[id]/[...slug]/page.tsx",
        b"[0].py",
        b"a b\t.py",
        b"new\nline.py",
        b":x.py",
        b"*.py",
    ]
    if with_git:
        tree.init()
    try:
        for name in given:
            tree.write(name)
    except OSError:
        pytest.skip("the file system does not take such names")
    for committed in (False, True):
        if committed and with_git:
            tree.commit()
        assert [entry.path for entry in listing(tree.path).entries] == sorted(given)


def test_entries_of_an_earlier_listing_are_used_again(tree: Tree) -> None:
    tree.init()
    tree.write("a.py")
    tree.write("b.py")
    root = open_root(tree.path)
    first = list_files(root, CorpusSettings())
    tree.write("b.py", "longer\n")
    tree.write("c.py")
    second = list_files(root, CorpusSettings(), previous=first)
    assert second.entries[0] is first.entries[0]
    assert second == list_files(root, CorpusSettings())
    assert [entry.path for entry in second.entries] == [b"a.py", b"b.py", b"c.py"]


@pytest.mark.parametrize("with_git", [True, False])
def test_a_cancelled_listing_ends(tree: Tree, with_git: bool) -> None:
    if with_git:
        tree.init()
    tree.write("a.py")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list_files(open_root(tree.path), CorpusSettings(), token)


def test_an_ignore_file_made_since_the_earlier_listing_counts(tree: Tree) -> None:
    """The earlier listing's knowledge of folders without ignore files is only used while they are untouched."""
    tree.init()
    for folder in ("a", "b/c"):
        tree.write(f"{folder}/x.py")
        tree.write(f"{folder}/y.py")
    root = open_root(tree.path)
    first = list_files(root, CorpusSettings())
    for folder in ("a", "b", "b/c"):  # as if looked at long after the last change
        assert f"{folder}/".encode() in first.memory.bare
    late = replace(first, memory=replace(first.memory, taken_ns=first.taken_ns + 3_600_000_000_000))
    again = list_files(root, CorpusSettings(), previous=late)
    assert again == first
    assert again.memory.bare == first.memory.bare
    tree.write("b/c/.ignore", "x.py\n")
    tree.write(".mgrepignore", "a/\n")
    expected = [b"b/c/y.py"]
    for previous in (late, first, again):
        assert [entry.path for entry in list_files(root, CorpusSettings(), previous=previous).entries] == expected
