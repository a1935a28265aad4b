"""Waiting for the index on the command line: a line of progress on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
import time

from mgrep_tui.explorer.local import LocalExplorer
from mgrep_tui.jobs.cancel import CancelToken
from mgrep_tui.model import Health

REDRAW_S = 0.2


def wait_for_index(explorer: LocalExplorer, cancel: CancelToken, *, needs_vectors: bool) -> None:
    """Block until the regex part, or everything, is up to date. Raises `MgrepError` when the index cannot be made at all."""
    last = 0.0
    is_terminal = sys.stderr.isatty()

    def show() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= REDRAW_S:
            last = now
            sys.stderr.write("\r\x1b[K" + progress_line(explorer.health()))
            sys.stderr.flush()

    if is_terminal:
        explorer.subscribe(show)
    try:
        explorer.wait(cancel, needs_vectors=needs_vectors)
    finally:
        if last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def progress_line(health: Health) -> str:
    """One short line such as `building the n-gram index: 12,000 of 78,255 files, 8 s left`."""
    done = f"{health.files_seen - health.files_pending:,} of {health.files_seen:,} files" if health.files_seen else ""
    left = f"{health.eta_s:.0f} s left" if health.eta_s is not None else ""
    parts = ", ".join(part for part in (done, left) if part)
    return f"{health.phase or health.state}: {parts}" if parts else health.phase or str(health.state)
