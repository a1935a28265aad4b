"""Several folders and repositories by address on the real command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.forge import Forge
from tests.support.git_trees import Tree

PROGRAM = [sys.executable, "-m", "mgrep_tui"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("places")
    Tree(base / "api").write(
        "src/upload.py", 'def retry_upload(job):\n    """Try a failed upload again."""\n    needle(job)\n'
    )
    Tree(base / "api").write("inner/deep.py", "needle = 'inner'\n")
    Tree(base / "web").write("main.js", "function needle() {\n  return 1\n}\n")
    Tree(base / "home" / "config").write(
        "config.toml", f'[workspaces]\nboth = ["{base / "api"}", "{base / "web"}"]\n[repositories]\nrefresh_s = 0\n'
    )
    return base


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    made = Forge(tmp_path_factory.mktemp("forge"))
    yield made
    made.close()


def run(place: Path, words: Sequence[str], **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words],
        cwd=place,
        env={
            **os.environ, "MGREP_TUI_HOME": str(place / "home"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
            **environ,
        },
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_hits_of_several_folders_open_from_here(place: Path) -> None:
    found = run(place, ["search", "--mode", "regex", "needle", "api", "./web/"])
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.split("\n")[:-1] == [
        "api/inner/deep.py:1:1:needle = 'inner'",
        "api/src/upload.py:3:5:    needle(job)",
        "./web/main.js:1:10:function needle() {",
    ]


def test_a_folder_within_another_counts_once_and_a_missing_one_is_said(place: Path) -> None:
    found = run(place, ["search", "--mode", "regex", "needle", "api", "api/inner", "missing"])
    assert found.returncode == 2
    assert found.stderr.startswith("mgrep-tui: missing does not exist.")
    assert sorted(found.stdout.split("\n")[:-1]) == [
        "api/inner/deep.py:1:1:needle = 'inner'",
        "api/src/upload.py:3:5:    needle(job)",
    ]


def test_one_list_by_meaning_and_json_names_the_repository(place: Path) -> None:
    found = run(place, ["search", "try a failed upload again", "@both", "--json"])
    assert found.returncode == 0
    first = json.loads(found.stdout.split("\n")[0])
    assert (first["repository"], first["path"]) == ("api", "src/upload.py")
    narrowed = run(place, ["search", "--mode", "regex", "needle repo:web", "@both", "--json"])
    assert [json.loads(line)["repository"] for line in narrowed.stdout.split("\n")[:-1]] == ["web"]


def test_a_folder_that_may_not_be_indexed_stops_nobody_else(place: Path) -> None:
    """One home folder among three places ended the search of all."""
    house = place / "house"
    Tree(house).write("a.py", "needle = 1\n")
    found = run(place, ["search", "needle", "house", "web"], HOME=str(house))
    assert found.returncode == 2
    assert "This is your home folder, and nobody can be asked" in found.stderr
    assert found.stdout.startswith("web/main.js:")
    alone = run(place, ["search", "needle", "house"], HOME=str(house))
    assert (alone.returncode, alone.stdout) == (2, "")


def test_one_wrong_query_among_many_ends_itself_only(place: Path) -> None:
    (place / "queries").write_text("needle\n(\nretry\n")
    found = run(place, ["search", "--mode", "regex", "--queries", "queries", "--json", "api", "web"])
    assert found.returncode == 2
    answers = [json.loads(line) for line in found.stdout.split("\n")[:-1]]
    assert [answer["query"] for answer in answers] == ["needle", "(", "retry"]
    assert ["error" in answer for answer in answers] == [False, True, False]
    assert len(answers[0]["hits"]) == 3


def test_a_repository_is_brought_searched_listed_refreshed_and_removed(place: Path, forge: Forge) -> None:
    tree = forge.repository("ada/engine")
    tree.write("run.py", "def needle():\n    pass\n")
    tree.commit()
    address = forge.url("ada/engine")
    found = run(place, ["search", "--mode", "regex", "def needle", address, "web"])
    assert found.returncode == 0, found.stderr
    path = found.stdout.split(":")[0]
    assert path.endswith("/engine/run.py") and Path(path).read_text().startswith("def needle")
    listed = run(place, ["repos"])
    assert (listed.returncode, address in listed.stdout, "ada/engine" in listed.stdout) == (0, True, True)
    tree.write("run.py", "def other():\n    pass\n")
    commit = tree.commit()
    refreshed = run(place, ["repos", "refresh", "engine"])
    assert (refreshed.returncode, f"now at {commit[:10]}" in refreshed.stdout) == (0, True)
    assert "nothing new" in run(place, ["repos", "refresh"]).stdout
    forge.status = 500
    offline = run(place, ["search", "--mode", "regex", "def other", address])
    assert offline.returncode == 0
    assert "is as of" in offline.stderr
    assert run(place, ["repos", "refresh"]).returncode == 2
    forge.status = 0
    assert json.loads(run(place, ["repos", "--json"]).stdout)["commit"] == commit
    assert run(place, ["index", address]).returncode == 0
    index = [path for path in (place / "home" / "cache" / "roots").iterdir() if path.name.startswith("engine-")]
    assert len(index) == 1
    removed = run(place, ["repos", "remove", "ada/engine"])
    assert not index[0].exists()
    assert (removed.returncode, removed.stdout.startswith(f"Removed {address} with its index")) == (0, True)
    assert not Path(path).exists()
    assert run(place, ["repos"]).returncode == 1
    unknown = run(place, ["repos", "remove", "ada/engine"])
    assert (unknown.returncode, "There is no repository" in unknown.stderr) == (2, True)


def test_without_git_the_archive_is_taken(place: Path, forge: Forge, tmp_path: Path) -> None:
    tree = forge.repository("bob/plain")
    tree.write("a.py", "def needle():\n    pass\n")
    tree.write(".gitignore", "a.py\n")
    tree.git("add", "-f", "a.py")
    commit = tree.commit()
    forge.pack("bob/plain", "main", tree.path, commit)
    found = run(
        place, ["search", "--mode", "regex", "def needle", forge.url("bob/plain") + "@main"], PATH=str(tmp_path)
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split(":")[0].endswith(
        "/plain/a.py"
    )  # in the archive, so it is tracked, whatever .gitignore says


def test_what_cannot_be_brought_is_one_sentence(place: Path, forge: Forge) -> None:
    found = run(place, ["search", "x", forge.url("no/such")])
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"mgrep-tui: There is no repository no/such at {forge.host}.")
    assert "Traceback" not in found.stderr


def test_index_status_and_clean_take_several(place: Path) -> None:
    assert run(place, ["index", "api", "web"]).stdout.count("Indexed in") == 2
    found = run(place, ["status", "--json", "api", "web"])
    roots = [json.loads(line)["root"] for line in found.stdout.split("\n")[:-1]]
    assert roots == [str(place / "api"), str(place / "web")]
    assert run(place, ["clean", "api", "web"]).stdout.count("Removed") == 2
