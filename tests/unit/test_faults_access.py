"""What may not be read, what may not be written, and a disk that is full: the real commands as an ordinary user has them."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.git_trees import Tree

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="permissions and mounts as Linux has them")

PR_CAPBSET_DROP, READS_ALL = (
    24,
    (1, 2),
)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: without them root is bound by modes as others are


def _bound_by_modes() -> None:
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in READS_ALL:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def run(words: Sequence[str], home: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mgrep_tui", *words],
        cwd=cwd,
        env={
            **os.environ,
            "MGREP_TUI_HOME": str(home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        preexec_fn=_bound_by_modes,
        timeout=100,
        check=False,
    )


def can_be_read_all_the_same(path: Path) -> bool:
    """Some sandboxes give root everything."""
    return (
        subprocess.run(["cat", str(path)], preexec_fn=_bound_by_modes, capture_output=True, check=False).returncode == 0
    )


@pytest.fixture
def opened_again() -> Iterator[list[Path]]:
    """Folders that were closed; pytest must be able to remove them."""
    paths: list[Path] = []
    yield paths
    for path in paths:
        path.chmod(0o755)


@pytest.mark.parametrize("is_git", [False, True])
def test_what_may_not_be_read_is_counted_and_the_rest_is_found(
    tmp_path: Path, opened_again: list[Path], is_git: bool
) -> None:
    """I5: a folder without any right, one that may be listed but not entered, a file; each is named, none ends the run."""
    tree = Tree(tmp_path / "tree")
    if is_git:
        tree.init()
    for name in ("good/a.py", "locked/b.py", "listed/c.py", "also/d.py", "closed.py"):
        tree.write(name, "needle = 1\n")
    for name, mode in (("closed.py", 0), ("locked", 0), ("listed", 0o444)):
        (tree.path / name).chmod(mode)
        opened_again.append(tree.path / name)
    if can_be_read_all_the_same(tree.path / "closed.py"):
        pytest.skip("modes bind nobody here")
    found = run(["search", "--mode", "regex", "needle"], tmp_path / "home", tree.path)
    assert (found.returncode, sorted(found.stdout.split("\n"))) == (
        0,
        ["", "also/d.py:1:1:needle = 1", "good/a.py:1:1:needle = 1"],
    )
    assert "Traceback" not in found.stderr
    made = run(["index", "--json"], tmp_path / "home", tree.path)
    assert made.returncode == 0, made.stderr
    health = json.loads(made.stdout)
    assert health["skipped"]["unreadable"] >= 2 and health["chunks"] == 2
    why = run(["why", "closed.py"], tmp_path / "home", tree.path)
    assert why.returncode == 1 and "unreadable" in why.stdout
    assert "unreadable" in run(["why", "locked/b.py"], tmp_path / "home", tree.path).stdout


@pytest.mark.parametrize("state", ["nothing yet", "an index"])
@pytest.mark.parametrize("mode", ["regex", "semantic"])
def test_a_home_that_may_not_be_written_is_searched_around(
    tmp_path: Path, opened_again: list[Path], state: str, mode: str
) -> None:
    """M5: with the index that is there, or with one for the time being; what was just written is found."""
    tree, home = Tree(tmp_path / "tree"), tmp_path / "home"
    tree.write("a.py", "def needle():\n    return 1\n")
    home.mkdir()
    if state == "an index":
        assert run(["index"], home, tree.path).returncode == 0
    for path in (*sorted(home.rglob("*"), reverse=True), home):
        path.chmod(0o555 if path.is_dir() else 0o444)
        if path.is_dir():
            opened_again.insert(0, path)
    if (
        subprocess.run(
            ["touch", str(home / "x")], preexec_fn=_bound_by_modes, capture_output=True, check=False
        ).returncode
        == 0
    ):
        pytest.skip("modes bind nobody here")
    found = run(["search", "--mode", mode, "needle"], home, tree.path)
    assert found.returncode == 0 and found.stdout.startswith("a.py:1:"), found.stderr
    assert "Traceback" not in found.stderr
    tree.write("b.py", "def needle_too():\n    return 1\n")
    assert "b.py:1:" in run(["search", "--mode", "regex", "needle"], home, tree.path).stdout
    assert run(["status"], home, tree.path).returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("a small disk cannot be made here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("left", [0, 300_000])
def test_a_full_disk_is_said_and_searched_around(tmp_path: Path, small_disk: Path, left: int) -> None:
    """M3: the place is named, the files are found."""
    tree = Tree(tmp_path / "tree")
    for number in range(120):
        tree.write(
            f"m{number}.py", "".join(f"def needle_{number}_{k}(value):\n    return value + {k}\n\n" for k in range(40))
        )
    with (small_disk / "filler").open("wb") as file:
        file.write(bytes((1 << 20) - left - 8_192))
    found = run(["search", "--mode", "regex", "needle_7_7", "-w"], small_disk, tree.path)
    assert found.stdout == "m7.py:22:5:def needle_7_7(value):\n" and found.returncode == 0, found.stderr
    meant = run(["search", "needle"], small_disk, tree.path)
    if not meant.stdout:  # what fits in so little is found by words
        assert (meant.returncode, "off" in meant.stderr, str(small_disk) in meant.stderr) == (2, True, True), meant
    made = run(["index", "--json"], small_disk, tree.path)
    assert "Traceback" not in made.stderr and "fault of its own" not in made.stderr
    said = made.stderr + (json.loads(made.stdout)["last_error"] if made.stdout else "")
    assert ("full" in said or "space" in said) and str(small_disk) in said
    (small_disk / "filler").unlink()
    again = run(["search", "--mode", "regex", "needle_7_7", "-w"], small_disk, tree.path)
    assert again.stdout == found.stdout
