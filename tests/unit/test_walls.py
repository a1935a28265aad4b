"""The rooms and their walls: who may import whom, and what must not be loaded before it is needed.

Two guards, because each sees what the other cannot: the contracts in pyproject.toml read the source and know of every import, also those
inside functions; the subprocess below sees what really ends up loaded, also through a library.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
ROOMS_WITHOUT_A_SCREEN = [
    "settings.load", "text.highlight", "corpus.walk", "chunking", "ngram.snapshot", "embedding.static", "retrieval.vectors",
    "index.worker", "search.regex", "search.semantic", "explorer.local", "commands.search", "commands.report", "editor.launch", "clipboard",
]  # fmt: skip


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    return {name.split(".")[0] for name in done.stdout.split()} | set(done.stdout.split())


@pytest.mark.parametrize("room", ROOMS_WITHOUT_A_SCREEN)
def test_no_room_but_the_screen_loads_textual_or_rich(room: str) -> None:
    assert not {"textual", "rich"} & loaded_after(f"import mgrep_tui.{room}")


def test_help_and_errors_load_nothing_heavy() -> None:
    loaded = loaded_after("import mgrep_tui.cli")
    assert not {"textual", "rich", "numpy", "re2", "tree_sitter", "watchdog", "sqlite3", "tantivy", "usearch"} & loaded


def test_the_first_paint_loads_nothing_heavy() -> None:
    loaded = loaded_after("import mgrep_tui.ui.app, mgrep_tui.commands.screen, mgrep_tui.jobs.tracker")
    heavy = {
        "numpy",
        "re2",
        "tree_sitter",
        "watchdog",
        "tantivy",
        "usearch",
        "numba",
        "torch",
        "sentence_transformers",
        "pathspec",
        "pebble",
        "sqlite3",
        "pygments",
    }
    assert not heavy & loaded


def test_the_interface_never_loads_numba_or_torch() -> None:
    loaded = loaded_after(
        "import mgrep_tui.explorer.engines, mgrep_tui.index.worker, mgrep_tui.search.regex, mgrep_tui.search.semantic"
    )
    assert not {"numba", "torch", "sentence_transformers", "tree_sitter"} & loaded


def test_the_contracts_of_the_rooms_hold() -> None:
    # Through the interpreter, so that the tool of this environment runs.
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"],
        capture_output=True, text=True, cwd=PROJECT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


ON_ANOTHER_SYSTEM = """
import importlib, os, pkgutil, signal, sys
import mgrep_tui
names = [module.name for module in pkgutil.walk_packages(mgrep_tui.__path__, "mgrep_tui.")]
names = [name for name in names if not name.endswith("__main__")]
for name in names:
    importlib.import_module(name)  # with all that is not ours
for name in ["mgrep_tui", *names]:
    sys.modules.pop(name)
sys.platform = "win32"
for name in ("fcntl", "termios", "resource", "pwd", "grp", "tty", "pty"):
    sys.modules[name] = None
for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY", "pread", "preadv", "pwrite", "pwritev", "getuid", "geteuid", "getpgrp",
             "getsid", "killpg", "setsid", "fchmod", "mkfifo", "nice", "sched_getaffinity", "statvfs", "getpgid", "tcgetpgrp"):
    delattr(os, name)
for name in ("SIGALRM", "SIGKILL", "SIGHUP", "SIGTSTP", "SIGCONT", "SIGPIPE", "SIGWINCH", "SIGUSR1", "SIGQUIT", "SIGCHLD",
             "pthread_sigmask"):
    delattr(signal, name)
for name in names:
    importlib.import_module(name)
"""


def test_the_program_can_start_where_nothing_of_posix_is() -> None:
    """As Windows has it: without these modules, functions and signals. What is not ours has been imported before they go."""
    done = subprocess.run(
        [sys.executable, "-c", ON_ANOTHER_SYSTEM], capture_output=True, text=True, cwd=PROJECT, check=False
    )
    assert done.returncode == 0, done.stderr
