"""Reading and writing at an offset of an open file, by several threads at once."""

from __future__ import annotations

import os
import sys
import threading

_lock = threading.Lock()  # where the system has no call for it: the position of a descriptor is shared


def read_at(fd: int, size_bytes: int, offset: int) -> bytes:
    """`size_bytes` bytes from `offset` on, or fewer at the file's end. Raises OSError."""
    parts: list[bytes] = []
    while size_bytes:
        part = _read_once(fd, size_bytes, offset)
        if not part:
            break
        parts.append(part)
        size_bytes -= len(part)
        offset += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def write_at(fd: int, content: memoryview, offset: int) -> None:
    """Write all of `content` (bytes) at `offset`. Raises OSError."""
    while len(content):
        wrote = _write_once(fd, content, offset)
        content = content[wrote:]
        offset += wrote


if sys.platform == "win32":

    def _read_once(fd: int, size_bytes: int, offset: int) -> bytes:
        with _lock:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, size_bytes)

    def _write_once(fd: int, content: memoryview, offset: int) -> int:
        with _lock:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.write(fd, content)

else:
    _read_once = os.pread
    _write_once = os.pwrite
