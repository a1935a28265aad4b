"""Git is asked without trusting the repository; where HEAD is; what differs from the last commit."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mgrep_tui.corpus import git
from mgrep_tui.corpus.deciders import deciders_of
from mgrep_tui.corpus.gitdiff import changed_lines, committed, compare_lines
from mgrep_tui.corpus.gitstate import GitState, work_tree_state
from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.sources import is_submodule
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.corpus.watchable import left_out_below, visit_folders
from mgrep_tui.errors import Cancelled, UnreadableError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.settings.config import CorpusSettings
from tests.support.git_trees import Tree


@pytest.fixture(autouse=True)
def own_git_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "tree").init()


# --- a hostile repository


def _ask_everything(path: Path) -> None:
    root = open_root(path)
    list_files(root, CorpusSettings())
    git.head(root)
    work_tree_state(root)
    for name in (b"a.txt", b"missing.txt", b"b.bin"):
        changed_lines(root, name, b"changed\n")
    visit_folders(root, CorpusSettings(), lambda folder: True)
    deciders_of(root, (), CorpusSettings())
    left_out_below(root, (b"a.txt", b"x.log", b"ignored"), CorpusSettings())
    is_submodule(root, b"a.txt", None)


@pytest.mark.skipif(os.name != "posix", reason="the trap is a shell script")
def test_nothing_in_a_repository_runs_a_program(tree: Tree, tmp_path: Path) -> None:
    """Every setting that names a program is set; each program leaves a trace when it runs."""
    trace = tmp_path / "trace"
    trap = tmp_path / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {trace}\ncat\n')
    trap.chmod(0o755)
    tree.write("a.txt", "one\n")
    tree.write("missing.txt", "gone from the object store\n")
    tree.write("b.bin", "two\n")
    tree.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.bin filter=a=b.clean\n")
    tree.commit()
    blob = tree.git("rev-parse", "HEAD:missing.txt").strip().decode()
    (tree.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "diff.external",
        "sequence.editor",
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.a=b.clean.clean",
        "diff.evil.textconv", "diff.evil.command",
        "merge.evil.driver", "credential.helper", "gpg.program", "alias.ls-files", "alias.status", "pager.status", "pager.config",
        "uploadpack.packObjectsHook", "core.alternateRefsCommand", "interactive.diffFilter", "difftool.x.cmd", "tar.x.command",
    ):  # fmt: skip
        value = f"!{trap}" if key.startswith("alias.") else str(trap)
        tree.git("config", key, value)
    tree.git("config", "filter.evil.required", "true")
    tree.write("included", f"[core]\n\tfsmonitor = {trap}\n\tsshCommand = {trap}\n[alias]\n\tcheck-ignore = !{trap}\n")
    tree.git("config", "include.path", str(tree.path / "included"))
    tree.git("config", "submodule.recurse", "true")
    tree.write(".gitignore", "ignored/\n*.log\n")
    tree.write("ignored/x.txt", "x\n")
    tree.git("config", "core.hooksPath", str(tmp_path / "hooks"))
    tree.git("config", "status.submoduleSummary", "true")
    # A partial clone fetches what it lacks, by a transport that is a program.
    for key, value in (
        ("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "origin"), ("remote.origin.promisor", "true"),
        ("remote.origin.partialCloneFilter", "blob:none"), ("remote.origin.url", f"ext::{trap} %S"), ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
    ):  # fmt: skip
        tree.git("config", key, value)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        for folder in (tmp_path / "hooks", tree.path / ".git" / "hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(trap.read_text())
            (folder / name).chmod(0o755)
    program = tree.write("git", trap.read_text())
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    # Git does not trust the stat of such a file: it reads it, and would run its filter.
    for name in ("a.txt", "b.bin"):
        os.utime(tree.path / name, ns=(1, 1))
    trace.unlink(missing_ok=True)
    _ask_everything(tree.path)
    assert not trace.exists(), trace.read_text()
    # The trap works: plain git falls into it.
    with pytest.raises(Exception, match=r"."):
        tree.git("status")
        tree.git("cat-file", "-p", "HEAD:missing.txt")
    assert trace.exists()


def test_the_environment_does_not_lead_git_elsewhere(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Tree(tmp_path / "other").init()
    other.write("other.c")
    other.commit()
    tree.write("mine.c")
    tree.commit()
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    assert [entry.path for entry in list_files(open_root(tree.path), CorpusSettings()).entries] == [b"mine.c"]
    assert not any(key.startswith("GIT_DIR") or "SSH" in key for key in git.clean_environment(os.environ))


def test_a_program_named_git_in_a_relative_folder_is_not_started(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("git", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.chdir(tree.path)
    assert git.program(f".{os.pathsep}{os.pathsep}bin") is None


@pytest.mark.skipif(os.name != "posix", reason="the slow git is a shell script")
def test_git_that_overruns_or_is_not_wanted_is_ended(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Tree(tmp_path / "slow")
    slow.write("git", "#!/bin/sh\nexec sleep 1000\n").chmod(0o755)
    monkeypatch.setenv("PATH", str(slow.path) + os.pathsep + os.environ["PATH"])
    with pytest.raises(UnreadableError, match="did not answer"):
        git.run(tree.path, ("ls-files",), timeout_s=0.1)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        git.run(tree.path, ("ls-files",), token)
    assert changed_lines(open_root(tree.path), b"a.c", b"") == {}


def test_more_output_than_allowed_is_a_failure(tree: Tree) -> None:
    tree.write("a.txt", "x" * 300_000)
    tree.commit()
    with pytest.raises(UnreadableError, match="more than"):
        git.run(tree.path, ("cat-file", "blob", "HEAD:a.txt"), max_bytes=100_000)


# --- HEAD


def test_head_before_the_first_commit_on_a_branch_detached_and_packed(tree: Tree, tmp_path: Path) -> None:
    """O1, K5."""
    root = open_root(tree.path)
    assert git.head(root) == git.Head("", "main")
    tree.write("a.c")
    commit = tree.commit()
    assert git.head(root) == git.Head(commit, "main")
    tree.git("checkout", "-q", "-b", "feature/größe")
    assert git.head(root) == git.Head(commit, "feature/größe")
    tree.git("pack-refs", "--all")
    assert git.head(root) == git.Head(commit, "feature/größe")
    tree.git("checkout", "-q", "--detach")
    assert git.head(root) == git.Head(commit)
    assert git.head(root).is_detached
    tree.git("worktree", "add", "-q", "-b", "linked", str(tmp_path / "w"))
    linked = Tree(tmp_path / "w")
    linked.write("b.c")
    second = linked.commit()
    assert git.head(open_root(linked.path)) == git.Head(second, "linked")
    assert git.head(open_root(tree.path)) == git.Head(commit)
    assert git.head(open_root(tmp_path)) == git.Head()


def test_two_work_trees_have_their_own_git_folder(tree: Tree, tmp_path: Path) -> None:
    """K5."""
    tree.commit()
    tree.git("worktree", "add", "-q", str(tmp_path / "w"))
    one, two = open_root(tree.path), open_root(tmp_path / "w")
    assert one.git_dir != two.git_dir
    assert one.common_dir == two.common_dir == tree.path / ".git"
    assert (two.git_top, two.prefix) == (tmp_path / "w", b"")


# --- the work tree against the last commit


def test_state_of_the_work_tree(tree: Tree) -> None:
    tree.write(".gitignore", "*.o\n")
    for name in ("same.c", "edited.c", "staged.c", "gone.c", "old name.c", "sub/deep.c"):
        tree.write(name)
    tree.commit()
    tree.write("edited.c", "y\n")
    tree.write("staged.c", "y\n")
    tree.git("add", "staged.c")
    (tree.path / "gone.c").unlink()
    tree.git("mv", "old name.c", "new name.c")
    tree.write("sub/new/file.c")
    tree.write("x.o")
    tree.write(b"caf\xe9.c")
    state = work_tree_state(open_root(tree.path))
    assert state.untracked == {b"sub/new/file.c", b"caf\xe9.c"}
    assert state.dirty == state.untracked | {b"edited.c", b"staged.c", b"gone.c", b"old name.c", b"new name.c"}
    assert work_tree_state(open_root(tree.path / "sub")) == GitState(
        frozenset({b"new/file.c"}), frozenset({b"new/file.c"})
    )


def test_without_git_there_is_no_state(tmp_path: Path) -> None:
    assert work_tree_state(open_root(tmp_path)) == GitState()


def test_changed_lines_of_a_file(tree: Tree) -> None:
    old = b"".join(b"line %d\n" % number for number in range(20))
    tree.write("sub/a.c", old)
    tree.write("b.c", "never committed\n")
    tree.git("add", "sub/a.c")
    tree.git("commit", "-q", "-m", "one")
    new = old.replace(b"line 3\n", b"LINE 3\n").replace(b"line 8\n", b"").replace(b"line 12\n", b"line 12\nmore\n")
    expected = {3: "changed", 8: "removed", 12: "added"}
    root = open_root(tree.path)
    assert changed_lines(root, b"sub/a.c", new) == expected
    assert changed_lines(root, b"sub/a.c", new.replace(b"\n", b"\r\n")) == expected
    assert changed_lines(open_root(tree.path / "sub"), b"a.c", new) == expected
    assert changed_lines(root, b"sub/a.c", old) == {}
    assert changed_lines(root, b"sub/a.c", old[: -len(b"line 19\n")]) == {19: "removed"}
    assert changed_lines(root, b"b.c", b"x\n") == {}
    assert changed_lines(root, b"sub/a.c", b"\x00\x01\x02\x03\x04\x05\x06\x07") == {}
    tree.commit("two")  # the last commit counts, not the first that was asked for
    assert changed_lines(root, b"b.c", b"x\n") == {0: "changed"}


def test_changed_lines_in_a_nested_repository_are_against_its_own_commit(tree: Tree) -> None:
    inner = Tree(tree.path / "vendor" / "inner").init()
    inner.write("a.c", "one\ntwo\n")
    inner.commit()
    assert changed_lines(open_root(tree.path), b"vendor/inner/a.c", b"one\nTWO\n") == {1: "changed"}
    assert committed(open_root(tree.path), b"vendor/inner/a.c") == b"one\ntwo\n"


def test_lines_are_compared_in_bounded_time() -> None:
    old = [b"old %d" % number for number in range(30_000)]
    new = [b"new %d" % number for number in range(30_000)]
    new[5] = old[7]
    marks = compare_lines(old, new)
    assert len(marks) == 29_999
    assert 5 not in marks


def test_a_configured_work_tree_elsewhere_does_not_empty_the_folder(tree: Tree, tmp_path: Path) -> None:
    """`core.worktree` may name a folder that exists, and git would list that one; what was opened is what is searched."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.txt").write_text("other\n")
    for name, content in {
        "a.txt": "one\n",
        "below/b.txt": "two\n",
        ".gitignore": "*.log\n",
        "c.log": "three\n",
    }.items():
        tree.write(name, content)
    tree.git("add", "a.txt")
    tree.git("config", "core.worktree", str(elsewhere))
    listed = [entry.path for entry in list_files(open_root(tree.path), CorpusSettings()).entries]
    assert listed == [b"a.txt", b"below/b.txt"]
    below = list_files(open_root(tree.path / "below"), CorpusSettings())
    assert [entry.path for entry in below.entries] == [b"b.txt"]
