"""How much a repository may take while it comes: of the disk, of the memory. Both are looked at while the work goes on."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.errors import MgrepError

# What is left free of the disk, whatever the settings say: others live there too.
SPARE_BYTES = 500_000_000
# Of the memory that is free when the work begins, the share that its processes may take.
MEMORY_SHARE = 0.6

# What a disk answers that takes nothing more; no connection ends with one of these.
DISK_ERRORS = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EACCES, errno.EPERM))
ROOM_HINT = "Make room there, remove a repository (mgrep-tui repos remove NAME), or set MGREP_TUI_HOME to another disk."

WRITABLE_HINT = "Set MGREP_TUI_HOME to a folder that can be written."


def disk_hint(number: int | None) -> str:
    """What to do about an error of the disk, by its number."""
    return ROOM_HINT if number in (errno.ENOSPC, errno.EDQUOT) else WRITABLE_HINT


class LimitError(MgrepError):
    """A repository is larger than what may be taken for it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest tree with its git folder, in bytes; how many files; and the memory of the processes that bring it (0: not looked at)."""

    disk_bytes: int
    files: int
    memory_bytes: int = 0


def check_size(folder: Path, limits: Limits, size_bytes: int) -> None:
    """Raise `LimitError` when what has come is too much, or the disk is nearly full."""
    if size_bytes > limits.disk_bytes:
        raise LimitError(
            f"The repository is larger than {limits.disk_bytes / 1e6:,.0f} MB.",
            "Raise repositories.max_mb in the configuration to take it all the same.",
        )
    free = free_bytes(folder)
    if free is not None and free < SPARE_BYTES:
        raise LimitError(
            f"The disk of {folder} has only {free / 1e6:,.0f} MB left.",
            ROOM_HINT,
        )


def free_bytes(folder: Path) -> int | None:
    """What is free on the disk of a folder or of the nearest one above it that exists."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def size_of(folder: Path) -> int:
    """What a folder takes, links not followed, in bytes; what vanishes meanwhile counts as nothing."""
    total = 0
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            total += entry.stat(follow_symlinks=False).st_size
                    except OSError:
                        continue
        except OSError:
            continue
    return total


def available_memory() -> int | None:
    """What the system could give now, in bytes; None where it does not tell (other than Linux)."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    return None


def memory_of_session(session: int) -> int:
    """The memory that the processes of a session hold, in bytes; 0 where the system does not tell."""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return 0
    for name in names:
        try:
            fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session:
                total += int(fields[21]) * page
        except (OSError, ValueError, IndexError):
            continue
    return total
