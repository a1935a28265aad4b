"""Repositories brought with git from a real server on this machine: cloned, refreshed, cancelled, refused; never half."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mgrep_tui.errors import Cancelled, MgrepError
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.repositories import git_process, git_transfer
from mgrep_tui.repositories.addresses import parse_address
from mgrep_tui.repositories.arrival import Arrivals
from tests.support.arrivals import World, command_lines, project
from tests.support.git_trees import Tree


def test_one_commit_comes_without_history_and_tags(world: World) -> None:
    tree = project(world)
    tree.git("tag", "v1")
    kept = world.bring(world.address("ada/engine"))
    assert (kept.tree / "src/main.py").read_text() == "def run():\n    return 2\n"
    assert kept.record.commit == tree.git("rev-parse", "HEAD").strip().decode()
    clone = Tree(kept.tree)
    assert clone.git("rev-list", "--count", "HEAD").strip() == b"1"
    assert clone.git("tag", "-l") == b""
    assert clone.git("status", "--porcelain") == b""
    assert clone.git("config", "remote.origin.url").strip().decode() == world.forge.url("ada/engine")
    assert not (kept.tree / ".git" / "hooks").exists()
    assert kept.tree.name == "engine"
    assert world.left() == [kept.folder.name]


@pytest.mark.parametrize("kind", ["branch", "branch with a slash", "tag", "commit"])
def test_a_ref_may_be_a_branch_a_tag_or_a_commit(world: World, kind: str) -> None:
    tree = project(world)
    first = tree.git("rev-parse", "HEAD~1").strip().decode()
    tree.git("branch", "old", first)
    tree.git("branch", "feature/old", first)
    tree.git("tag", "-a", "v0@1", "-m", "a tag object", first)
    ref = {"branch": "old", "branch with a slash": "feature/old", "tag": "v0@1", "commit": first}[kind]
    kept = world.bring(world.address("ada/engine", ref))
    assert (kept.record.commit, (kept.tree / "src/main.py").read_text()) == (first, "def run():\n    return 1\n")


def test_two_refs_of_one_repository_stand_beside_each_other(world: World) -> None:
    tree = project(world)
    tree.git("branch", "old", "HEAD~1")
    whole, old = world.bring(world.address("ada/engine")), world.bring(world.address("ada/engine", "old"))
    assert whole.folder != old.folder
    assert [kept.name for kept in world.store.all()] == ["engine", "engine@old"]


def test_what_is_there_opens_without_the_network(world: World) -> None:
    project(world)
    address = world.address("ada/engine")
    first = world.bring(address)
    world.forge.status = 500
    again = world.bring(address)
    assert again.tree == first.tree
    kept, note = world.refresh(again, address)
    assert (kept.tree / "src/main.py").exists()
    assert "as of" in note


def test_a_refresh_brings_what_is_new_even_after_a_forced_push(world: World) -> None:
    tree = project(world)
    address = world.address("ada/engine")
    kept = world.bring(address)
    tree.git("reset", "-q", "--hard", "HEAD~1")
    tree.write("other.py", "x = 1\n")
    (tree.path / "src/main.py").unlink()
    newest = tree.commit("another history")
    kept, note = world.refresh(kept, address)
    assert (note, kept.record.commit) == ("", newest)
    assert (kept.tree / "other.py").exists()
    assert not (kept.tree / "src").exists()
    assert Tree(kept.tree).git("status", "--porcelain") == b""


def test_a_branch_that_is_gone_leaves_what_was_there(world: World) -> None:
    tree = project(world)
    tree.git("branch", "old", "HEAD~1")
    address = world.address("ada/engine", "old")
    kept = world.bring(address)
    tree.git("branch", "-D", "old")
    kept, note = world.refresh(kept, address)
    assert "no branch, tag or commit 'old'" in note
    assert (kept.tree / "src/main.py").read_text() == "def run():\n    return 1\n"


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (404, {}, "There is no repository ada/none"),
        (429, {"Retry-After": "60"}, "takes no more requests"),
        (403, {}, "does not let us read"),
        (500, {}, "could not be fetched"),
    ],
)
def test_what_a_server_refuses_is_a_sentence(world: World, status: int, headers: dict[str, str], expected: str) -> None:
    world.forge.status, world.forge.headers = status, headers
    with pytest.raises(MgrepError, match=expected):
        world.bring(world.address("ada/none"))
    assert world.left() == []


def test_a_wrong_ref_is_a_sentence(world: World) -> None:
    project(world)
    with pytest.raises(MgrepError, match="no branch, tag or commit 'nope' in ada/engine"):
        world.bring(world.address("ada/engine", "nope"))
    assert world.left() == []


def test_no_network_is_a_sentence(world: World) -> None:
    address = parse_address("http://127.0.0.1:1/ada/engine")
    assert address is not None
    with pytest.raises(MgrepError, match="cannot be reached"):
        world.bring(address)


def test_cancelling_leaves_nothing_and_no_process(world: World) -> None:
    project(world)
    world.forge.hangs = True
    cancel = CancelToken()
    ended = threading.Event()

    def run() -> None:
        try:
            world.bring(world.address("ada/engine"), cancel)
        except Cancelled:
            ended.set()

    threading.Thread(target=run).start()
    assert world.forge.began.wait(30)
    cancel.cancel()
    assert ended.wait(10)
    assert world.left() == []
    assert not any(world.forge.host.encode() in line for line in command_lines())


def test_a_cancelled_refresh_leaves_the_tree_as_it_was(world: World) -> None:
    tree = project(world)
    address = world.address("ada/engine")
    kept = world.bring(address)
    before = (kept.tree / "src/main.py").read_text()
    tree.write("src/main.py", "new")
    tree.commit()
    world.forge.began.clear()
    world.forge.hangs = True
    cancel = CancelToken()
    ended = threading.Event()

    def run() -> None:
        try:
            Arrivals(world.store, world.settings, world.environ).refresh(kept, address, cancel, world.said.append)
        except Cancelled:
            ended.set()

    threading.Thread(target=run).start()
    assert world.forge.began.wait(30)
    cancel.cancel()
    assert ended.wait(10)
    assert (kept.tree / "src/main.py").read_text() == before
    world.forge.hangs = False
    world.forge.hang.set()
    kept, note = world.refresh(kept, address)
    assert (note, (kept.tree / "src/main.py").read_text()) == ("", "new")


def test_a_default_branch_that_is_not_there_is_said(world: World) -> None:
    tree = project(world)
    tree.git("symbolic-ref", "HEAD", "refs/heads/gone")
    with pytest.raises(MgrepError, match=r"no commit on the default branch of ada/engine\. Name a branch"):
        world.bring(world.address("ada/engine"))
    assert world.bring(world.address("ada/engine", "main"))


def test_a_repository_of_the_other_hash_is_cloned_and_may_change_to_it(world: World) -> None:
    tree = Tree(world.forge.folder / "ada/engine")
    tree.git("init", "-q", "-b", "main", "--object-format=sha256")
    tree.write("a.py", "one\n")
    first = tree.commit()
    address = world.address("ada/engine")
    kept = world.bring(address)
    assert (len(first), kept.record.commit) == (64, first)
    assert world.refresh(kept, address)[1] == ""
    shutil.rmtree(tree.path)
    tree = world.forge.repository("ada/engine")
    tree.write("a.py", "two\n")
    replaced = tree.commit()
    kept, note = world.refresh(kept, address)
    assert (note, kept.record.commit, (kept.tree / "a.py").read_text()) == ("", replaced, "two\n")


def test_a_plain_web_server_gives_the_whole_history(world: World, tmp_path: Path) -> None:
    """Git's old transport, files below a folder, knows no shallow clones."""
    tree = project(world)
    tree.git("clone", "-q", "--bare", ".", str(tmp_path / "www" / "n.git"))
    Tree(tmp_path / "www" / "n.git").git("update-server-info")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *given: object) -> None:
            return None

    handler = partial(Quiet, directory=str(tmp_path / "www"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = parse_address(f"http://127.0.0.1:{server.server_address[1]}/n.git")
        assert address is not None
        kept = world.bring(address)
        assert world.refresh(kept, address)[1] == ""
        server.shutdown()
    assert (kept.tree / "src/main.py").read_text() == "def run():\n    return 2\n"


def test_a_tag_of_a_file_is_no_commit(world: World) -> None:
    tree = project(world)
    tree.git("tag", "key", "HEAD:src/main.py")
    with pytest.raises(MgrepError, match="'key' of ada/engine is a tag of something that is no commit"):
        world.bring(world.address("ada/engine", "key"))


def test_nothing_of_the_repository_or_of_the_persons_filters_runs(world: World) -> None:
    tree = world.forge.repository("mal/lory")
    ran = world.home / "ran"
    tree.write(".gitattributes", "* filter=evil diff=evil\n*.lfs filter=lfs\n")
    tree.write(".gitmodules", '[submodule "s"]\n\tpath = s\n\turl = ../engine\n')
    tree.write("a.txt", "text\n")
    tree.write("b.lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    tree.commit()
    touch = f"touch '{ran}'"
    (world.home / "gitconfig").write_text(
        f'[filter "evil"]\n\tsmudge = "{touch}; cat"\n\trequired = true\n[filter "lfs"]\n\tsmudge = "{touch}; cat"\n'
        f'[init]\n\ttemplateDir = {world.home / "template"}\n[core]\n\tfsmonitor = "{touch}"\n'
        f"\thooksPath = {world.home / 'template/hooks'}\n"
    )
    hooks = world.home / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\n{touch}\n")
        (hooks / name).chmod(0o755)
    kept = world.bring(world.address("mal/lory"))
    assert (kept.tree / "a.txt").read_text() == "text\n"
    assert (kept.tree / "b.lfs").read_text().startswith("version")
    assert not ran.exists()


def test_a_file_address_is_cloned_too(world: World) -> None:
    tree = project(world, "with space/engine")
    address = parse_address("file://" + str(tree.path).replace(" ", "%20"))
    assert address is not None
    kept = world.bring(address)
    assert kept.name == "engine"
    assert (kept.tree / "src/main.py").read_text() == "def run():\n    return 2\n"


def test_listed_found_and_removed(world: World) -> None:
    project(world)
    kept = world.bring(world.address("ada/engine"))
    for name in (
        "engine",
        "ADA/engine",
        world.forge.url("ada/engine"),
        f"{world.forge.host}/ada/engine",
        kept.folder.name,
    ):
        assert world.store.find(name) == [kept], name
    assert world.store.find("other") == []
    assert world.store.of_tree(kept.tree) == kept
    assert world.store.of_tree(world.home) is None
    os.chmod(kept.tree / "src", stat.S_IRUSR | stat.S_IXUSR)
    assert world.store.remove(kept) > 1000
    assert world.store.all() == []
    assert not kept.folder.exists()
    assert world.left() == []


def test_ssh_never_asks(world: World) -> None:
    """A host whose key nobody knows, and an ssh that says what it was given."""
    seen = world.home / "seen"
    ssh = world.home / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" > "{seen}"\necho "Host key verification failed." >&2\nexit 255\n')
    ssh.chmod(0o755)
    address = parse_address("git@git.example.org:ada/engine.git")
    assert address is not None
    with pytest.raises(MgrepError, match="not known to ssh"):
        world.bring(address, environ={"GIT_SSH_COMMAND": str(ssh)})
    assert "-oBatchMode=yes" in seen.read_text()


def test_the_ssh_of_the_persons_configuration_is_used(world: World) -> None:
    """A key of its own for some repositories; git was given plain `ssh` in its place."""
    seen = world.home / "seen"
    ssh = world.home / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" > "{seen}"\nexit 255\n')
    ssh.chmod(0o755)
    (world.home / "gitconfig").write_text(f"[core]\n\tsshCommand = {ssh} -i work_key\n")
    address = parse_address("git@git.example.org:ada/engine.git")
    assert address is not None
    with pytest.raises(MgrepError):
        world.bring(address)
    assert "-i work_key" in seen.read_text()
    assert "-oBatchMode=yes" in seen.read_text()


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("fatal: Could not resolve host: github.com", "github.com cannot be reached"),
        ("fatal: unable to access 'x': Failed to connect to github.com port 443", "cannot be reached"),
        ("error: RPC failed; curl 56 Recv failure\nfatal: early EOF", "cannot be reached"),
        ("remote: fatal: unable to read 3ba0ce\nfatal: early EOF\n", "is damaged: unable to read 3ba0ce"),
        (
            "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
            "does not let us read o/n",
        ),
        (
            "remote: Invalid username or token.\nfatal: Authentication failed for 'https://github.com/o/n/'",
            "does not let us",
        ),
        ("git@github.com: Permission denied (publickey).", "does not let us"),
        (
            "remote: Repository not found.\nfatal: repository 'https://github.com/o/n/' not found",
            "There is no repository o/n",
        ),
        ("remote: The project you were looking for could not be found", "There is no repository o/n"),
        ("fatal: couldn't find remote ref nope", "no branch, tag or commit 'nope' in o/n"),
        ("fatal: remote error: upload-pack: not our ref 0123", "no branch, tag or commit"),
        ("The requested URL returned error: 429", "takes no more requests"),
        ("fatal: detected dubious ownership in repository at '/srv/n'", "belongs to somebody else"),
        ("fatal: unable to access: SSL certificate problem: self signed", "is not safe"),
        ("error: object 12ab: hasDotgit: contains '.git'\nfatal: fsck error in packed object", "takes for unsound"),
        ("fatal: something new", "could not be fetched: fatal: something new"),
        ("", "could not be fetched"),
    ],
)
def test_what_git_says_in_words_for_a_person(said: str, expected: str) -> None:
    address = parse_address("github:o/n@nope")
    assert address is not None
    error = git_transfer.explained(git_process.GitFailedError(said), address)
    assert expected in error.message
    assert "\n" not in error.message
