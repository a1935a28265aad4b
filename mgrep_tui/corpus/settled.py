"""Whether a stat can be trusted to tell a later write."""

from __future__ import annotations

import os

from mgrep_tui.model import FileStat

# Clocks of file systems tick coarsely: 4 ms to 10 ms for most on Linux, 1 s for HFS+, 2 s for FAT.
SETTLE_NS = 2_000_000_000


def is_settled(stat: FileStat, taken_ns: int) -> bool:
    """Whether a later write must have changed `stat`, which was taken at `taken_ns` (`time.time_ns()`, before the read).

    Where the file system keeps a change time, that one counts alone: no program can set it. A time in the future (a clock set back)
    is never settled.
    """
    stamp = stat.ctime_ns if os.name == "posix" else max(stat.mtime_ns, stat.ctime_ns)
    return stamp < taken_ns - SETTLE_NS
