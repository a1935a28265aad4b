"""The listing of random trees with `.gitignore` and `.ignore` files against ripgrep's."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from mgrep_tui.corpus.root import open_root
from mgrep_tui.corpus.walk import list_files
from mgrep_tui.settings.config import CorpusSettings
from tests.support.git_trees import Tree

_RIPGREP = shutil.which("rg", path=sysconfig.get_path("scripts") + os.pathsep + os.environ.get("PATH", ""))
_NAMES = ["a", "b", "ab", "foo", "a.o", "b.o", "gen", "x.c"]
_PATTERNS = [
    "a", "b", "ab", "foo", "*.o", "gen", "/a", "/foo/", "foo/", "gen/", "foo/*", "/foo/*", "**/gen", "a/**", "*.c", "*", "a*", "foo/gen",
    "/gen", "b/",
]  # fmt: skip


def _grow(tree: Tree, choose: random.Random) -> list[Path]:
    for _ in range(choose.randint(5, 20)):
        name = "/".join(choose.choice(_NAMES) for _ in range(choose.randint(1, 4)))
        try:
            tree.write(name)
        except OSError:  # a part is a file and a folder at once
            continue
    folders = [
        tree.path,
        *(folder for folder in sorted(tree.path.rglob("*")) if folder.is_dir() and ".git" not in folder.parts),
    ]
    for kind in (".gitignore", ".ignore"):
        for _ in range(choose.randint(0, 2)):
            lines = (
                ("!" if choose.random() < 0.35 else "") + choose.choice(_PATTERNS) for _ in range(choose.randint(1, 3))
            )
            (choose.choice(folders) / kind).write_text("\n".join(lines) + "\n")
    return folders


@pytest.mark.skipif(_RIPGREP is None, reason="ripgrep is not installed")
@pytest.mark.parametrize("with_git", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_the_same_files_as_ripgrep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, with_git: bool) -> None:
    """K1, K3: any rules, started anywhere. Hidden files apart: there a rule of ripgrep's may take one back."""
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    monkeypatch.delenv("RIPGREP_CONFIG_PATH", raising=False)
    choose = random.Random(seed)
    tree = Tree(tmp_path / "tree")
    if with_git:
        tree.init()
    folders = _grow(tree, choose)
    # Outside git we look no further up than the root; ripgrep would.
    flags = [] if with_git else ["--no-require-git", "--no-ignore-parent"]
    for start in {tree.path, choose.choice(folders)}:
        assert _RIPGREP is not None
        done = subprocess.run(
            [_RIPGREP, "--files", "--no-messages", "-0", *flags], cwd=start, capture_output=True, check=False
        )
        theirs = {path for path in done.stdout.split(b"\0") if path and not path.startswith(b".") and b"/." not in path}
        assert {entry.path for entry in list_files(open_root(start), CorpusSettings()).entries} == theirs
