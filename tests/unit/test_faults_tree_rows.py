"""Rows I to P of the faults through the whole explorer: special files, ignore rules, git, freshness, damage, content."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers import Observer

from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.index import worker as workers
from mgrep_tui.index.inotify import Inotify
from mgrep_tui.model import Mode
from mgrep_tui.settings.config import CorpusSettings, Settings
from tests.support.explored import WAYS, Explored, ask, index_small_trees
from tests.support.git_trees import Tree
from tests.support.index_world import wait_until

FILLER: dict[str | bytes, bytes | str] = {f"fill/f{number}.py": f"filler {number}\n" for number in range(9)}


@pytest.fixture(autouse=True)
def own_git_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    index_small_trees(monkeypatch)


@pytest.fixture
def explored(tmp_path: Path) -> Iterator[Explored]:
    made = Explored(tmp_path)
    yield made
    made.close()


def paths(explorer: LocalExplorer, query: str, **options: object) -> list[str]:
    return sorted({path for path, _ in ask(explorer, query, **options).lines})


def both(explored: Explored, query: str) -> list[str]:
    """The files with a hit: through an index, equal to a scan."""
    through_index = paths(explored.open(), query)
    assert through_index == paths(explored.open(works=False), query)
    explored.close()
    return through_index


# --- I: special files, links, permissions


@pytest.mark.parametrize("is_git", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_special_files_are_passed_over(explored: Explored, way: str, is_git: bool) -> None:
    """I1: pipes and sockets under every name that somebody might read, and a link to a pipe."""
    if is_git:
        Tree(explored.path).init()
    explorer = explored.found_by(way, {"a.py": "needle\n", "sub/b.py": "needle\n", **FILLER})
    names = ["pipe.py", ".ignore", ".mgrepignore", "sub/.mgrepignore", "sub/README.md", ".mgrep-tui.toml"]
    # Git itself would wait for ever for a pipe of this name.
    names += [] if is_git else [".gitignore", "sub/.gitignore"]
    for name in names:
        os.mkfifo(explored.path / name)
    (explored.path / "link.py").symlink_to("pipe.py")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(explored.path / "sock.py"))
        assert paths(explorer, "needle") == ["a.py", "sub/b.py"]
        os.unlink(explored.path / "a.py")
        os.mkfifo(explored.path / "a.py")
        assert paths(explorer, "needle") == ["sub/b.py"]
        shown = explorer.preview(b"a.py", 0, 0, 10, 80, is_coloured=True)
        assert shown.notice and not shown.lines
    assert both(explored, "needle") == ["sub/b.py"]


@pytest.mark.parametrize("follows", [False, True])
def test_links_in_circles_end(explored: Explored, follows: bool) -> None:
    """I3: each real file once."""
    explored.settings = Settings(corpus=CorpusSettings(follow_links=follows))
    explored.write({"d/a.py": "needle\n", "d/e/b.py": "needle\n", **FILLER})
    for name, target in (
        ("d/loop", ".."),
        ("d/e/up", "../.."),
        ("a", "b"),
        ("b", "a"),
        ("self", "self"),
        ("again", "d"),
        ("f.py", "d/a.py"),
    ):
        (explored.path / name).symlink_to(target)
    assert both(explored, "needle") == ["d/a.py", "d/e/b.py"]


def test_links_never_lead_out(explored: Explored, tmp_path: Path) -> None:
    """I3: not even where links are followed."""
    explored.settings = Settings(corpus=CorpusSettings(follow_links=True))
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/s.py").write_text("needle\n")
    explored.write({"a.py": "needle\n"})
    (explored.path / "out").symlink_to(tmp_path / "secret")
    (explored.path / "s.py").symlink_to(tmp_path / "secret/s.py")
    assert both(explored, "needle") == ["a.py"]


# --- K: ignore rules


def test_ignore_rules_as_git_has_them(explored: Explored) -> None:
    """K1, K7, K11: nothing under an ignored folder comes back; what git tracks is searched; rules above the repository do not count."""
    (explored.path.parent / ".gitignore").write_text("*\n")
    tree = Tree(explored.path).init()
    explored.write({
        ".gitignore": "build\n!keep.log\n*.log\nout/*\n!out/kept.py\n", "build/keep.log": "needle\n", "build/x/keep.log": "needle\n",
        "secret.log": "needle\n", "other.log": "needle\n", "out/kept.py": "needle\n", "out/lost.py": "needle\n", "a.py": "needle\n",
        **FILLER,
    })  # fmt: skip
    tree.git("add", "-f", "secret.log")
    assert both(explored, "needle") == ["a.py", "out/kept.py", "secret.log"]
    tree.git("rm", "-q", "--cached", "secret.log")
    assert both(explored, "needle") == ["a.py", "out/kept.py"]


def test_rules_above_the_folder_that_is_opened(explored: Explored, tmp_path: Path) -> None:
    """K3: the same files as from the top."""
    tree = Tree(explored.path).init()
    explored.write({
        ".gitignore": "**/bar/*\n/foo/baz/\n*.tmp\n", "foo/bar/x.py": "needle\n", "foo/baz/y.py": "needle\n", "foo/z.py": "needle\n",
        "foo/t.tmp": "needle\n", "foo/deep/bar/q.py": "needle\n", "foo/deep/baz/r.py": "needle\n",
    })  # fmt: skip
    assert tree
    assert both(explored, "needle") == ["foo/deep/baz/r.py", "foo/z.py"]
    inner = Explored(tmp_path / "inner", root=explored.path / "foo")
    assert both(inner, "needle") == ["deep/baz/r.py", "z.py"]


def test_linked_work_trees_have_their_own_index(explored: Explored, tmp_path: Path) -> None:
    """K5: excludes of the repository hold in both; each has an index of its own."""
    tree = Tree(explored.path).init()
    explored.write({"a.py": "needle\n", "ignored": "needle\n"})
    (explored.path / ".git/info").mkdir(exist_ok=True)
    (explored.path / ".git/info/exclude").write_text("ignored\n")
    tree.commit()
    tree.git("worktree", "add", "-q", "../linked", "-b", "side")
    linked = Explored(tmp_path, root=tmp_path / "linked")
    (linked.path / "ignored").write_text("needle\n")
    (linked.path / "b.py").write_text("needle\n")
    assert both(explored, "needle") == ["a.py"]
    assert both(linked, "needle") == ["a.py", "b.py"]
    assert len(list((tmp_path / "home/cache/roots").iterdir())) == 2
    health = linked.open().health()
    assert health.branch == "side" and len(health.commit) == 40
    linked.close()


def test_repositories_in_the_repository(explored: Explored, tmp_path: Path) -> None:
    """K9: a submodule and a clone inside are searched, each file once."""
    other = Tree(tmp_path / "other").init()
    other.write("lib.py", "needle\n")
    other.commit()
    tree = Tree(explored.path).init()
    explored.write({"a.py": "needle\n"})
    tree.git("submodule", "--quiet", "add", os.fspath(other.path), "mod")
    tree.git("clone", "-q", os.fspath(other.path), "nested")
    tree.commit()
    found = ask(explored.open(), "needle").lines
    assert sorted(found) == [("a.py", 1), ("mod/lib.py", 1), ("nested/lib.py", 1)]
    explored.close()
    assert both(explored, "needle") == ["a.py", "mod/lib.py", "nested/lib.py"]


# --- L: freshness


def test_branches_that_differ_in_many_files(explored: Explored) -> None:
    """L5: right at once after each checkout, never an empty index, and quiet afterwards."""
    tree = Tree(explored.path).init()
    explored.write({f"d{number % 20}/f{number}.py": f"on_main {number}\n" for number in range(600)})
    tree.commit()
    tree.git("checkout", "-q", "-b", "other")
    explored.write({f"d{number % 20}/f{number}.py": f"on_other {number}\n" for number in range(600)})
    tree.commit()
    explorer = explored.open(watch=True)
    for branch in ("main", "other", "main", "other"):
        tree.git("checkout", "-q", branch)
        answer = ask(explorer, f"on_{branch}")
        assert len(answer.hits) == 600 and answer.outcome.is_verified
        assert ask(explorer, f"on_{'other' if branch == 'main' else 'main'}").hits == []
    worker = explorer._parts()._worker
    assert worker is not None
    wait_until(lambda: not worker.snapshot().extra and worker.health().state.value == "ready", "quiet")
    assert len(ask(explorer, "on_other").hits) == 600


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE, errno.ENOMEM])
def test_watching_that_cannot_be_had_is_said(explored: Explored, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """L9: the program runs, says so, and finds what was just written."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Observer, "schedule", refused)
    monkeypatch.setattr(Observer, "start", refused)
    monkeypatch.setattr(Inotify, "add", refused)
    explored.write({"a.py": "needle\n", **FILLER})
    explorer = explored.open(watch=True)
    wait_until(lambda: not explorer.health().watcher.startswith("watching"), "a word about it")
    assert "search" in explorer.health().watcher or "poll" in explorer.health().watcher
    explored.write({"b.py": "needle\n"})
    assert paths(explorer, "needle") == ["a.py", "b.py"]


@pytest.mark.parametrize("watch", [False, True])
def test_what_was_written_is_found_at_once(explored: Explored, watch: bool) -> None:
    """L1, L7, L11: by writing, by renaming over, by moving in, in folders made just now, and by changes that leave size and time."""
    explored.write({"a.py": "needle a\n", "b.py": "needle b\n", **FILLER})
    explorer = explored.open(watch=watch)
    for number in range(30):
        folder = explored.path / f"n{number}/x/y"
        folder.mkdir(parents=True)
        (folder / "f.py").write_text(f"made_{number} x\n")
        assert paths(explorer, f"made_{number}\\b") == [f"n{number}/x/y/f.py"]
    (explored.path / ".a.tmp").write_text("renamed over\n")
    os.replace(explored.path / ".a.tmp", explored.path / "a.py")
    outside = explored.path.parent / "outside.py"
    outside.write_text("moved in\n")
    os.replace(outside, explored.path / "b.py")
    assert paths(explorer, "renamed over|moved in") == ["a.py", "b.py"]
    assert paths(explorer, "needle") == []
    before = os.stat(explored.path / "b.py")
    (explored.path / "b.py").write_text("moved on\n")
    os.utime(explored.path / "b.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert paths(explorer, "moved on") == ["b.py"]
    shutil.rmtree(explored.path / "n1")
    assert paths(explorer, "made_1 ") == []


def test_what_was_deleted_while_not_running_is_gone(explored: Explored) -> None:
    """L3: in both modes."""
    explored.write({f"mod/m{number}.py": f"def gone_{number}():\n    return 'needle'\n" for number in range(12)})
    explored.write({"a.py": "def kept():\n    return 'needle'\n"})
    explorer = explored.open(semantic=True)
    assert ask(explorer, "gone_3", Mode.SEMANTIC).hits[0].path == b"mod/m3.py"
    explored.close()
    shutil.rmtree(explored.path / "mod")
    explorer = explored.open(semantic=True)
    assert paths(explorer, "needle") == ["a.py"]
    assert {hit.path for hit in ask(explorer, "gone_3 needle", Mode.SEMANTIC).hits} == {b"a.py"}


def test_files_that_vanish_under_a_search(explored: Explored) -> None:
    """L15, M8: deleted, cut to nothing and rewritten by others all the while; no error, and the quiet files are always found."""
    explored.write(
        {f"d/f{number}.py": f"needle {number}\n" * 50 for number in range(120)} | {"big.log": "x\n" * 100_000}
    )
    explorer = explored.open()
    is_over = threading.Event()

    def disturb() -> None:
        while not is_over.is_set():
            for number in range(60):
                path = explored.path / f"d/f{number}.py"
                if number % 2 and path.exists():
                    path.unlink()
                else:
                    path.write_text("needle\n" * number)
            with (explored.path / "big.log").open("wb") as file:
                file.truncate(0)
                file.write(b"x\n" * 50_000)

    other = threading.Thread(target=disturb)
    other.start()
    try:
        for _ in range(12):
            found = set(paths(explorer, "needle"))
            assert {f"d/f{number}.py" for number in range(60, 120)} <= found
            for path in (b"big.log", b"d/f1.py", b"d/f2.py"):
                explorer.preview(path, 30, 0, 20, 80, is_coloured=True)
    finally:
        is_over.set()
        other.join()
    (explored.path / "d/f70.py").unlink()
    shown = explorer.preview(b"d/f70.py", 0, 0, 20, 80, is_coloured=True)
    assert shown.notice and not shown.lines
    assert "d/f70.py" not in paths(explorer, "needle")


# --- M: index files


def test_copies_on_one_tree_all_answer(explored: Explored, monkeypatch: pytest.MonkeyPatch) -> None:
    """M1: five at once, cold; one writes; the others answer, see what is new, and one takes over."""
    monkeypatch.setattr(workers, "FOLLOW_S", 0.05)
    explored.write({"a.py": "def needle():\n    pass\n", **FILLER})
    copies = [explored.open(semantic=True) for _ in range(5)]
    states = [each.health().state.value for each in copies]
    assert states.count("read-only") == 4
    explored.write({"b.py": "def needle_too():\n    pass\n"})
    for each in copies:
        assert paths(each, "needle") == ["a.py", "b.py"]
    copies[states.index("ready")].close()
    rest = [each for each in copies if each is not copies[states.index("ready")]]
    wait_until(lambda: any(each.health().state.value in ("ready", "indexing") for each in rest), "another writer")
    for each in rest:
        assert paths(each, "needle") == ["a.py", "b.py"]


@pytest.mark.parametrize("how", ["emptied", "noise", "older version"])
def test_a_damaged_index_is_made_again(explored: Explored, how: str) -> None:
    """M10: whatever is in its files, answers equal a scan and are there in both modes."""
    explored.write({"a.py": "def needle():\n    pass\n", **FILLER})
    explored.found_by("indexed", {})
    explored.close()  # else the next one would wait to take over from a copy without meaning
    explored.open(semantic=True)
    explored.close()
    files = [path for path in (explored.home / "cache/roots").rglob("*") if path.is_file()]
    for path in files:
        if how == "emptied":
            path.write_bytes(b"")
        elif how == "noise":
            path.write_bytes(bytes(range(256)) * (path.stat().st_size // 256 + 1))
        elif path.suffix in ("", ".json") or path.name == "CURRENT":
            raw = path.read_bytes()
            path.write_bytes(raw.replace(b'"version": 1', b'"version": 0').replace(b'"format": 1', b'"format": 0'))
    explorer = explored.open(semantic=True)
    assert paths(explorer, "needle") == ["a.py"]
    assert ask(explorer, "needle", Mode.SEMANTIC).hits[0].path == b"a.py"


# --- N, O: content


CONFLICT = """class A:
    def sound_part(self):
        return 1

<<<<<<< HEAD
    def b(self):
=======
    def c(self):
>>>>>>> x
        return 2
"""


def test_files_that_hurt_parsers_harm_nobody(explored: Explored) -> None:
    """N1, N5: deep nesting, half-typed and conflicted files; neighbours have their symbols, and regex mode finds all."""
    explored.write({
        "deep.json": "[" * 5_000 + "]" * 5_000 + "\n",
        "deep.ts": "type A = " + "B<" * 500 + "C" + ">" * 500 + "; // needle\n",
        "deep.rs": "fn a() -> " + "Option<" * 500 + "u8" + ">" * 500 + " { needle() }\n",
        "deep.py": "x = " + "(" * 3_000 + ")" * 3_000 + "\n",
        "deep.c": "int a = " + "-(" * 4_000 + "1" + ")" * 4_000 + "; /* needle */\n",
        "deep.html": "<div>" * 3_000 + "needle\n",
        "conflict.py": CONFLICT,
        "half.py": "def whole_part():\n    return 1\n\n\ndef f(\n",
        "good.py": "def good_one():\n    return 'needle'\n",
        "good.ts": "export function goodTwo() { return 'needle'; }\n",
    })  # fmt: skip
    explorer = explored.open(semantic=True)
    assert paths(explorer, "needle") == ["deep.c", "deep.html", "deep.rs", "deep.ts", "good.py", "good.ts"]
    for name in ("good_one", "goodTwo", "sound_part", "whole_part"):
        assert ask(explorer, f"sym:{name}", Mode.SEMANTIC).hits, name
    assert explorer.health().files_chunked == 10


def test_a_method_in_the_chunk_of_its_class_is_found_by_its_name(explored: Explored) -> None:
    """What the completion of `sym:` offers has hits; a name that is denied still takes its chunk away."""
    methods = "    def retry_upload(self):\n        return 1\n\n    def send(self):\n        return 2\n"
    explored.write({"a.py": "class Uploader:\n" + methods})
    explorer = explored.open(semantic=True)

    def found(query: str) -> list[bytes]:
        return [hit.path for hit in ask(explorer, query, Mode.SEMANTIC).hits]

    assert "sym:retry_upload" in explorer.completions("sym:retry")
    for query in ("sym:retry_upload", "sym:send upload", "kind:method", "kind:class", "class:Uploader", "sym:Uploader"):
        assert found(query) == [b"a.py"], query
    for query in ("-sym:Uploader", "sym:nothing", "kind:enum"):
        assert found(query) == [], query


@pytest.mark.parametrize("shape", ["no commit", "empty folder", "bare", "empty repository", "no git"])
def test_repositories_without_much_in_them(explored: Explored, shape: str) -> None:
    """O1"""
    tree = Tree(explored.path)
    if shape == "bare":
        tree.git("init", "-q", "--bare")
    elif shape in ("no commit", "empty repository"):
        tree.init()
    if shape in ("no commit", "no git"):
        explored.write({"a.py": "def needle():\n    pass\n"})
    explorer = explored.open(semantic=True)
    wanted = ["a.py"] if shape in ("no commit", "no git") else []
    assert paths(explorer, "needle") == wanted
    assert [hit.path.decode() for hit in ask(explorer, "needle", Mode.SEMANTIC).hits] == wanted
    assert explorer.health().state.value == "ready" and not explorer.health().last_error
    assert explorer.health().files_seen == len(wanted) or shape == "bare"


def test_notebook_is_found_by_its_cells(explored: Explored) -> None:
    """O3: the picture in it is no text."""
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo" * 40_000}}

    def code(source: list[str], *outputs: object) -> dict[str, object]:
        return {"cell_type": "code", "metadata": {}, "execution_count": 1, "outputs": outputs, "source": source}

    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n"]},
        code(["import x\n"], picture),
        code(["def needle_cell(a):\n", "    return a\n"]),
    ]
    explored.write(
        {"n.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)}
    )
    explorer = explored.open(semantic=True)
    hits = ask(explorer, "needle_cell", Mode.SEMANTIC).hits
    assert hits and "needle_cell" in hits[0].text
    assert all("iVBORw0KGgo" not in hit.text for hit in ask(explorer, "iVBORw0KGgo picture", Mode.SEMANTIC).hits)
    assert all(len(hit.text) <= 1_000 for hit in ask(explorer, "iVBORw0KGgo").hits)


def test_copies_of_a_file_do_not_fill_the_answer(explored: Explored) -> None:
    """O5"""
    body = "".join(f"def backoff_{number}(attempt):\n    return attempt * {number}\n\n\n" for number in range(40))
    explored.write(
        {f"copy{number}/same.py": body for number in range(60)} | {"other.py": "def unlike():\n    return 'backoff'\n"}
    )
    hits = ask(explored.open(semantic=True), "backoff_7", Mode.SEMANTIC).hits
    texts = [(hit.first_line, hit.text) for hit in hits]
    assert hits and len(texts) == len(set(texts))
    assert hits[0].copies >= 50


# --- P: the model


def test_without_any_model_at_hand_words_answer(explored: Explored, monkeypatch: pytest.MonkeyPatch) -> None:
    """P12: no network is asked, nothing waits; the transformer's absence is a phrase."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    explored.write({"a.py": "def retry_upload(job):\n    return job\n", **FILLER})
    explorer = explored.open(semantic=True)
    assert ask(explorer, "try an upload again", Mode.SEMANTIC).hits[0].path == b"a.py"
    assert paths(explorer, "retry") == ["a.py"]
    assert dict(explorer.health().models)["deep"]
