"""One writer an index: a file lock that the system drops when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import enum
from pathlib import Path

from filelock import FileLock, Timeout

NAME = "lock"


class Access(enum.Enum):
    """What this process may do with an index folder."""

    WRITER = "writer"
    READER = "another copy writes the index"
    UNWRITABLE = "the index folder cannot be written"


class WriterLock:
    """The lock of one index folder. Belongs to the index worker's thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: FileLock | None = None
        self.detail = ""

    def acquire(self) -> Access:
        """Try once, without waiting. Makes the folder when it is missing. Never raises `OSError`: `detail` says what it was."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = self._lock or FileLock(self._folder / NAME, timeout=0, thread_local=False)
            self._lock = lock
            lock.acquire()
        except Timeout:
            return Access.READER
        except (OSError, NotImplementedError) as error:
            self.detail = getattr(error, "strerror", None) or str(error)
            return Access.UNWRITABLE
        return Access.WRITER

    @property
    def is_held(self) -> bool:
        return self._lock is not None and self._lock.is_locked

    def release(self) -> None:
        if self._lock is not None:
            with contextlib.suppress(OSError):
                self._lock.release()
