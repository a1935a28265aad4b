"""The keys that `--init` binds, in the real shells: the chosen place comes into the command line at the cursor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mgrep_tui.commands.shell import SHELLS, script
from tests.support.terminal import ROOT, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

NAME = "a b's.py"
START = {
    "bash": ["--noprofile", "--norc", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "-i"],
}
# Takes the place of Python, which `terminal` starts.
BECOME = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"


def begin(shell: str) -> str:
    """Evaluates the script, and says so in words that are not those typed."""
    if shell == "fish":
        return 'mgrep-tui --init fish | source; echo "rea"dy\r'
    return f'eval "$(mgrep-tui --init {shell})"; echo "rea"dy\r'


@pytest.mark.parametrize(("key", "printed"), [("\x18\x07", NAME + ":2:5"), ("\x18\x06", NAME)], ids=["place", "path"])
@pytest.mark.parametrize("shell", SHELLS)
def test_the_key_inserts_what_was_chosen(shell: str, key: str, printed: str, tmp_path: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    tree, programs = tmp_path / "tree", tmp_path / "bin"
    tree.mkdir()
    programs.mkdir()
    (tree / NAME).write_text("def one():\n    unusual_needle()\n")
    program = programs / "mgrep-tui"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m mgrep_tui --mode regex --no-restore "$@"\n'
    )
    program.chmod(0o755)
    environ = {
        "MGREP_TUI_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PS1": "$ ",
    }
    with terminal(["-c", BECOME, shell, *START[shell]], size=(120, 36), environ=environ, cwd=tree) as screen:
        screen.send(begin(shell))
        screen.expect("ready")
        # The cursor stands between the two words when the key is pressed.
        screen.send("printf '<%s>\\n' AFTER > ../got\x1b[D" + "\x1b[D" * len("AFTER > ../got") + "\x1b[C")
        screen.send(key)
        screen.expect("what are you looking for?")
        screen.send("unusual_n")
        screen.expect("1 hit")
        screen.send("\x0f")
        screen.expect("AFTER")
        screen.send("\r" + "exit\r")
        screen.end()
    assert (tmp_path / "got").read_text() == f"<{printed}>\n<AFTER>\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_printed_and_is_the_shells_own_language(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mgrep_tui", "--init", shell], capture_output=True, text=True, check=True
    )
    assert done.stdout == script(shell)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True, capture_output=True)
