"""The screen in a real pseudo-terminal: bytes on the wire, suspend, resize, signals, pipes, the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.terminal import ROOT, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

PROGRAM = ["-m", "tests.support.fake_program"]
ALTERNATE_ON, ALTERNATE_OFF = b"\x1b[?1049h", b"\x1b[?1049l"


def test_no_byte_of_a_file_reaches_the_terminal() -> None:
    """P3: a file of all bytes, in its name too; in list, preview, outline and toast."""
    with terminal([*PROGRAM, "needle"], environ={"FAKE_HOSTILE": "1"}) as screen:
        screen.expect("hits", "needle")
        for keys, wanted in (("\x1b[B", "2/2"), ("\x0c", "wrap"), ("\x07", "Refine")):
            screen.send(keys)
            screen.expect(wanted)
        screen.send("\x03")
        screen.end()
        # Textual's own: the shape of the mouse pointer.
        body = screen.output.replace(b"\x1b]22;default\x07", b"").replace(b"\x1b]22;text\x07", b"")
    assert b"PWNED\x07" not in body
    assert b"\x1b]0;PWNED" not in body
    assert b"]0;PWNED" in body, "it is shown, with stand-ins"
    assert b"\x07" not in body
    for first in range(0x80, 0xA0):
        assert bytes((0xC2, first)) not in body, f"C1 control {first:#x}"
    assert b"\x00" not in body
    assert b"\x7f" not in body


def test_the_editor_gets_the_terminal_and_the_screen_comes_back(tmp_path: Path) -> None:
    """P14: alternate screen off and on again, no key lost, cursor where it was."""
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho "EDITING $1"; read answer; echo "GOT $answer"\n')
    editor.chmod(0o755)
    with terminal([*PROGRAM, "retr"], environ={"FAKE_EDITOR": str(editor)}) as screen:
        screen.expect("18 hits")
        screen.send("\x1b[B")
        screen.expect("2/18")
        screen.send("\r")
        screen.expect("EDITING src/upload/client.py")
        assert screen.output.count(ALTERNATE_OFF) == 1
        screen.send("yes\n")
        screen.expect("GOT yes")
        screen.expect("18 hits", "2/18")
        screen.send("\x1b[B")
        screen.expect("3/18")
        screen.send("\x03")
        assert screen.end() == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [("exit 3", "ended with status 3"), ("kill -INT 0; echo SURVIVED", "18 hits")],
)
def test_an_editor_that_fails_or_is_interrupted_gives_the_screen_back(tmp_path: Path, body: str, said: str) -> None:
    """F5: Ctrl+C in the foreground program does not end ours."""
    editor = tmp_path / "editor.sh"
    editor.write_text(f"#!/bin/sh\ntrap '' INT\n{body}\n")
    editor.chmod(0o755)
    with terminal([*PROGRAM, "retr"], environ={"FAKE_EDITOR": str(editor)}) as screen:
        screen.expect("18 hits")
        screen.send("\r")
        screen.expect(said)
        screen.send("\x1b[B")
        screen.expect("2/18")
        screen.send("\x03")
        screen.end()


def test_an_editor_that_is_not_there_leaves_the_screen_alive() -> None:
    """F4."""
    with terminal([*PROGRAM, "retr"], environ={"FAKE_EDITOR": "/no/such/editor"}) as screen:
        screen.expect("18 hits")
        screen.send("\r")
        screen.expect("could not be started")
        screen.send("\x1b[B")
        screen.expect("2/18")
        screen.send("\x03")
        screen.end()


def test_the_whole_terminal_is_used_also_where_stdout_is_a_file(tmp_path: Path) -> None:
    """`vim $(mgrep-tui --print)`: the screen was 80 by 24 in a window of any size."""
    with (
        (tmp_path / "out").open("wb") as file,
        terminal([*PROGRAM, "retr"], size=(131, 41), stdout=file.fileno()) as source,
    ):
        display = Display(source)
        text = display.shows("F1", "retr", "┴")
        lines = text.split("\n")
        assert len(lines) == 41
        assert len(lines[3]) == 131
        source.send("\x03")
        source.end()


def test_the_chosen_hits_go_to_a_captured_stdout(tmp_path: Path) -> None:
    """`vim $(mgrep-tui --print)`: the screen on the terminal, the answer in the pipe."""
    out = tmp_path / "out"
    with out.open("wb") as file, terminal([*PROGRAM, "retr"], stdout=file.fileno()) as screen:
        screen.expect("18 hits")
        screen.send("\t\t")
        screen.expect("2 marked")
        screen.send("\x0f")
        assert screen.end() == 0
    assert out.read_text() == "src/upload/client.py:7\nsrc/upload/client.py:11\n"


def test_keys_work_when_stdin_is_a_pipe() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"not keys\n")
    os.close(writing)
    try:
        with terminal([*PROGRAM, "retr"], stdin=reading) as screen:
            screen.expect("18 hits")
            screen.send("\x1b[B")
            screen.expect("2/18")
            screen.send("\x03")
            assert screen.end() == 1
    finally:
        os.close(reading)


def test_without_a_terminal_it_says_so() -> None:
    done = subprocess.run(
        [sys.executable, *PROGRAM],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert b"terminal" in done.stderr
    assert b"\x1b[?1049h" not in done.stderr


@pytest.mark.parametrize(
    ("keys", "query"),
    [("\x15delay", "delay"), ("\x1bOQ\x15delay\x1b[D\x1b[DX", "delXay"), ("\x17\x15a\x01b\x05c", "bac")],
)
def test_keys_typed_ahead_keep_their_order(keys: str, query: str) -> None:
    """Clear the line and type on, faster than the screen is drawn."""
    with terminal([*PROGRAM, "retr"]) as screen:
        screen.expect("18 hits")
        screen.send(keys)
        screen.expect(query)
        screen.send("\x03")
        screen.end()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    with terminal([*PROGRAM, "retr"]) as screen:
        before = screen.mode()
        screen.expect("18 hits")
        screen.process.send_signal(number)
        screen.end()
        assert ALTERNATE_OFF in screen.output[-2_000:]
        assert screen.mode()[3] == before[3], "echo and line mode are as before"


@pytest.mark.parametrize("is_deaf", [False, True])
def test_it_ends_when_the_terminal_goes_away(is_deaf: bool) -> None:
    """A closed window or a lost connection: it stayed behind, waiting for ever to write, and took half a processor to look for keys."""
    deaf = (
        "import runpy, signal; from mgrep_tui.ui.app import MgrepApp; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "MgrepApp._take_signals = lambda app: None; runpy.run_module('tests.support.fake_program', run_name='__main__')"
    )
    program = ["-c", deaf, "retr"] if is_deaf else [*PROGRAM, "retr"]
    with terminal(program) as screen:
        screen.expect("18 hits")
        screen.hang_up()
        screen.process.wait(30)


@pytest.mark.parametrize("keys", ["\x03", "\x11", "\x1b", "\x1b[20~\x03", "\x1bOP\x03"])
def test_the_terminal_is_as_before_after_quitting(keys: str) -> None:
    with terminal([*PROGRAM]) as screen:
        before = screen.mode()
        screen.expect("What to type")
        screen.send(keys)
        assert screen.end() == 1
        assert ALTERNATE_OFF in screen.output
        assert screen.output.count(b"\x1b[?1000l") >= 1, "mouse reporting is off"
        assert screen.mode()[3] == before[3]


def test_it_follows_the_size_of_the_terminal() -> None:
    with terminal([*PROGRAM, "retr"], size=(120, 36)) as screen:
        screen.expect("18 hits")
        screen.resize(30, 6)
        screen.expect("too small")
        screen.resize(48, 14)
        screen.expect("18 hits")
        screen.resize(120, 36)
        screen.expect("F9", "help")
        screen.send("\x03")
        screen.end()


@pytest.mark.parametrize(
    "environ", [{"NO_COLOR": "1"}, {"TERM": "linux", "COLORTERM": ""}, {"TERM": "dumb", "COLORTERM": ""}]
)
def test_it_reads_without_colour(environ: dict[str, str]) -> None:
    with terminal([*PROGRAM, "retr"], environ=environ) as screen:
        screen.expect("18 hits", "regular expression", "▌")
        screen.send("\t")
        screen.expect("✓")
        screen.send("\x03")
        screen.end()


def test_nothing_heavy_is_imported_before_the_first_paint() -> None:
    """First paint comes before numpy, grammars, lexers and the index."""
    code = (
        "import sys, mgrep_tui.ui.app, mgrep_tui.explorer.protocol\n"
        "heavy = {'numpy', 'tree_sitter', 'pygments', 'watchdog', 're2', 'tantivy', 'usearch', 'sqlite3', 'numba', 'torch', 'pebble'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
