"""The README's recipes for Neovim, tmux and VS Code, run as they stand there. VS Code itself is not at hand: a double takes its place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.terminal import ROOT, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

README = (ROOT / "README.md").read_text(encoding="utf-8")
# Takes the place of Python, which `terminal` starts.
BECOME = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"


def block(language: str, having: str) -> str:
    """The README's block of code that holds a text."""
    return next(text for text in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if having in text)


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A tree, and `mgrep-tui` on the path in regex mode."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a b.py").write_text("def one():\n    unusual_needle()\n\n\n# unusual_needle again\n")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "mgrep-tui"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m mgrep_tui "$@"\n')
    program.chmod(0o755)
    (tmp_path / "home" / "config").mkdir(parents=True)
    (tmp_path / "home" / "config" / "config.toml").write_text('[ui]\nmode = "regex"\n')
    return tmp_path


def environ(place: Path, **more: str) -> dict[str, str]:
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {"MGREP_TUI_HOME": str(place / "home"), "HOME": str(place), "PATH": path, "VISUAL": "", **more}


@needs("nvim")
def test_the_neovim_command_goes_to_what_was_chosen_and_lists_all_of_it(place: Path) -> None:
    (place / "init.lua").write_text(block("lua", '"Mgrep"'))
    words = ["-c", BECOME, "nvim", "-n", "-u", str(place / "init.lua")]
    with terminal(words, size=(120, 36), environ=environ(place), cwd=place / "tree") as source:
        screen = Display(source)
        screen.shows("[No Name]")
        source.send(":Mgrep\r")
        screen.shows("what are you looking for?", "F1")
        source.send("unusual")
        screen.shows("2 hits")
        source.send("\t\t")
        screen.shows("2 marked")
        source.send("\x0f")
        screen.lacks("help")
        screen.shows("def one():", "again")
        source.send(
            f":call writefile([getcurpos()[1], getcurpos()[2]] + map(getqflist(), 'v:val.lnum'), '{place}/got') | q!\r"
        )
        source.end()
    assert (place / "got").read_text().split() == ["2", "5", "2", "5"]


@needs("nvim")
def test_the_neovim_grep_fills_the_quickfix_list(place: Path) -> None:
    (place / "init.lua").write_text(block("lua", "grepprg"))
    write = f"call writefile(map(getqflist(), 'bufname(v:val.bufnr) .. \":\" .. v:val.lnum'), '{place}/got')"
    subprocess.run(
        [
            "nvim",
            "--headless",
            "-n",
            "-u",
            str(place / "init.lua"),
            "-c",
            "silent grep! 'unusual needle'",
            "-c",
            write,
            "-c",
            "qa!",
        ],
        cwd=place / "tree",
        env={**os.environ, **environ(place)},
        check=True,
        timeout=100,
        capture_output=True,
    )
    assert "a b.py:" in (place / "got").read_text()


@needs("tmux")
def test_the_tmux_key_opens_a_window_over_the_others_and_closes_it(place: Path) -> None:
    (place / "tmux.conf").write_text(block("sh", "display-popup") + "set -g default-shell /bin/sh\n")
    words = [
        "-c",
        BECOME,
        "tmux",
        "-L",
        f"recipe-{os.getpid()}",
        "-f",
        str(place / "tmux.conf"),
        "new",
        "-c",
        str(place / "tree"),
        "sh",
    ]
    with terminal(words, size=(120, 40), environ=environ(place, PS1="ready$ "), cwd=place / "tree") as source:
        screen = Display(source)
        screen.shows("ready$")
        source.send("\x02g")
        screen.shows("what are you looking for?", "tree")
        source.send("unusual")
        screen.shows("2 hits")
        source.send("\x03")
        screen.lacks("2 hits")
        source.send("exit\r")
        source.end()


def test_the_vs_code_task_is_json_and_opens_the_hit_in_a_tab(place: Path) -> None:
    task = json.loads(block("json", '"label": "mgrep-tui"'))
    assert task["type"] == "shell"
    code = place / "bin" / "code"
    code.write_text(
        f'#!/bin/sh\nfor word; do echo "$word"; done > {place}/opened.part\nmv {place}/opened.part {place}/opened\n'
    )
    code.chmod(0o755)
    words = ["-c", BECOME, "sh", "-c", task["command"]]
    more = task["options"]["env"]
    with terminal(words, size=(120, 36), environ={**environ(place), **more}, cwd=place / "tree") as source:
        screen = Display(source)
        screen.shows("what are you looking for?", "F1")
        source.send("unusual_needle()")
        screen.shows("2 hits")
        source.send("\r")
        screen.shows("Opened in code.")
        screen.wait(lambda _text: (place / "opened").exists(), "the editor")
        source.send("\x03")
        source.end()
    tree = os.path.realpath(place / "tree")
    assert (place / "opened").read_text().splitlines() == ["-r", "-g", f"{tree}/a b.py:2:5"]
