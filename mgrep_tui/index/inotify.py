"""The kernel's own file events on Linux, through the C library: watches, and what has happened in them.

Why not watchdog here: it holds events back for half a second and says nothing of folders it could not watch. The kernel queues an event
before the system call that caused it returns. So whoever empties the queue has every event of every write that ended before: that is what
makes a check without a sweep possible.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from typing import Any, NamedTuple

MODIFY = 0x2
ATTRIB = 0x4
CLOSE_WRITE = 0x8
MOVED_FROM = 0x40
MOVED_TO = 0x80
CREATE = 0x100
DELETE = 0x200
DELETE_SELF = 0x400
MOVE_SELF = 0x800
UNMOUNT = 0x2000
OVERFLOW = 0x4000
IGNORED = 0x8000
IS_FOLDER = 0x4000_0000

_ONLY_FOLDERS = 0x0100_0000
_DO_NOT_FOLLOW = 0x0200_0000
_EXCLUDE_UNLINKED = 0x0400_0000
# Reads are not among it, or indexing would wake itself.
_WANTED = (
    MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
    | _ONLY_FOLDERS | _DO_NOT_FOLLOW | _EXCLUDE_UNLINKED
)  # fmt: skip
_HEAD = struct.Struct("iIII")
_PORTION_BYTES = 1 << 18
_LARGEST_BYTES = _HEAD.size + 256


class Event(NamedTuple):
    """`watch` is what `add` answered (-1 for an overflow), `mask` says what happened, `name` to which child of the folder."""

    watch: int
    mask: int
    name: bytes


def is_available() -> bool:
    """Whether this system has it."""
    return sys.platform == "linux"


class Inotify:
    """One queue of events. `read` may be called from any thread, one at a time."""

    def __init__(self) -> None:
        """Raises OSError: EMFILE when this user has too many of them (often 128)."""
        self._library: Any = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self._called(self._library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))

    @staticmethod
    def _called(answer: int) -> int:
        if answer < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return answer

    def add(self, path: bytes) -> int:
        """Watch a folder. The same folder again gives the same number. Raises OSError: ENOSPC when no watch is left."""
        return self._called(self._library.inotify_add_watch(self.descriptor, path, _WANTED))

    def remove(self, watch: int) -> None:
        """Never raises: the folder may be gone, and its watch with it."""
        self._library.inotify_rm_watch(self.descriptor, watch)

    def read(self) -> list[Event]:
        """Every event that was there when this was called, in order; does not wait."""
        events: list[Event] = []
        while True:
            try:
                block = os.read(self.descriptor, _PORTION_BYTES)
            except BlockingIOError:
                return events
            events += parse(block)
            if len(block) <= _PORTION_BYTES - _LARGEST_BYTES:
                return events  # another would have fitted: there was none

    def close(self) -> None:
        os.close(self.descriptor)


def parse(block: bytes) -> list[Event]:
    """Events as the kernel lays them out: watch, mask, cookie, length of the name, 32 bits each; then the name, padded with NULs."""
    events = []
    at = 0
    while at + _HEAD.size <= len(block):
        watch, mask, _, length = _HEAD.unpack_from(block, at)
        at += _HEAD.size
        events.append(Event(watch, mask, block[at : at + length].rstrip(b"\0")))
        at += length
    return events
