"""Several roots through the one explorer: both modes, labels, filters, nested and repeated roots, slow and broken ones."""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.errors import MgrepError, QueryError
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.several import SeveralExplorer
from mgrep_tui.explorer.shared import SharedModels
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import IndexState, Mode
from mgrep_tui.settings.config import SemanticSettings, Settings
from mgrep_tui.settings.paths import user_folders
from tests.support.regex_ways import Answer, Collected, write_tree

FLASK = {
    "src/app.py": 'def route(rule):\n    """Bind a function to an URL rule."""\n    return rule\n',
    "tests/test_app.py": "def test_route():\n    assert route('/x')\n",
}
CLICK = {"src/core.py": 'def command(name):\n    """Make a command of a function."""\n    return route(name)\n'}
QUEUE = {
    "worker.go": "package queue\n\n// Requeue puts a job back with a delay.\nfunc Requeue(job *Job) {\n\troute(job)\n}\n"
}


class Roots:
    """Trees below one folder, and an explorer over some of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = Settings(semantic=SemanticSettings(deep="off"))
        self.folders = user_folders({"MGREP_TUI_HOME": os.fspath(folder / "home")})
        self._open: list[SeveralExplorer] = []

    def write(self, trees: Mapping[str, Mapping[str, str]]) -> Roots:
        for name, files in trees.items():
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            write_tree(self.folder / name, files)
        return self

    def open(self, *names: str, semantic: bool = False, waits: bool = True) -> SeveralExplorer:
        shared = SharedModels(self.settings, self.folders)
        members = [
            LocalExplorer(
                open_root(self.folder / name), self.settings, self.folders, {},
                semantic=semantic, watch=False, shared=shared,
            )
            for name in names
        ]  # fmt: skip
        made = SeveralExplorer(members, self.settings, self.folders, {"EDITOR": "vi"})
        self._open.append(made)
        made.start()
        if waits:
            for member in members:
                member.wait(CancelToken(), needs_vectors=semantic)
        return made

    def close(self) -> None:
        while self._open:
            self._open.pop().close()


@pytest.fixture
def roots(tmp_path: Path) -> Iterator[Roots]:
    made = Roots(tmp_path)
    yield made
    made.close()


def ask(
    explorer: SeveralExplorer, text: str, mode: Mode = Mode.REGEX, limit: int | None = None, **options: Any
) -> Answer:
    sink = Collected()
    outcome = explorer.answer(text, mode, SearchOptions(**options), sink, CancelToken(), limit=limit)
    return Answer(sink.hits, outcome, sink)


def paths(answer: Answer) -> list[str]:
    return [os.fsdecode(hit.path) for hit in answer.hits]


def test_one_list_of_all_roots_labelled_and_ranked_together(roots: Roots) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK, "queue": QUEUE}).open("flask", "click", "queue")
    answer = ask(explorer, "route")
    assert paths(answer)[0] == "flask/src/app.py"  # the definition, then uses, then the tests
    assert set(paths(answer)) == {"flask/src/app.py", "click/src/core.py", "queue/worker.go", "flask/tests/test_app.py"}
    assert paths(answer)[-1] == "flask/tests/test_app.py"
    assert answer.outcome.hits == 5
    assert answer.outcome.is_verified
    assert explorer.root_label == "flask + click + queue"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("route repo:click", {"click/src/core.py"}),
        ("route -repo:flask", {"click/src/core.py", "queue/worker.go"}),
        ("route (repo:click or repo:queue)", {"click/src/core.py", "queue/worker.go"}),
        ("route path:flask/src/**", {"flask/src/app.py"}),
        ("route path:src/**", {"flask/src/app.py", "click/src/core.py"}),
        ("route repo:nothing", set()),
        ("repo:queue", {"queue/worker.go"}),
        ("repo:flask -is:test", {"flask/src/app.py"}),
    ],
)
def test_filters_name_roots_and_their_folders(roots: Roots, text: str, expected: set[str]) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK, "queue": QUEUE}).open("flask", "click", "queue")
    assert set(paths(ask(explorer, text))) == expected


def test_roots_whose_folders_are_called_the_same_are_told_apart(roots: Roots) -> None:
    roots.write({"x/api": {"a.py": "needle = 1\n"}, "y/api": {"b.py": "needle = 2\n"}})
    explorer = roots.open("x/api", "y/api")
    assert explorer.labels == ("x-api", "y-api")
    assert paths(ask(explorer, "needle repo:x-api")) == ["x-api/a.py"]
    assert paths(ask(explorer, f"needle repo:{explorer.repository_of(b'y-api/b.py')}")) == ["y-api/b.py"]
    assert sorted(paths(ask(explorer, "needle repo:api"))) == ["x-api/a.py", "y-api/b.py"]


def test_a_root_that_is_called_like_a_pattern_is_meant_alone(roots: Roots) -> None:
    roots.write({"a*b": {"a.py": "needle = 1\n"}, "axb": {"b.py": "needle = 2\n"}})
    explorer = roots.open("a*b", "axb")
    assert paths(ask(explorer, "needle repo:a*b")) == ["a*b/a.py"]
    assert len(paths(ask(explorer, "needle repo:a*"))) == 2


def test_a_label_means_its_own_root_even_where_another_is_called_so_too(roots: Roots) -> None:
    roots.write({"one": {"a.py": "needle = 1\n"}, "two": {"b.py": "needle = 2\n"}})
    members = [
        LocalExplorer(
            open_root(roots.folder / name), roots.settings, roots.folders, {},
            semantic=False, watch=False, names=("o/x",),
        )
        for name in ("one", "two")
    ]  # fmt: skip
    explorer = SeveralExplorer(members, roots.settings, roots.folders, {})
    explorer.start()
    for member in members:
        member.wait(CancelToken(), needs_vectors=False)
    try:
        assert explorer.labels == ("o-x", "o-x-2")
        assert paths(ask(explorer, "needle repo:o-x")) == ["o-x/a.py"]
        assert len(paths(ask(explorer, "needle repo:o/x"))) == 2
    finally:
        explorer.close()


def test_a_file_of_a_root_within_a_root_is_found_once(roots: Roots) -> None:
    roots.write({"outer": {"a.py": "needle = 1\n", "sub/b.py": "needle = 2\n", "subway/c.py": "needle = 3\n"}})
    explorer = roots.open("outer", "outer/sub")
    answer = ask(explorer, "needle")
    assert sorted(paths(answer)) == ["outer/a.py", "outer/subway/c.py", "sub/b.py"]
    assert answer.outcome.hits == 3
    assert ask(explorer, "needle", limit=10).outcome.hits == 3


def test_a_nested_root_answers_once_by_meaning_too(roots: Roots) -> None:
    roots.write({"outer": {**FLASK, "sub/retry.py": 'def retry_upload():\n    """Retry a failed upload."""\n'}})
    explorer = roots.open("outer", "outer/sub", semantic=True)
    answer = ask(explorer, "retry a failed upload", Mode.SEMANTIC)
    assert paths(answer).count("sub/retry.py") == 1
    assert not any(path.startswith("outer/sub/") for path in paths(answer))


def test_the_best_of_any_root_comes_first_by_meaning(roots: Roots) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK, "queue": QUEUE}).open(
        "flask", "click", "queue", semantic=True
    )
    assert paths(ask(explorer, "put a job back with a delay", Mode.SEMANTIC))[0] == "queue/worker.go"
    assert paths(ask(explorer, "bind a function to an URL rule", Mode.SEMANTIC))[0] == "flask/src/app.py"
    assert set(paths(ask(explorer, "function repo:click", Mode.SEMANTIC))) == {"click/src/core.py"}
    assert ask(explorer, "make a command", Mode.SEMANTIC).outcome.vector_coverage == 1.0
    listed = ask(explorer, "repo:queue", Mode.SEMANTIC)
    assert set(paths(listed)) == {"queue/worker.go"}


def test_more_like_this_looks_into_every_root(roots: Roots) -> None:
    roots.write({"flask": FLASK, "click": CLICK, "copy": {"again.py": FLASK["src/app.py"].replace("rule", "law")}})
    explorer = roots.open("flask", "click", "copy", semantic=True)
    first = ask(explorer, "bind a function to an URL rule", Mode.SEMANTIC).hits[0]
    assert os.fsdecode(first.path) == "flask/src/app.py"
    alike = paths(ask(explorer, "", Mode.SEMANTIC, like=first))
    assert alike[0] == "copy/again.py"
    assert "flask/src/app.py" not in alike


def test_preview_path_snippet_and_editor_find_the_root_of_a_hit(roots: Roots) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK}).open("flask", "click")
    hit = ask(explorer, "def command").hits[0]
    assert explorer.preview(hit.path, hit.line, 0, 10, 80, is_coloured=False).lines[0] == "def command(name):"
    assert explorer.preview(hit.path, hit.line, 0, 10, 80, is_coloured=True).path == hit.path
    assert explorer.absolute(hit.path) == os.fspath(roots.folder / "click/src/core.py")
    assert explorer.snippet(hit) == "def command(name):"
    assert explorer.flags_of(b"flask/tests/test_app.py") == ("test",)
    command = explorer.open_command([hit, ask(explorer, "def route").hits[0]])
    assert os.fsencode(roots.folder / "click/src/core.py") in [os.fsencode(word) for word in command.argv]
    assert explorer.preview(b"nowhere/x.py", 0, 0, 10, 80, is_coloured=False).is_gone
    with pytest.raises(MgrepError):
        explorer.absolute(b"nowhere/x.py")


def test_recent_files_completions_and_health_are_of_all(roots: Roots) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK}).open("flask", "click", semantic=True)
    os.utime(roots.folder / "click/src/core.py", (2e9, 2e9))
    explorer.members[1].health()
    assert set(explorer.recent_changes()) == {b"flask/src/app.py", b"flask/tests/test_app.py", b"click/src/core.py"}
    assert explorer.recent_changes()[0] == b"click/src/core.py"
    assert explorer.completions("repo:") == ("repo:flask", "repo:click")
    assert explorer.completions("-repo:cl") == ("-repo:click",)
    assert explorer.completions("path:fl") == ("path:flask/**",)
    assert "path:flask/src/**" in explorer.completions("path:flask/s")
    health = explorer.health()
    assert health.files_total == 3
    assert {label for label, _ in health.metrics} == {"flask", "click"}


class Trouble(LocalExplorer):
    """A root whose engines do not come."""

    def __init__(self, *given: Any, error: MgrepError | None = None, **more: Any) -> None:
        super().__init__(*given, **more)
        self.error = error
        self.release = threading.Event()

    def engines(self, cancel: CancelToken, patience_s: float) -> Any:
        if self.error is not None:
            raise self.error
        self.release.wait(60)
        raise MgrepError("too late.")


def open_with_trouble(roots: Roots, error: MgrepError | None) -> tuple[SeveralExplorer, Trouble]:
    roots.write({"flask": FLASK, "click": CLICK})
    good = LocalExplorer(
        open_root(roots.folder / "flask"), roots.settings, roots.folders, {}, semantic=False, watch=False
    )
    bad = Trouble(
        open_root(roots.folder / "click"), roots.settings, roots.folders, {}, semantic=False, watch=False, error=error
    )
    made = SeveralExplorer([good, bad], roots.settings, roots.folders, {})
    good.start()
    good.wait(CancelToken(), needs_vectors=False)
    return made, bad


def test_a_broken_root_is_a_note_and_the_others_answer(roots: Roots) -> None:
    explorer, _ = open_with_trouble(roots, MgrepError("The disk is gone."))
    answer = ask(explorer, "route")
    assert set(paths(answer)) == {"flask/src/app.py", "flask/tests/test_app.py"}
    assert answer.outcome.notes == ("click: The disk is gone.",)
    assert answer.outcome.is_partial
    assert not answer.outcome.is_verified
    explorer.close()


@pytest.mark.parametrize("mode", list(Mode))
def test_a_root_that_is_deleted_while_it_is_open_is_named(roots: Roots, mode: Mode) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK}).open("flask", "click", semantic=True)
    shutil.rmtree(roots.folder / "click")
    answer = ask(explorer, "route", mode)
    assert set(paths(answer)) == {"flask/src/app.py", "flask/tests/test_app.py"}
    assert answer.outcome.is_partial
    assert [note for note in answer.outcome.notes if note.startswith("click: The folder '")]


def test_a_root_that_hangs_does_not_keep_the_hits_of_the_others(roots: Roots) -> None:
    explorer, slow = open_with_trouble(roots, None)
    came = threading.Event()
    ended = threading.Event()

    class Waiting(Collected):
        def batch(self, hits: Sequence[Any]) -> None:
            super().batch(hits)
            came.set()

    search = explorer.search("route", Mode.REGEX, 1, Waiting(), SearchOptions(), lambda outcome, error: ended.set())
    assert came.wait(20)
    assert not ended.is_set()
    search.cancel()
    assert ended.wait(5)
    slow.release.set()
    explorer.close()


def test_what_is_wrong_with_the_query_is_said_once(roots: Roots) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK}).open("flask", "click")
    with pytest.raises(QueryError):
        ask(explorer, "(")


def test_the_cap_leaves_room_for_every_root(roots: Roots) -> None:
    roots.write({"many": {"a.txt": "needle\n" * 500}, "few": {"b.txt": "needle\n"}})
    explorer = roots.open("many", "few")
    sink = Collected()
    explorer._settings = Settings(regex=type(roots.settings.regex)(max_hits=100))
    outcome = explorer.answer("needle", Mode.REGEX, SearchOptions(), sink, CancelToken())
    assert outcome.is_capped
    assert {hit.path for hit in sink.hits} == {b"many/a.txt", b"few/b.txt"}
    assert len(sink.hits) == 51


def test_the_model_is_one_for_all_roots(roots: Roots) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK}).open("flask", "click", semantic=True)
    views = [engines._opened.semantic() for engines in explorer._open_engines()]
    assert views[0].model is views[1].model
    assert len({id(engines.deep) for engines in explorer._open_engines()}) == 1


def test_the_session_belongs_to_the_roots_in_any_order(roots: Roots) -> None:
    roots.write({"flask": FLASK, "click": CLICK})
    one, other = roots.open("flask", "click", waits=False), roots.open("click", "flask", waits=False)
    from mgrep_tui.explorer.protocol import Session

    one.save_session(Session(text="route"))
    restored = other.load_session()
    assert restored is not None
    assert restored.text == "route"


def test_all_are_closed(roots: Roots) -> None:
    explorer = roots.write({"flask": FLASK, "click": CLICK}).open("flask", "click")
    explorer.close()
    assert all(member._is_closed for member in explorer.members)  # type: ignore[attr-defined]
    assert explorer.health().state is not IndexState.BROKEN


def test_many_roots_have_few_children(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    from mgrep_tui.index.feeder import Feeder
    from mgrep_tui.jobs.pool import ChildPool

    alive: set[int] = set()
    most = 0
    make, close = Feeder._children, ChildPool.close

    def counted(self: Feeder) -> ChildPool:
        nonlocal most
        pool = make(self)
        alive.add(id(pool))
        most = max(most, len(alive))
        return pool

    def closed(self: ChildPool) -> None:
        alive.discard(id(self))
        close(self)

    monkeypatch.setattr(Feeder, "_children", counted)
    monkeypatch.setattr(ChildPool, "close", closed)
    names = [f"r{number}" for number in range(4)]
    explorer = roots.write(dict.fromkeys(names, FLASK)).open(*names, semantic=True)
    assert explorer.health().chunks == 4 * explorer.members[0].health().chunks > 0
    assert most == 2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_roots_together_hold_what_a_scan_of_all_files_finds(roots: Roots, seed: int) -> None:
    """Promise 1, over roots that lie beside and within each other, with edits that nobody announced."""
    chance = random.Random(seed)
    words = ["needle", "need", "thread", "eye"]

    def text() -> str:
        return "".join(" ".join(chance.choices(words, k=3)) + "\n" for _ in range(chance.randrange(1, 5)))

    folders = ["a", "a/sub", "a/sub/deep", "b", "b/x"]
    for number in range(25):
        folder = roots.folder / chance.choice(folders)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.txt").write_text(text())
    for name in ("a", "a/sub", "b"):
        (roots.folder / name).mkdir(parents=True, exist_ok=True)
    explorer = roots.open("a", "b", "a/sub")
    for _ in range(3):
        changed = chance.choice(sorted(roots.folder.rglob("f*.txt")))
        changed.write_text(text())
        wanted = {
            (path, number)
            for top in ("a", "b")
            for path in (roots.folder / top).rglob("f*.txt")
            for number, line in enumerate(path.read_text().split("\n"))
            if "needle" in line
        }
        hits = ask(explorer, "needle", limit=10_000).hits
        found = [(Path(explorer.absolute(hit.path)), hit.line) for hit in hits]
        assert len(found) == len(set(found))
        assert set(found) == wanted
