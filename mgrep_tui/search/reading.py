"""The bytes of a candidate: its blocks when it is still the file that was indexed, else all of it.

An indexed file is opened by its path below the root. Its stat (size, times, inode) then says whether these are the bytes that the index has
seen; only then are they used. Whatever differs is read again whole and with every care (`corpus.read`), and what is gone is no candidate.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from mgrep_tui.corpus.decode import searchable
from mgrep_tui.corpus.read import Reader
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import UnreadableError

if TYPE_CHECKING:
    from mgrep_tui.ngram.snapshot import Candidate
    from mgrep_tui.search.window import Window

NEWLINE = 10

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
PIECE_BYTES = 1 << 20
BIG_BYTES = 1 << 19
MAX_WINDOW_BYTES = 1 << 23
_CAN_READ_AT = hasattr(os, "pread") and os.open in os.supports_dir_fd


if hasattr(os, "preadv"):

    def _read_into(fd: int, view: memoryview, start: int) -> int:
        return os.preadv(fd, (view,), start)

else:

    def _read_into(fd: int, view: memoryview, start: int) -> int:
        data = os.pread(fd, len(view), start)
        view[: len(data)] = data
        return len(data)


class Part(NamedTuple):
    """Whole lines of a file: `data` begins with line `first_line`."""

    data: bytes
    first_line: int
    starts_file: bool
    ends_file: bool


class CandidateReader:
    """Reads candidates of one root. Not for two threads at once; close it after use."""

    __slots__ = ("_limit_bytes", "_reader", "_root", "_root_fd")

    def __init__(self, root: Root, limit_bytes: int) -> None:
        self._root = root
        self._limit_bytes = limit_bytes
        self._reader: Reader | None = None
        self._root_fd = os.open(root.path, os.O_RDONLY) if _CAN_READ_AT else -1

    def __enter__(self) -> CandidateReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1
        if self._reader is not None:
            self._reader.close()

    def parts(self, candidate: Candidate) -> Iterable[Part]:
        """What of the file is to be looked into; nothing when it is gone, unreadable, too big or binary."""
        path, known, blocks = candidate
        if blocks is not None and known is not None and self._root_fd >= 0:
            parts = self._blocks(path, known, blocks)
            if parts is not None:
                return parts
        data = self.whole(path)
        return () if data is None else _pieces(data)

    def _blocks(
        self, path: bytes, known: tuple[int, int, int, int], blocks: Sequence[tuple[int, int, int]]
    ) -> list[Part] | None:
        try:
            fd = os.open(path, _FLAGS, dir_fd=self._root_fd)
        except OSError:
            return None
        try:
            now = os.fstat(fd)
            if (now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino) != known:
                return None
            parts = []
            for start, length, first_line in blocks:
                data = os.pread(fd, length, start)
                if len(data) != length:
                    return None
                parts.append(Part(data, first_line, first_line == 0, start + length >= known[0]))
            return parts
        except OSError:
            return None
        finally:
            os.close(fd)

    def fill(self, window: Window, candidates: Sequence[Candidate]) -> list[int]:
        """Read what is to be looked into of all these candidates into a window, which was cleared; owners of its parts are their numbers.

        The numbers of those that are too big for that come back. The innermost loop of a search: it is written for few calls.
        """
        root_fd, is_near = self._root_fd, self._root_fd >= 0
        open_file, stat, close = os.open, os.fstat, os.close
        begins, first_lines, owners, ends_file = window.columns
        view, room = window.view, window.room
        at = window.length
        whole: list[int] = []
        big: list[int] = []
        for number, (path, known, blocks) in enumerate(candidates):
            if not is_near or known is None or blocks is None:
                whole.append(number)
                continue
            try:
                fd = open_file(path, _FLAGS, dir_fd=root_fd)
            except OSError:
                whole.append(number)
                continue
            parts, before = len(begins), at
            refused: list[int] | None = None
            try:
                now = stat(fd)
                if (now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino) != known:
                    whole.append(number)
                    continue
                for start, length, first_line in blocks:
                    if length > BIG_BYTES or at > MAX_WINDOW_BYTES:
                        refused = big
                        break
                    if at + length > room:
                        window.length = at
                        window.make_room(length)
                        view, room = window.view, window.room
                    if _read_into(fd, view[at : at + length], start) != length:
                        refused = whole
                        break
                    begins.append(at)
                    first_lines.append(first_line)
                    owners.append(number)
                    ends_file.append(start + length >= known[0])
                    at += length
                    if view[at - 1] != NEWLINE:
                        view[at] = NEWLINE
                        at += 1
            except OSError:
                refused = whole
            finally:
                close(fd)
            if refused is not None:
                refused.append(number)
                at = before
                for column in window.columns:
                    del column[parts:]
        window.length = at
        for number in whole:
            content = self.whole(candidates[number].path)
            if content is None:
                continue
            if len(content) > BIG_BYTES or window.length > MAX_WINDOW_BYTES:
                big.append(number)
            else:
                window.add(number, 0, content)
        return big

    def whole(self, path: bytes) -> bytes | None:
        """The searchable bytes of a file, or None."""
        if self._reader is None:
            self._reader = Reader(self._root)
        try:
            raw = self._reader.read(path, self._limit_bytes)
        except UnreadableError:
            return None
        found = searchable(raw.data)
        return None if found is None else found.data


def _pieces(data: bytes) -> Iterator[Part]:
    """A file in pieces of whole lines, so that a search in a huge one can be stopped."""
    size = len(data)
    if size <= PIECE_BYTES:
        yield Part(data, 0, True, True)
        return
    start = line = 0
    while start < size:
        end = data.find(b"\n", start + PIECE_BYTES) + 1 or size
        yield Part(data[start:end], line, start == 0, end == size)
        line += data.count(b"\n", start, end)
        start = end
