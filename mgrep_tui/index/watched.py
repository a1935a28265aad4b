"""Which folder each watch of the kernel belongs to: the book of one inotify queue.

Watches follow a folder wherever it is moved; paths do not. So a folder that is moved away loses its watches, and one that arrives is
watched anew.
"""

from __future__ import annotations

import errno
import os

from mgrep_tui.index.inotify import Inotify

# What says that there is no watch left, for a folder that could have one.
_EXHAUSTED = (errno.ENOSPC, errno.ENOMEM)


class Watched:
    """Folders relative to the root, without a slash at the end; the root is empty. One thread at a time."""

    def __init__(self, base: bytes) -> None:
        """`base` is the root's absolute path with a slash at its end. Raises OSError when the user has too many queues."""
        self._base = base
        self.queue = Inotify()
        self._folders: dict[int, bytes] = {}
        self._watches: dict[bytes, int] = {}
        self.is_exhausted = False
        self.has_alias = False

    def __len__(self) -> int:
        return len(self._watches)

    def __contains__(self, folder: bytes) -> bool:
        return folder in self._watches

    def folder_of(self, watch: int) -> bytes | None:
        return self._folders.get(watch)

    def add(self, folder: bytes) -> bool:
        """Watch a folder. Whether its children are to be looked at; False when it is gone or not to be read."""
        try:
            watch = self.queue.add(self._base + folder)
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self.is_exhausted = True
                return True
            return False
        old = self._folders.get(watch)
        if old is not None and old != folder:
            if self._is_same(old, folder):
                self.has_alias = True  # a folder under two names, by a bind mount inside: events name one of them only
            elif self._watches.get(old) == watch:
                del self._watches[old]
        self._folders[watch] = folder
        self._watches[folder] = watch
        return True

    def _is_same(self, first: bytes, second: bytes) -> bool:
        try:
            return os.path.samestat(os.lstat(self._base + first), os.lstat(self._base + second))
        except OSError:
            return False

    def forget(self, watch: int) -> None:
        """The kernel has dropped the watch: the folder is gone."""
        folder = self._folders.pop(watch, None)
        if folder is not None and self._watches.get(folder) == watch:
            del self._watches[folder]

    def drop_below(self, folder: bytes) -> None:
        """The folder was moved away: end its watches and those below it."""
        below = folder + b"/"
        for path in [path for path in self._watches if path == folder or path.startswith(below)]:
            watch = self._watches.pop(path)
            self._folders.pop(watch, None)
            self.queue.remove(watch)

    def close(self) -> None:
        self.queue.close()
