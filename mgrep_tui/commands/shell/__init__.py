"""`mgrep-tui --init SHELL`: the script that binds the screen to a key of that shell."""

from __future__ import annotations

from pathlib import Path

SHELLS = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    """The script of one of `SHELLS`, for that shell to evaluate."""
    return (Path(__file__).parent / f"init.{shell}").read_text(encoding="utf-8")
