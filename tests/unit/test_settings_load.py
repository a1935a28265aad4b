"""A configuration file can be wrong in every way and the program still starts, saying where."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgrep_tui.settings.config import Settings, all_keys
from mgrep_tui.settings.load import load_settings


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_layers_lie_on_top_of_each_other(tmp_path: Path) -> None:
    user = write(tmp_path / "user.toml", '[corpus]\nhidden = true\n[regex]\ncase = "yes"\nmax_hits = 5\n')
    project = write(tmp_path / "project.toml", "[regex]\nmax_hits = 7\n")
    loaded = load_settings(user, project, {"regex.case": "no"})
    assert loaded.settings.corpus.hidden is True
    assert loaded.settings.regex.max_hits == 7
    assert loaded.settings.regex.case == "no"
    assert loaded.warnings == ()


def test_an_unknown_key_is_named_with_file_and_line(tmp_path: Path) -> None:
    user = write(tmp_path / "user.toml", "# mine\n[corpus]\nhidden = true\nhiden = false\n\n[colour]\nx = 1\n")
    loaded = load_settings(user, None)
    assert loaded.settings.corpus.hidden is True
    assert [text.startswith(f"{user}:{line}:") for text, line in zip(loaded.warnings, (4, 6), strict=True)] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    "text",
    [
        '[semantic]\nmodel = "/somewhere"',
        '[semantic]\nendpoint = "http://example.org"',
        '[editor]\ncommand = "rm -rf {path}"',
        'editor.command = "x"',
    ],
)
def test_a_projects_file_cannot_name_programs_folders_or_addresses(tmp_path: Path, text: str) -> None:
    project = write(tmp_path / "p.toml", text)
    loaded = load_settings(None, project)
    assert loaded.settings == Settings()
    assert len(loaded.warnings) == 1 and "not taken from a project's file" in loaded.warnings[0]
    assert load_settings(project, None).settings != Settings()


@pytest.mark.parametrize("key", all_keys(), ids=lambda key: f"{key.section}.{key.name}")
def test_a_value_of_the_wrong_type_leaves_the_default(tmp_path: Path, key: object) -> None:
    section, name = key.section, key.name  # type: ignore[attr-defined]
    user = write(tmp_path / "u.toml", f"[{section}]\n{name} = 1979-05-27T07:32:00Z\n")
    loaded = load_settings(user, None)
    assert loaded.settings == Settings()
    assert len(loaded.warnings) == 1 and f"{user}:2" in loaded.warnings[0]


@given(raw=st.binary(max_size=200))
def test_no_content_of_a_file_stops_the_program(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("config") / "c.toml"
    path.write_bytes(raw)
    assert isinstance(load_settings(path, path).settings, Settings)


def test_a_missing_or_unreadable_file_counts_as_empty(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.toml", None).warnings == ()
    (tmp_path / "folder.toml").mkdir()
    loaded = load_settings(tmp_path / "folder.toml", None)
    assert loaded.settings == Settings() and "cannot be read" in loaded.warnings[0]
