"""Several places on the real screen: labels, the key that narrows, a repository that comes while one looks, and leaving in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.forge import Forge
from tests.support.git_trees import Tree
from tests.support.terminal import terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    made = Forge(tmp_path / "forge")
    tree = made.repository("ada/engine")
    tree.write("run.py", "def unusual_needle():\n    pass\n")
    tree.commit()
    yield made
    made.close()


def environ(tmp_path: Path) -> dict[str, str]:
    return {"MGREP_TUI_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def kept(tmp_path: Path) -> list[str]:
    try:
        return [name for name in os.listdir(tmp_path / "home/cache/repositories") if not name.endswith(".lock")]
    except FileNotFoundError:
        return []


def test_two_folders_and_a_repository_that_comes_meanwhile(tmp_path: Path, forge: Forge) -> None:
    Tree(tmp_path / "api").write("src/upload.py", "unusual_needle = 1\n")
    Tree(tmp_path / "web").write("main.js", "unusual_needle()\n")
    forge.hangs = True
    out = tmp_path / "out"
    words = ["api", "web", forge.url("ada/engine"), "--mode", "regex", "--query", "unusual_needle", "--print"]
    with (
        out.open("wb") as file,
        terminal(
            ["-m", "mgrep_tui", *words], size=(120, 36), environ=environ(tmp_path), cwd=tmp_path, stdout=file.fileno()
        ) as source,
    ):
        screen = Display(source)
        screen.shows("2 hits", "api/src/upload.py", "web/main.js", "engine: bringing http://")
        forge.hangs = False
        forge.hang.set()
        screen.shows("3 hits", "engine/run.py")
        source.send("\x1bp")  # only this repository: that of the first hit, the definition or the first assignment
        screen.shows("repo:")
        screen.shows("1 hit")
        source.send("\x02")  # back
        screen.shows("3 hits")
        source.send("\x1bp")
        screen.shows("1 hit")
        source.send("\x0f")  # print and leave
        assert source.end() == 0
    line = out.read_text()
    assert line.startswith(("api/src/upload.py:1:", str(tmp_path / "home")))


def test_leaving_while_a_repository_comes_leaves_nothing(tmp_path: Path, forge: Forge) -> None:
    forge.hangs = True
    with terminal(["-m", "mgrep_tui", forge.url("ada/engine")], environ=environ(tmp_path), cwd=tmp_path) as source:
        screen = Display(source)
        screen.shows("bringing http://")
        assert forge.began.wait(30)
        source.send("\x03")
        source.end()
    assert kept(tmp_path) == []


def test_an_interrupted_command_leaves_nothing(tmp_path: Path, forge: Forge) -> None:
    forge.hangs = True
    process = subprocess.Popen(
        [sys.executable, "-m", "mgrep_tui", "search", "x", forge.url("ada/engine")],
        env={**os.environ, **environ(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert forge.began.wait(30)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert kept(tmp_path) == []
