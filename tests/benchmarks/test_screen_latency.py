"""How quick the screen is, through a real pseudo-terminal: first paint, echo of a key, change of the list, the end.

Run with `pytest -m benchmark tests/benchmarks/test_screen_latency.py -s`; prints milliseconds. `MGREP_TUI_TREE` names a tree to open with
the real program, which indexes it meanwhile (default: this project).
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import pytest

from tests.support.terminal import ROOT, Terminal, terminal

pytestmark = pytest.mark.benchmark

WORDS = ("retry", "return", "import", "class", "value", "error")


def wait_for(screen: Terminal, wanted: str, start: int) -> float:
    """Seconds until `wanted` was written after `start`, control sequences apart."""
    begun = time.perf_counter()
    while wanted not in screen.text(start):
        assert time.perf_counter() - begun < 30, f"{wanted!r} did not come"
        screen.read(0.01)
    return time.perf_counter() - begun


def quiet(screen: Terminal, seconds: float = 0.4) -> None:
    while screen.read(seconds):
        pass


def shown(name: str, seconds: list[float]) -> str:
    ordered = sorted(1000 * each for each in seconds)
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return f"{name}: median {statistics.median(ordered):.0f} ms, p95 {p95:.0f} ms, worst {ordered[-1]:.0f} ms"


def measure(arguments: list[str], environ: dict[str, str], *, rests: bool) -> list[str]:
    begun = time.perf_counter()
    with terminal(arguments, size=(120, 36), environ=environ) as screen:
        wait_for(screen, "F1", 0)
        lines = [f"first paint: {1000 * (time.perf_counter() - begun):.0f} ms"]
        if rests:
            quiet(screen, 1.0)
        echoes, changes = [], []
        for word in WORDS:
            for size, letter in enumerate(word, 1):
                start = len(screen.output)
                screen.send(letter)
                # The box is drawn with the letter behind the others.
                echoes.append(wait_for(screen, word[:size], start))
                time.sleep(0.03)
            changes.append(wait_for(screen, " ms", len(screen.output)))
            quiet(screen, 0.2)
            screen.send("\x15")
            quiet(screen, 0.2)
        begun = time.perf_counter()
        screen.send("\x03")
        screen.end()
        lines += [shown("echo", echoes), shown("list after the last key", changes)]
        lines.append(f"quit: {1000 * (time.perf_counter() - begun):.0f} ms")
    return lines


def test_latency_over_the_fake_explorer() -> None:
    for line in measure(["-m", "tests.support.fake_program"], {}, rests=True):
        print("fake:", line)


def test_latency_while_a_tree_is_indexed(tmp_path: Path) -> None:
    tree = os.environ.get("MGREP_TUI_TREE", str(ROOT))
    arguments = ["-m", "mgrep_tui", "--mode", "regex", "--no-restore", tree]
    for line in measure(arguments, {"MGREP_TUI_HOME": str(tmp_path)}, rests=False):
        print("real:", line)
