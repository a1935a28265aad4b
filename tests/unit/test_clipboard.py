"""Text goes to the clipboard by the way that works here, each tried with a program of that name that keeps what it gets."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest

from mgrep_tui import clipboard
from mgrep_tui.clipboard import OSC52_MAX_BYTES, copy, programs

TMUX = ("tmux", "load-buffer", "-w", "-")
SSH = {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}


@pytest.mark.parametrize(
    ("environ", "platform", "names"),
    [
        ({}, "darwin", ["pbcopy"]),
        ({"TMUX": "/tmp/tmux"}, "darwin", ["pbcopy", "tmux"]),
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "linux", ["wl-copy", "xclip", "xsel"]),
        ({"DISPLAY": ":0", "TMUX": "x"}, "linux", ["xclip", "xsel", "tmux"]),
        ({"WSL_DISTRO_NAME": "Debian"}, "linux", ["clip.exe"]),
        ({}, "win32", ["clip.exe"]),
        ({}, "linux", []),
        ({**SSH, "DISPLAY": ":0"}, "linux", []),
        ({**SSH, "TMUX": "x"}, "linux", ["tmux"]),
        ({"SSH_TTY": "/dev/pts/0"}, "darwin", []),
    ],
)
def test_the_programs_of_each_place_in_their_order(environ: dict[str, str], platform: str, names: list[str]) -> None:
    assert [argv[0] for argv in programs(environ, platform)] == names


class Desk:
    """A folder of programs that write what they get into a file of their name."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        patch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def has(self, name: str, status: int = 0) -> None:
        program = self.folder / name
        program.write_text(
            f'#!/bin/sh\necho "$@" > {self.folder}/{name}.words\ncat > {self.folder}/{name}.got\nexit {status}\n'
        )
        program.chmod(0o755)

    def got(self, name: str) -> str | None:
        file = self.folder / f"{name}.got"
        return file.read_text(encoding="utf-8") if file.exists() else None


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


TEXT = "src/ü.py:7\n'quoted' $(not run)"


@pytest.mark.parametrize(
    ("environ", "platform", "name"),
    [
        ({}, "darwin", "pbcopy"),
        ({"WAYLAND_DISPLAY": "w"}, "linux", "wl-copy"),
        ({"DISPLAY": ":0"}, "linux", "xclip"),
        ({"WSL_DISTRO_NAME": "Debian"}, "linux", "clip.exe"),
        ({"TMUX": "x", **SSH}, "linux", "tmux"),
    ],
)
def test_each_program_gets_the_text_as_it_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], platform: str, name: str
) -> None:
    monkeypatch.setattr(clipboard, "programs", lambda environ: programs(environ, platform))
    desk.has(name)
    result = copy(TEXT, environ)
    assert desk.got(name) == TEXT
    assert result.said == ("copied to tmux" if name == "tmux" else "copied")
    assert not result.to_terminal


def test_a_program_that_fails_gives_way_to_the_next_and_at_last_to_the_terminal(desk: Desk) -> None:
    desk.has("wl-copy", status=1)
    desk.has("xclip")
    both = {"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}
    assert copy(TEXT, both).said == "copied"
    assert desk.got("xclip") == TEXT
    desk.has("xclip", status=1)
    desk.has("xsel", status=1)
    result = copy(TEXT, both)
    assert result.said == "sent to the terminal"
    code = result.to_terminal.removeprefix("\x1b]52;c;").removesuffix("\x07")
    assert base64.b64decode(code).decode() == TEXT


def test_what_a_terminal_would_drop_is_said_and_not_sent(desk: Desk) -> None:
    result = copy("x" * (OSC52_MAX_BYTES + 1), {})
    assert result.said.startswith("too long")
    assert not result.to_terminal


def test_a_program_that_hangs_is_left_behind(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*_arguments: object, **_options: object) -> None:
        raise subprocess.TimeoutExpired("xclip", 2)

    desk.has("xclip")
    monkeypatch.setattr(subprocess, "run", hangs)
    assert copy(TEXT, {"DISPLAY": ":0"}).said == "sent to the terminal"
