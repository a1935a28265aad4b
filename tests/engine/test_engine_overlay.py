"""The tree at hand lies over what is published: the disk is the truth about what is here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mgrep_tui.clickhouse.address import FolderAddress
from mgrep_tui.clickhouse.embedded import EmbeddedConnection
from mgrep_tui.clickhouse.explorer import EngineExplorer
from mgrep_tui.clickhouse.heads import published
from mgrep_tui.clickhouse.overlay import DiskWatch, base_of
from mgrep_tui.corpus.root import open_root
from mgrep_tui.explorer.protocol import SearchOptions
from mgrep_tui.explorer.sinks import Collected
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Mode
from mgrep_tui.settings.config import Settings
from mgrep_tui.settings.paths import user_folders
from tests.support.engines import commit, git, pushed, tree

FILES = {
    "src/load.py": "def load_settings(path):\n    return parse(path)\n",
    "src/save.py": "def save_settings(path, text):\n    write(path, text)\n",
    "src/gone.py": "def forget_settings():\n    remove()\n",
    ".gitignore": "ignored.py\n",
}


@pytest.fixture
def folder(engine: EmbeddedConnection, tmp_path: Path) -> Path:
    folder = tree(tmp_path / "project", FILES)
    commit(folder)
    pushed(engine, folder)
    return folder


def change(folder: Path) -> None:
    tree(
        folder,
        {
            "src/load.py": "def load_settings(path):\n    return unpickle(path)\n",
            "src/new.py": "def migrate_settings(old):\n    return old\n",
            "ignored.py": "def load_settings():\n    pass\n",
        },
    )
    (folder / "src/gone.py").unlink()


def explorer_of(
    engine: EmbeddedConnection, folder: Path | None, home: Path, monkeypatch: pytest.MonkeyPatch
) -> EngineExplorer:
    """An explorer on the engine that is open already."""
    monkeypatch.setattr("mgrep_tui.clickhouse.opened.connect", lambda address, environ: engine)
    monkeypatch.setattr(EmbeddedConnection, "close", lambda self: None)
    monkeypatch.setattr("mgrep_tui.clickhouse.overlay.BELIEVED_S", 0.0)
    explorer = EngineExplorer(
        FolderAddress(home / "unused"),
        Settings(),
        user_folders({"MGREP_TUI_HOME": str(home)}),
        {"EDITOR": "vi"},
        root=open_root(folder) if folder is not None else None,
    )
    explorer.open()
    return explorer


def ask(explorer: EngineExplorer, text: str, mode: Mode = Mode.REGEX) -> Collected:
    hits = Collected()
    explorer.answer(text, mode, SearchOptions(), hits, CancelToken())
    return hits


def test_regular_expressions_see_the_disk(
    engine: EmbeddedConnection, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = explorer_of(engine, folder, tmp_path / "home", monkeypatch)
    assert {hit.path for hit in ask(explorer, "_settings").hits} == {b"src/load.py", b"src/save.py", b"src/gone.py"}
    change(folder)
    hits = ask(explorer, "_settings|unpickle|parse").hits
    assert {hit.path for hit in hits} == {b"src/load.py", b"src/save.py", b"src/new.py"}
    assert "    return unpickle(path)" in [hit.text for hit in hits]
    assert "    return parse(path)" not in [hit.text for hit in hits]
    assert {hit.path for hit in ask(explorer, "is:dirty _settings").hits} == {b"src/load.py", b"src/new.py"}
    assert {hit.path for hit in ask(explorer, "-is:dirty _settings").hits} == {b"src/save.py"}
    # Back to what is published.
    git(folder, "checkout", "-q", "--", ".")
    (folder / "src/new.py").unlink()
    assert {hit.path for hit in ask(explorer, "_settings").hits} == {b"src/load.py", b"src/save.py", b"src/gone.py"}
    explorer.close()


def test_questions_see_the_disk(
    engine: EmbeddedConnection, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(folder)
    explorer = explorer_of(engine, folder, tmp_path / "home", monkeypatch)
    hits = ask(explorer, "migrate the settings", Mode.SEMANTIC).hits
    assert hits[0].path == b"src/new.py" and hits[0].symbol == "migrate_settings"
    paths = {hit.path for hit in hits}
    assert b"src/gone.py" not in paths and b"src/save.py" in paths
    loaded = [hit for hit in ask(explorer, "load_settings", Mode.SEMANTIC).hits if hit.path == b"src/load.py"]
    assert loaded and "unpickle" in explorer.snippet(loaded[0])
    assert {hit.path for hit in ask(explorer, "path:src/new.py", Mode.SEMANTIC).hits} == {b"src/new.py"}
    assert not ask(explorer, "sym:forget_settings x", Mode.SEMANTIC).hits
    # A pattern is looked for in the named definitions of changed files too.
    assert {hit.path for hit in ask(explorer, "sym:migrate_settings return").hits} == {b"src/new.py"}
    assert {hit.path for hit in ask(explorer, "sym:save_settings write").hits} == {b"src/save.py"}
    assert not ask(explorer, "kind:class return").hits
    explorer.close()


def test_the_base_is_the_nearest_published_commit(engine: EmbeddedConnection, folder: Path) -> None:
    root = open_root(folder)
    first = git(folder, "rev-parse", "HEAD")
    found = base_of(root, published(engine), "")
    assert found is not None and found.commit == first
    tree(folder, {"src/load.py": "def load_settings():\n    return None\n"})
    second = commit(folder)
    # Nothing newer was published: what differs between the commits comes from the disk.
    found = base_of(root, published(engine), "")
    assert found is not None and found.commit == first
    overlay = DiskWatch(engine, root, found, Settings()).look(CancelToken())
    assert overlay.changed == (b"src/load.py",) and not overlay.gone
    pushed(engine, folder)
    found = base_of(root, published(engine), "")
    assert found is not None and found.commit == second
    assert base_of(root, published(engine), "git@host:somebody/else.git") is None


def test_without_git_contents_are_compared(engine: EmbeddedConnection, tmp_path: Path) -> None:
    folder = tree(tmp_path / "plain", FILES)
    pushed(engine, folder)
    change(folder)
    root = open_root(folder)
    base = base_of(root, published(engine), "")
    assert base is not None
    overlay = DiskWatch(engine, root, base, Settings()).look(CancelToken())
    assert set(overlay.changed) == {b"src/load.py", b"src/new.py"} and overlay.gone == {b"src/gone.py"}


def test_previews_and_editors_take_the_disk_where_it_has_the_file(
    engine: EmbeddedConnection, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(folder)
    explorer = explorer_of(engine, folder, tmp_path / "home", monkeypatch)
    preview = explorer.preview(b"src/load.py", 1, 0, 10, 80, is_coloured=True)
    assert "    return unpickle(path)" in preview.lines
    hit = ask(explorer, "unpickle").hits[0]
    command = explorer.open_command([hit])
    assert os.fsencode(folder / "src/load.py") in b" ".join(os.fsencode(word) for word in command.argv)
    assert explorer.health().commit == git(folder, "rev-parse", "HEAD")
    assert "changed" in explorer.flags_of(b"src/load.py")
    explorer.close()


def test_without_a_folder_everything_comes_from_the_engine(
    engine: EmbeddedConnection, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(folder, "remote", "add", "origin", "https://token@github.com/acme/project.git")
    commit(folder, "with a remote")
    pushed(engine, folder)
    change(folder)
    explorer = explorer_of(engine, None, tmp_path / "home", monkeypatch)
    hits = ask(explorer, "return parse").hits
    path = b"acme/project/src/load.py"
    assert path in {hit.path for hit in hits}
    hit = next(hit for hit in hits if hit.path == path)
    preview = explorer.preview(path, 1, 0, 20, 80, is_coloured=True)
    assert preview.lines[:2] == ("def load_settings(path):", "    return parse(path)")
    assert preview.total_lines == 2 and preview.language == "python" and preview.breadcrumb == ("load_settings",)
    assert preview.tokens and [symbol.name for symbol in preview.symbols] == ["load_settings"]
    assert explorer.snippet(hit) == "    return parse(path)"
    link = explorer.permalink(hit)
    assert link == f"https://github.com/acme/project/blob/{git(folder, 'rev-parse', 'HEAD')}/src/load.py#L2"
    copy = [word for word in explorer.open_command([hit]).argv if b"load.py" in os.fsencode(word)]
    assert copy and str(tmp_path / "home") in os.fsdecode(copy[0])
    assert explorer.repository_of(path) == "acme/project"
    assert "lang:python" in explorer.completions("lang:py")
    assert "sym:load_settings" in explorer.completions("sym:load")
    assert "repo:acme/project" in explorer.completions("repo:ac")
    assert "path:src/**" in explorer.completions("path:s")
    assert explorer.preview(b"acme/project/nowhere", 0, 0, 5, 80, is_coloured=False).is_gone
    assert explorer.preview(b"nobody/nothing", 0, 0, 5, 80, is_coloured=False).notice
    assert any(
        variant.text == "return parse"
        for variant in explorer.variants("lang:go return parse", Mode.REGEX, SearchOptions())
    )
    explorer.close()


def test_a_path_that_would_leave_its_folder_is_not_copied(
    engine: EmbeddedConnection, folder: Path, tmp_path: Path
) -> None:
    from mgrep_tui.clickhouse.showing import Files
    from mgrep_tui.errors import MgrepError

    one = published(engine)[0]
    for path in (b"../x", b"/etc/passwd", b"a//b", b"a/../../b", b"", b"a\0b", b"."):
        with pytest.raises(MgrepError, match="cannot be opened"):
            Files(engine).copy_of(one, path, tmp_path / "copies")
    assert not (tmp_path / "copies").exists()
