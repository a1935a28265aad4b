"""What the places on a command line mean: folders, addresses, workspaces; none twice, and troubles that stop nobody else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mgrep_tui.commands import targets
from mgrep_tui.commands.targets import Targets, targets_of
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import MgrepError
from mgrep_tui.settings.load import load_settings
from tests.support.git_trees import Tree


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a", "b", "a/sub", "github:o"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "file.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(found: Targets) -> list[str]:
    return [place.root.path.name if place.root is not None else str(place.address) for place in found.places]


def test_the_same_place_twice_is_one(here: Path) -> None:
    found = targets_of(
        ["a", "./a", "link", str(here / "a"), "a/../a", "b", "github:o/n", "https://github.com/o/n.git"], "", {}
    )
    assert shown(found) == ["a", "b", "github:o/n"]
    assert [place.typed for place in found.places] == ["a", "b", "github:o/n"]


def test_a_folder_that_is_there_is_one_whatever_it_is_called(here: Path) -> None:
    (here / "github:o" / "n").mkdir()
    assert shown(targets_of(["github:o/n"], "", {})) == ["n"]


def test_a_repository_without_files_is_brought(here: Path) -> None:
    """It was searched as a folder, in which there is no file."""
    Tree(here / "n@1 %.git").git("init", "-q", "--bare")
    found = targets_of(["n@1 %.git", f"file://{here}/n%401%20%25.git", "a"], "", {})
    assert [place.root is None for place in found.places] == [True, False]
    address = found.places[0].address
    assert address is not None and (address.project, address.ref) == (f"{here}/n@1 %.git", "")


def test_a_disk_that_hangs_is_left_out_and_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is gone held up the program before anything was to be seen."""
    go = threading.Event()
    really = targets.open_root

    def hang(path: Path) -> Root:
        if path.name == "b":
            go.wait(60)
        return really(path)

    monkeypatch.setattr(targets, "open_root", hang)
    monkeypatch.setattr(targets, "PATIENCE_S", 0.2)
    try:
        found = targets_of(["b", "a", "github:o/n"], "", {})
    finally:
        go.set()
    assert shown(found) == ["a", "github:o/n"]
    assert found.troubles == ("b does not answer, and is left out.",)


def test_a_place_that_is_not_there_stops_nobody_else(here: Path) -> None:
    found = targets_of(["a", "missing", "file.txt", "github:wrong"], "", {})
    assert shown(found) == ["a"]
    assert len(found.troubles) == 3
    assert "missing does not exist" in found.troubles[0]


@pytest.mark.parametrize("word", ["missing", "file.txt", "github:wrong", "ext::sh", "@nothing", "github:o/n@-x"])
def test_when_nothing_is_left_it_is_an_error(here: Path, word: str) -> None:
    with pytest.raises(MgrepError):
        targets_of([word], "", {})


def test_a_workspace_is_its_places(here: Path) -> None:
    known = {"work": (str(here / "a"), str(here / "b"), "github:o/n"), "one": (str(here / "a"),)}
    by_mark, by_flag = targets_of(["@work"], "", known), targets_of([], "work", known)
    assert shown(by_mark) == shown(by_flag) == ["a", "b", "github:o/n"]
    assert by_mark.title == by_flag.title == "work"
    both = targets_of(["@one", "b"], "", known)
    assert (shown(both), both.title) == (["a", "b"], "")


def test_a_workspace_may_name_others_and_itself(here: Path) -> None:
    known = {
        "all": ("@work", "github:o/n", "@all"),
        "work": (str(here / "a"), "@all", "@one"),
        "one": (str(here / "b"),),
    }
    found = targets_of(["@all"], "", known)
    assert (shown(found), found.title, found.troubles) == (["a", "b", "github:o/n"], "all", ())


def test_an_unknown_workspace_names_those_that_are(here: Path) -> None:
    with pytest.raises(MgrepError, match="@work"):
        targets_of(["@wrok"], "", {"work": ("a",)})
    (here / "@folder").mkdir()
    assert shown(targets_of(["@folder"], "", {})) == ["@folder"]


def test_workspaces_come_from_ones_own_file_only(tmp_path: Path) -> None:
    own, project = tmp_path / "config.toml", tmp_path / ".mgrep-tui.toml"
    own.write_text('[workspaces]\nwork = ["~/a", "github:o/n"]\nbad = "~/a"\nempty = []\nmixed = ["a", 1]\n')
    project.write_text('[workspaces]\nwork = ["/etc"]\nevil = ["github:e/v"]\n[repositories]\nmax_mb = 100000\n')
    loaded = load_settings(own, project)
    assert loaded.settings.workspaces == {"work": ("~/a", "github:o/n")}
    assert loaded.settings.repositories.max_mb == 2_000
    text = "\n".join(loaded.warnings)
    assert all(f"workspaces.{name}" in text for name in ("bad", "empty", "mixed"))
    assert f"{own}:3" in text
    assert "'workspaces' is not taken from a project's file" in text
