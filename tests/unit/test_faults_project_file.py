"""A project's configuration file comes with a repository: it runs nothing, reads nothing outside, talks to nobody, stops nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.why import explain
from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.model import Mode
from mgrep_tui.settings.config import CorpusSettings, Settings, all_keys
from mgrep_tui.settings.load import PROJECT_FILE, load_settings
from mgrep_tui.settings.paths import user_folders
from tests.support.explored import Explored, ask


def explorer_of(root: Path, home: Path, settings: Settings, editor: str) -> LocalExplorer:
    folders = user_folders({"MGREP_TUI_HOME": str(home)})
    made = LocalExplorer(open_root(root), settings, folders, {"EDITOR": editor}, semantic=False, watch=False)
    made.open_as_is()
    return made


def load(folder: Path, text: str) -> tuple[Settings, tuple[str, ...]]:
    (folder / PROJECT_FILE).write_text(text, encoding="utf-8")
    loaded = load_settings(None, folder / PROJECT_FILE)
    return loaded.settings, loaded.warnings


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a/b", "..", ".", "", "a\\\\b", "\\u0000", "a\\u0000b", "./.ignore"]
)
def test_an_ignore_file_is_a_name_and_no_place(tmp_path: Path, name: str) -> None:
    settings, warnings = load(tmp_path, f'[corpus]\nignore_files = [".ignore", "{name}"]\n')
    assert settings == Settings()
    assert len(warnings) == 1 and "names of files" in warnings[0]


def test_rules_outside_the_root_are_not_read(tmp_path: Path) -> None:
    """Neither by a name, nor by a link that lies in the tree."""
    (tmp_path / "rules").write_text("*.py\n")
    explored = Explored(tmp_path)
    explored.write(
        {"a.py": "needle\n", PROJECT_FILE: f'[corpus]\nignore_files = ["../rules", "{tmp_path}/rules", "mine"]\n'}
    )
    (explored.path / "mine").symlink_to(tmp_path / "rules")
    explored.settings = load_settings(None, explored.path / PROJECT_FILE).settings
    try:
        assert ask(explored.open(works=False), "needle").lines == [("a.py", 1)]
        assert ask(explored.open(), "needle").lines == [("a.py", 1)]
    finally:
        explored.close()


@pytest.mark.parametrize("kind", ["link", "link to nothing", "pipe", "folder", "device", "link to a device"])
def test_a_project_file_that_is_no_plain_file_is_refused(tmp_path: Path, kind: str) -> None:
    """I1: and said; nothing waits for it, and what a link leads to is not read."""
    path = tmp_path / PROJECT_FILE
    (tmp_path / "other.toml").write_text("[corpus]\nhidden = true\nsecret = 'from elsewhere'\n")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        try:
            os.mknod(path, 0o020666, os.makedev(1, 5))
        except OSError:
            pytest.skip("needs leave to make a device")
    else:
        path.symlink_to({"link": "other.toml", "link to nothing": "none", "link to a device": "/dev/zero"}[kind])
    loaded = load_settings(None, path)
    assert loaded.settings == Settings()
    assert (
        len(loaded.warnings) == 1 and "cannot be read" in loaded.warnings[0] and "elsewhere" not in loaded.warnings[0]
    )


@pytest.mark.parametrize(
    "key", [key for key in all_keys() if key.kind in (int, float)], ids=lambda key: f"{key.section}.{key.name}"
)
@pytest.mark.parametrize("value", ["-1", "1e300", "9007199254740991", "nan", "inf", "-inf"])
def test_numbers_that_would_harm_are_refused(tmp_path: Path, key: object, value: str) -> None:
    """No thousand child processes, no timer that overflows."""
    settings, warnings = load(tmp_path, f"[{key.section}]\n{key.name} = {value}\n")  # type: ignore[attr-defined]
    assert settings == Settings()
    assert len(warnings) == 1


def test_the_ends_of_every_range_work(tmp_path: Path) -> None:
    """The program answers with the smallest and with the largest numbers that a file may set."""
    for end in ("lowest", "highest"):
        lines = [
            f"{key.section}.{key.name} = {int(getattr(key, end))}{'.0' if key.kind is float else ''}"
            for key in all_keys()
            if key.kind in (int, float) and key.name not in ("workers", "memory_mb", "max_file_bytes")
        ]
        explored = Explored(tmp_path / end)
        explored.write({"a.py": "def needle():\n    return 1\n", PROJECT_FILE: "\n".join(lines) + "\n"})
        loaded = load_settings(None, explored.path / PROJECT_FILE)
        assert all("not taken from a project" in warning for warning in loaded.warnings)
        explored.settings = loaded.settings
        try:
            explorer = explored.open(semantic=True)
            assert ask(explorer, "needle", Mode.SEMANTIC).hits
            assert ask(explorer, "needle").lines == [("a.py", 1)] or end == "lowest"  # a time limit of nothing
            assert not explorer.health().last_error
        finally:
            explored.close()


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/passwd", "a\x1b]0;x\x07", "", "mgrep-dark; touch PWNED", "x" * 5_000]
)
def test_a_theme_is_a_name_in_a_list(tmp_path: Path, name: str) -> None:
    from mgrep_tui.ui.app import MgrepApp
    from mgrep_tui.ui.flow import Ask
    from tests.support.fake_explorer import FakeExplorer

    before = set(tmp_path.iterdir())
    app = MgrepApp(FakeExplorer(), Ask("", Mode.REGEX), theme=name)
    assert app.theme == "mgrep-dark"
    assert set(tmp_path.iterdir()) == before


def test_nothing_named_in_a_project_file_is_started_or_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The editor, the model and the address stay the user's own."""
    touch = f"touch {tmp_path}/PWNED"
    text = (
        f'[editor]\ncommand = "{touch} {{path}}"\n[semantic]\nendpoint = "http://127.0.0.1:9/v1"\nendpoint_model = "m"\n'
        'model = "/tmp/evil"\ndeep = "background"\n[ui.keys]\nopen = "f4"\n'
    )
    root = tmp_path / "tree"
    root.mkdir()
    settings, warnings = load(root, text)
    assert (settings.editor, settings.semantic.endpoint, settings.semantic.model) == (Settings().editor, "", "")
    assert len(warnings) == 4
    (root / "a.py").write_text("needle\n")
    explorer = explorer_of(root, tmp_path / "home", settings, "true")
    (hit,) = ask(explorer, "needle").hits
    command = explorer.open_command([hit])
    assert os.path.basename(os.fsdecode(command.argv[0])) == "true" and os.path.isabs(os.fsdecode(command.argv[0]))
    assert subprocess.run(command.argv, cwd=root, check=False).returncode == 0
    assert not (tmp_path / "PWNED").exists()
    explorer.close()


def test_an_editor_named_by_a_relative_path_is_the_users_and_not_the_trees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P5: it is started in the root, and must not be looked for there."""
    here, root = tmp_path / "here", tmp_path / "tree"
    for folder, says in ((here, "mine"), (root, "theirs")):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin/ed").write_text(f"#!/bin/sh\necho {says}\n")
        (folder / "bin/ed").chmod(0o755)
    (root / "a.py").write_text("needle\n")
    monkeypatch.chdir(here)
    explorer = explorer_of(root, tmp_path / "home", Settings(), "bin/ed")
    command = explorer.open_command(ask(explorer, "needle").hits)
    assert subprocess.check_output(command.argv, cwd=command.cwd) == b"mine\n"
    explorer.close()


def test_many_mistakes_are_said_shortly(tmp_path: Path) -> None:
    """A file full of them costs no time and no screen."""
    _, warnings = load(tmp_path, "\n".join(f"a{number} = 1" for number in range(25_000)))
    assert 1 <= len(warnings) <= 20
    _, warnings = load(tmp_path, f'[corpus]\nhidden = "{"x" * 200_000}"\n')
    assert len(warnings[0]) < 300 + len(str(tmp_path))


def test_why_names_what_decides(tmp_path: Path) -> None:
    """`why FILE`: outside, a link, a pipe, hidden, too big, binary, and each ignore rule with its file and line."""
    explored = Explored(tmp_path)
    explored.write({
        "a.py": "x\n", ".hidden.py": "x\n", "big.py": "x" * 3_000, "b.bin": bytes(range(256)) * 4, "skip/me.py": "x\n",
        ".mgrepignore": "# rules\nskip/\n*.tmp\n!kept.tmp\n", ".ignore": "*.ign\n", "x.tmp": "x\n", "kept.tmp": "x\n", "x.ign": "x\n",
        "empty.py": "", "utf16.txt": "\ufeffneedle\n".encode("utf-16-le"), "nul.py": b"x = 1\0\n",
    })  # fmt: skip
    os.mkfifo(explored.path / "pipe.py")
    (explored.path / "to_a.py").symlink_to("a.py")
    (explored.path / "out.py").symlink_to("/etc/passwd")
    (explored.path / "dangling.py").symlink_to("none.py")
    (tmp_path / "other.py").write_text("x\n")
    root, settings = open_root(explored.path), CorpusSettings(max_file_bytes=2_000)
    wanted = {
        "a.py": (True, "no rule"),
        "empty.py": (True, "no rule"),
        "utf16.txt": (True, "no rule"),
        "nul.py": (True, "no rule"),
        "kept.tmp": (True, "!kept.tmp (.mgrepignore, line 4)"),
        ".hidden.py": (False, "starts with a dot"),
        "big.py": (False, "too big"),
        "b.bin": (False, "binary"),
        "skip/me.py": (False, "skip/ (.mgrepignore, line 2)"),
        "x.tmp": (False, "*.tmp (.mgrepignore, line 3)"),
        "x.ign": (False, "*.ign (.ignore, line 1)"),
        "pipe.py": (False, "not a regular file"),
        "to_a.py": (False, "it is a link to a.py"),
        "out.py": (False, "links out of the root"),
        "dangling.py": (False, "link"),
        "none.py": (False, "does not exist"),
        "skip": (False, "skip/ (.mgrepignore, line 2)"),
        "../other.py": (False, "outside the root"),
        "a.py/x": (False, "does not exist"),
    }
    for name, (is_searched, phrase) in wanted.items():
        answer = explain(root, os.fsencode(explored.path / name), settings)
        assert answer.is_searched is is_searched and phrase in answer.reason, (name, answer)
    assert not explain(root, b"/etc/passwd", settings).is_searched
