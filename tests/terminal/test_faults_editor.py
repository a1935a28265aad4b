"""Opening hits in an editor from the real program in a real terminal: every name arrives as it is, and the terminal comes back."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.display import Display
from tests.support.terminal import Terminal, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

# The last that the program asks of a terminal that it takes.
PASTE_ON = b"\x1b[?2004h"
ALTERNATE_ON, ALTERNATE_OFF = b"\x1b[?1049h", b"\x1b[?1049l"
# Every name would mean something else to a shell or to an option parser.
NAMES = (
    b"a b.py", b"it's.py", b'say "hi".py', b"$(touch PWNED).py", b"`touch PWNED`.py", b"; touch PWNED;.py", b"-rf.py", b"--cmd=x.py",
    b"+call system(1).py", b"new\nline.py", b"caf\xe9.py", b"\xff\xfe.py", b"app/[id]/[...slug]/page.py", b"[0].py", b"a\\b.py", b"*.py",
    b"~.py", b"{path}.py", b"%s.py", b"x:1:2.py", b" lead.py", b"trail .py", b"#c.py", b"a&b|c>d.py", b"-c/quit.py",
)  # fmt: skip
RECORDER = """#!/bin/sh
for word in "$0" "$@"; do printf '%s\\0' "$word"; done >> {out}
printf '\\1' >> {out}
"""


def write_editor(path: Path, body: str) -> Path:
    path.write_text(body)
    path.chmod(0o755)
    return path


@contextmanager
def opened(root: Path, home: Path, editor: str) -> Iterator[tuple[Terminal, Display]]:
    environ = {"MGREP_TUI_HOME": os.fspath(home), "EDITOR": editor, "VISUAL": ""}
    words = ["-m", "mgrep_tui", "--mode", "regex", "--query", "needle", "--no-watch", "--no-restore", os.fspath(root)]
    with terminal(words, size=(110, 30), environ=environ) as source:
        screen = Display(source)
        screen.shows("needle", "index ready")
        yield source, screen


@pytest.mark.parametrize("form", ["bare", "vim", "hx", "template"])
def test_names_reach_the_editor_as_they_are(tmp_path: Path, form: str) -> None:
    """J1, J3, J5, P5: one argument that is the whole path, never an option, never a command of a shell."""
    root, out = tmp_path / "tree", tmp_path / "argv"
    names = NAMES if form == "bare" else NAMES[::4]
    for name in names:
        file = os.path.join(os.fsencode(root), name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        Path(os.fsdecode(file)).write_bytes(b"\n  needle\n")
    name = "hx" if form == "hx" else "vim" if form == "vim" else "myeditor"
    editor = write_editor(tmp_path / name, RECORDER.format(out=shlex.quote(str(out))))
    words = f"{shlex.quote(str(editor))} {{path}} -at {{line}},{{column}}" if form == "template" else str(editor)
    if form == "bare":
        words = f"{words} --wait-not 'two words'"
    with opened(root, tmp_path / "home", words) as (source, screen):
        screen.shows(f"{len(names)} hits")
        source.send("\x1b[1;5H")  # Ctrl+Home
        screen.shows(f" 1/{len(names)}")
        for number in range(1, len(names) + 1):
            source.send("\r")
            screen.wait(lambda _text: out.exists() and out.read_bytes().count(b"\1") == number, "the editor")  # noqa: B023
            # Until the program has the terminal back a Ctrl+C is the editor's, and rightly lost.
            screen.wait(lambda _text: source.output.count(PASTE_ON) > number, "the screen again")  # noqa: B023
            screen.shows(f" {number}/{len(names)}")
            if number < len(names):
                source.send("\x1b[B")
                screen.shows(f" {number + 1}/{len(names)}")
        source.send("\x03")
        source.end()
    calls = [call.split(b"\0")[:-1] for call in out.read_bytes().split(b"\1")[:-1]]
    base = os.path.join(os.fsencode(os.path.realpath(root)), b"")
    before: list[bytes] = []
    after: list[bytes] = []
    suffix = b""
    if form == "bare":
        before = [b"--wait-not", b"two words"]
    elif form == "vim":
        before = [b"+2", b"+normal! 02lzv", b"--"]
    elif form == "hx":
        suffix = b":2:3"
    else:
        after = [b"-at", b"2,3"]
    assert all(call[0] == os.fsencode(editor) for call in calls)
    assert sorted(call[1:] for call in calls) == sorted([*before, base + each + suffix, *after] for each in names)
    assert not list(tmp_path.rglob("PWNED")) and not Path("PWNED").exists()


def test_it_ends_when_the_terminal_goes_away_under_an_editor(tmp_path: Path) -> None:
    """The screen cannot be taken back then, and nothing waits for it."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("needle\n")
    editor = write_editor(tmp_path / "myeditor", "#!/bin/sh\nprintf 'IN THE EDITOR'; read line\n")
    with opened(root, tmp_path / "home", str(editor)) as (source, _screen):
        source.send("\r")
        source.expect("IN THE EDITOR")
        source.hang_up()
        source.process.wait(30)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("exit 3", "ended with status 3"),
        ("kill -KILL $$", "ended"),
        ("kill -TERM $$", "ended"),
        ("trap '' INT; printf 'IN THE EDITOR'; read line; stty raw -echo; exit 0", ""),
        ("stty raw -echo; printf '\\033[?1049h\\033[?1000h\\033[?25l'; exit 0", ""),
    ],
    ids=["status", "killed", "terminated", "ignores Ctrl+C", "leaves modes behind"],
)
def test_the_terminal_comes_back_whatever_the_editor_does(tmp_path: Path, body: str, said: str) -> None:
    """P14"""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("needle one\nneedle two\n")
    editor = write_editor(tmp_path / "ed", f"#!/bin/sh\n{body}\n")
    with opened(root, tmp_path / "home", str(editor)) as (source, screen):
        before = source.mode()
        screen.shows("2 hits")
        source.send("\r")
        if "IN THE EDITOR" in body:
            screen.wait(lambda _text: b"IN THE EDITOR" in source.output, "the editor")
            source.send("\x03")
            source.send("done\n")
        screen.wait(lambda _text: source.output.count(ALTERNATE_ON) >= 2, "the screen")
        if said:
            screen.shows(said)
        source.send("\x1b[B")
        screen.shows(" 2/2")
        assert source.mode()[3] == before[3], "keys come one by one again"
        source.send("\x03")
        source.end()
        assert ALTERNATE_OFF in source.output[-4_000:]
        assert b"\x1b[?25h" in source.output[-4_000:] and b"\x1b[?1000l" in source.output[-4_000:]


@pytest.mark.parametrize("editor", ["not-an-editor-x", "'unclosed", "{path} {path}", "/etc/passwd"])
def test_an_editor_that_cannot_be_started_is_said_before_the_screen_is_given_up(tmp_path: Path, editor: str) -> None:
    """P5"""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("needle one\nneedle two\n")
    with opened(root, tmp_path / "home", editor) as (source, screen):
        screen.shows("2 hits")
        source.send("\r")
        screen.wait(
            lambda text: any(word in text for word in ("was not found", "cannot be read", "exactly once")), "a toast"
        )
        assert source.output.count(ALTERNATE_ON) == 1
        source.send("\x1b[B")
        screen.shows(" 2/2")
        source.send("\x03")
        source.end()
