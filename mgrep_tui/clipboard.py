"""Text to the clipboard by the way that works here, saying honestly which it was.

On the machine in front of the user a clipboard program is asked; over SSH, or where there is none, the text goes to the terminal (OSC 52),
which may or may not take it; inside tmux through tmux's own buffer.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

# Terminals drop longer sequences without a word (xterm and tmux limits lie near here).
OSC52_MAX_BYTES = 74_000
PROGRAM_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class CopyResult:
    """`said` is a phrase for the person. When `to_terminal` is not empty, the caller writes it to the terminal as it is."""

    said: str
    to_terminal: str = ""


def programs(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[tuple[str, ...], ...]:
    """The clipboard programs that could serve here, best first. Over SSH only tmux, which hands on to the terminal: the others would reach
    the wrong machine's clipboard."""
    in_tmux = (("tmux", "load-buffer", "-w", "-"),) if environ.get("TMUX") else ()
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return in_tmux
    if platform == "darwin":
        return (("pbcopy",), *in_tmux)
    if platform == "win32":
        return (("clip.exe",),)
    found: list[tuple[str, ...]] = []
    if environ.get("WAYLAND_DISPLAY"):
        found.append(("wl-copy",))
    if environ.get("DISPLAY"):
        found += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    if environ.get("WSL_DISTRO_NAME"):
        found.append(("clip.exe",))
    return (*found, *in_tmux)


def harmless(text: str) -> str:
    """What may be pasted anywhere: without the controls that act on a terminal or shell when they are pasted (tabs and line ends stay), and
    with a mark for each byte that is no text. Pure."""
    kept = [char for char in text if char in "\t\n" or not (char < " " or "\x7f" <= char <= "\x9f")]
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in kept)


def copy(text: str, environ: Mapping[str, str]) -> CopyResult:
    """Copy `text`. Never raises; blocks for `PROGRAM_TIMEOUT_S` a program at the most."""
    raw = text.encode("utf-8", "replace")
    for argv in programs(environ):
        if shutil.which(argv[0]) is None:
            continue
        try:
            # Streams to nowhere: xclip stays behind as a child and would hold a pipe open.
            done = subprocess.run(
                argv,
                input=raw,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=PROGRAM_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return CopyResult("copied to tmux" if argv[0] == "tmux" else "copied")
    if len(raw) > OSC52_MAX_BYTES:
        return CopyResult("too long for the terminal's clipboard, and no clipboard program was found")
    return CopyResult("sent to the terminal", f"\x1b]52;c;{base64.b64encode(raw).decode('ascii')}\x07")
