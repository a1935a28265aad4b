"""On what kinds of file system a folder lies, and whether that has changed: only a disk of this machine reports every write to it.

Another machine's write to a network mount, a host's to a folder that it shares with a virtual machine, and a change of a lower layer of an
overlay are never reported. Linux only; elsewhere nothing is known, and so nothing trusted.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterable
from pathlib import Path

TABLE = Path("/proc/self/mountinfo")
# File systems whose every change goes through this kernel. A bind mount shows the same folders of the same file system and reports like it.
LOCAL = frozenset(
    (
        *("bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "hfs", "hfsplus", "jfs", "msdos", "nilfs2"),
        *("ntfs3", "ramfs", "reiserfs", "tmpfs", "udf", "vfat", "xfs", "zfs"),
    )
)


class Mounts:
    """The mounts at and below some folders. Any thread, one at a time."""

    def __init__(self, folders: Iterable[bytes], table: Path = TABLE) -> None:
        """`folders` are absolute and resolved."""
        self._descriptor = -1
        try:
            self._descriptor = os.open(table, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            content = b""
            while block := os.read(self._descriptor, 1 << 16):
                content += block
        except OSError:
            content = b""
        self.foreign = foreign(content, folders)

    def have_moved(self) -> bool:
        """Whether anything was mounted or unmounted since."""
        if self._descriptor < 0:
            return True
        poll = select.poll()
        poll.register(self._descriptor, select.POLLPRI | select.POLLERR)
        return bool(poll.poll(0))

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def foreign(table: bytes, folders: Iterable[bytes]) -> str:
    """The kind of a file system at, above or below one of the folders which does not report every write; empty when there is none. Pure."""
    mounts = [_fields(line) for line in table.splitlines()]
    for folder in folders:
        inside = folder.rstrip(b"/") + b"/"
        above = b""
        kind = "unknown"
        for mount in mounts:
            if mount is None:
                continue
            point, name = mount
            below = point.rstrip(b"/") + b"/"
            if inside.startswith(below) and len(below) >= len(above):
                above, kind = below, name  # a later mount on the same point hides the earlier
            elif below.startswith(inside) and name not in LOCAL:
                return name
        if kind not in LOCAL:
            return kind
    return ""


def _fields(line: bytes) -> tuple[bytes, str] | None:
    """Mount point and kind: fields 5 and, behind the lone dash, the first."""
    before, dash, after = line.partition(b" - ")
    fields = before.split(b" ")
    if not dash or len(fields) < 5:
        return None
    point = fields[4]
    for code, plain in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        point = point.replace(code, plain)
    return point, after.split(b" ")[0].decode("ascii", "replace")
