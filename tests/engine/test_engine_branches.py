"""Which branch of a repository is searched on an engine, and how another one is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.heads import heads_of, published
from mgrep_tui.clickhouse.lines import LineSearch
from mgrep_tui.clickhouse.meaning import MeaningSearch
from mgrep_tui.clickhouse.names import completions
from mgrep_tui.clickhouse.push import push
from mgrep_tui.corpus.root import open_root
from mgrep_tui.embedding.static import load_static
from mgrep_tui.errors import QueryError
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.search.query import parse
from mgrep_tui.settings.config import Settings
from tests.support.engines import ONE_CHILD, commit, git, pushed, tree


def found(engine: EmbeddedConnection, text: str, mode: Mode = Mode.REGEX) -> list[str]:
    """The paths of a query's hits."""
    query, every, sink = parse(text, mode), published(engine), Collected()
    heads = heads_of(every).with_named(every, query)
    if mode is Mode.REGEX:
        LineSearch(engine, Settings()).search(query, heads, None, sink, CancelToken())
    else:
        meaning = MeaningSearch(engine, load_static())
        meaning.search(query, heads, sink, CancelToken())
        meaning.close()
    for hit in sink.hits:
        place = heads.place_of(hit.path)
        assert place is not None and hit.path.endswith(place[1])
    return sorted({hit.path.decode() for hit in sink.hits})


@pytest.fixture
def branches(engine: EmbeddedConnection, tmp_path: Path) -> Path:
    """A repository whose branch `dev` has another file, and whose main branch is published first; and a second repository."""
    folder = tree(tmp_path / "project", {"app.py": "def wait_for_engine():\n    return 1\n"})
    commit(folder)
    pushed(engine, folder)
    git(folder, "checkout", "-q", "-b", "dev")
    tree(folder, {"new.py": "def wait_for_engine_longer():\n    return 2\n"})
    commit(folder)
    pushed(engine, folder)
    pushed(engine, tree(tmp_path / "other", {"app.py": "def wait_for_engine():\n    return 3\n"}))
    return folder


def test_the_first_branch_is_searched_and_another_by_its_name(engine: EmbeddedConnection, branches: Path) -> None:
    assert found(engine, "wait_for_engine") == ["other/app.py", "project/app.py"]
    assert found(engine, "repo:project wait_for_engine") == ["project/app.py"]
    assert found(engine, "repo:project@main wait_for_engine") == ["project/app.py"]
    assert found(engine, "repo:project@dev wait_for_engine") == ["project@dev/app.py", "project@dev/new.py"]
    assert found(engine, "(repo:project@dev or repo:other) wait_for_engine") == [
        "other/app.py", "project@dev/app.py", "project@dev/new.py",
    ]  # fmt: skip
    assert found(engine, "-repo:project wait_for_engine") == ["other/app.py"]
    short = git(branches, "rev-parse", "HEAD")[:8]
    assert found(engine, f"repo:project@{short} wait_for_engine") == ["project@dev/app.py", "project@dev/new.py"]
    assert found(engine, "repo:project@dev path:new.py wait_for_engine") == ["project@dev/new.py"]
    with pytest.raises(QueryError, match="Nothing is published as project@nope"):
        found(engine, "repo:project@nope wait_for_engine")
    assert found(engine, "repo:project@dev wait longer", Mode.SEMANTIC) == ["project@dev/app.py", "project@dev/new.py"]
    assert found(engine, "wait longer", Mode.SEMANTIC) == ["other/app.py", "project/app.py"]
    every = published(engine)
    assert set(completions("repo:project@", engine, heads_of(every), every)) == {
        "repo:project@main",
        "repo:project@dev",
    }
    assert completions("-repo:project@d", engine, heads_of(every), every) == ("-repo:project@dev",)
    # A push can choose.
    push(engine, open_root(branches), ONE_CHILD, CancelToken(), chooses_branch=True)
    assert {one.branch for one in published(engine) if one.is_searched and one.repository == "project"} == {"dev"}
    assert found(engine, "wait_for_engine") == ["other/app.py", "project/app.py", "project/new.py"]


def test_the_remotes_own_branch_is_searched_once_it_is_there(engine: EmbeddedConnection, tmp_path: Path) -> None:
    origin = tree(tmp_path / "origin", {"app.py": "first = 1\n"})
    commit(origin)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(origin), str(clone))
    git(clone, "checkout", "-q", "-b", "topic")
    tree(clone, {"app.py": "first = 2\n"})
    commit(clone)
    pushed(engine, clone, "code")
    assert [one.branch for one in published(engine) if one.is_searched] == ["topic"]
    git(clone, "checkout", "-q", "main")
    pushed(engine, clone, "code")
    assert [one.branch for one in published(engine) if one.is_searched] == ["main"]
