"""The bytes of a file: read without following links, without blocking and without mapping, then brought into the form that is searched.

Files are opened part by part below the root's folder, each part without following a link, so that a folder that was replaced by a link
never leads out of the root. Opening never blocks (a FIFO answers at once and is refused). Files that others own are never mapped: one
that shrinks would kill the process.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from types import TracebackType

from mgrep_tui.corpus.decode import Searchable, decode_line, decode_text, searchable, split_lines
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import GoneError, UnreadableError
from mgrep_tui.model import FileStat
from mgrep_tui.text.sanitize import display_path

__all__ = ["RawFile", "Reader", "Searchable", "decode_line", "decode_text", "read_file", "searchable", "split_lines"]

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_HAS_FOLDER_DESCRIPTORS = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
# How often a file that changes while it is read is read again before it is given up.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class RawFile:
    """All bytes of a file, and the stat that belongs to exactly these bytes."""

    stat: FileStat
    data: bytes


class Reader:
    """Reads many files below one root, fastest in the order of their paths. Not for two threads at once; close it after use.

    It keeps the folders of the last path open, so a file costs one open relative to its folder. A folder that is moved away while a
    reader lives is still read under its old name: make a reader for each search, not for longer.
    """

    __slots__ = ("_folder_path", "_folders", "_parts", "_root")

    def __init__(self, root: Root) -> None:
        self._root = root
        self._folders: list[int] = []
        self._parts: list[bytes] = []
        self._folder_path: bytes | None = None  # the folder that is open last, None when none is

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        while self._folders:
            os.close(self._folders.pop())
        self._parts.clear()
        self._folder_path = None

    def open(self, path: bytes) -> int:
        """A descriptor of the regular file at `path`, which the caller closes. Raises OSError and UnreadableError."""
        if not _HAS_FOLDER_DESCRIPTORS:
            return self._open_by_name(path)
        folder, _, name = path.rpartition(b"/")
        descriptor = self._folders[-1] if folder == self._folder_path else self._enter(folder)
        return os.open(name, _FLAGS, dir_fd=descriptor)

    def _enter(self, folder: bytes) -> int:
        """Open `folder` part by part from where the last one parts from it."""
        self._folder_path = None
        parts = folder.split(b"/") if folder else []
        if not self._folders:
            self._folders.append(os.open(self._root.path, _FOLDER_FLAGS & ~getattr(os, "O_NOFOLLOW", 0)))
        common = 0
        for ours, theirs in zip(self._parts, parts, strict=False):
            if ours != theirs:
                break
            common += 1
        while len(self._parts) > common:
            os.close(self._folders.pop())
            self._parts.pop()
        for part in parts[common:]:
            if part in (b"..", b".", b""):
                raise UnreadableError(f"{display_path(folder)} is not a path below the root.")
            self._folders.append(os.open(part, _FOLDER_FLAGS, dir_fd=self._folders[-1]))
            self._parts.append(part)
        self._folder_path = folder
        return self._folders[-1]

    def _open_by_name(self, path: bytes) -> int:
        absolute = self._root.absolute(path)
        if os.path.realpath(os.path.dirname(absolute)) != os.path.dirname(absolute) or os.path.islink(absolute):
            raise UnreadableError(f"{display_path(path)} leads out of its folder by a link.")
        return os.open(absolute, _FLAGS)

    def read(self, path: bytes, limit_bytes: int) -> RawFile:
        """The file at `path`, whole. Raises UnreadableError when it is gone, forbidden, special, linked, larger than the limit, or
        changes each time it is read."""
        try:
            for _ in range(_ATTEMPTS):
                found = self._read_once(path, limit_bytes)
                if found is not None:
                    return found
        except OSError as error:
            raise unreadable(path, error) from error
        raise UnreadableError(f"{display_path(path)} changes while it is read.")

    def _read_once(self, path: bytes, limit_bytes: int) -> RawFile | None:
        descriptor = self.open(path)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise UnreadableError(f"{display_path(path)} is not a regular file.")
            size = before.st_size
            if size > limit_bytes:
                raise UnreadableError(f"{display_path(path)} is larger than the limit of {limit_bytes / 1e6:,.0f} MB.")
            data = os.read(descriptor, size + 1)
            if len(data) != size:
                data = _rest(descriptor, data, size)
            after = FileStat.of(os.fstat(descriptor))
        finally:
            os.close(descriptor)
        is_still = before.st_mtime_ns == after.mtime_ns and before.st_ctime_ns == after.ctime_ns
        return RawFile(after, data) if is_still and len(data) == size == after.size_bytes else None


def _rest(descriptor: int, data: bytes, size: int) -> bytes:
    """`data` and what follows it, up to one byte more than `size`: a read may return less than was asked for."""
    parts = [data]
    have = len(data)
    while have <= size:
        part = os.read(descriptor, size + 1 - have)
        if not part:
            break
        parts.append(part)
        have += len(part)
    return b"".join(parts)


def read_file(root: Root, path: bytes, limit_bytes: int) -> RawFile:
    """One file, as `Reader.read`. Any thread."""
    with Reader(root) as reader:
        return reader.read(path, limit_bytes)


def unreadable(path: bytes, error: OSError) -> UnreadableError:
    """The error of a file that the system refused, in words for a person."""
    name = display_path(path)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return GoneError(f"{name} is gone.")
    if error.errno == errno.ELOOP:
        return UnreadableError(f"{name} is a link now.")
    if error.errno in (errno.ENXIO, errno.ENODEV):
        return UnreadableError(f"{name} is not a regular file.")
    return UnreadableError(f"{name} cannot be read: {error.strerror}.")
