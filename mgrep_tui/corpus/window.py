"""The lines of a file around one line, for the preview: read block by block, so that 100 MB and one line of 20 MB are no matter."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass

from mgrep_tui.corpus.decode import decode_line, is_binary, searchable
from mgrep_tui.corpus.read import Reader, unreadable
from mgrep_tui.corpus.root import Root
from mgrep_tui.errors import UnreadableError
from mgrep_tui.text.sanitize import display_path

_BLOCK_BYTES = 1 << 18
_KEPT_BLOCKS = 8
# The start that tells encoding and text from binary.
_HEAD_BYTES = 1 << 16
# Lines are counted to the end of files up to this size: about 100 ms.
_COUNTED_BYTES = 150_000_000
# A transcoded file has to be read whole; of a larger one only this much is.
_TRANSCODED_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `first_line` to `first_line + len(lines) - 1` (0-based), decoded, not sanitised, without their ends.

    Of a line longer than the limit there is a part, which starts `offsets[i]` characters into the line; its number is in `cut_lines`. The
    part of the asked line surrounds the asked column and starts at `first_column`. `total_lines` is None when the rest of the file was not
    counted. A binary file has no lines.
    """

    first_line: int
    lines: tuple[str, ...]
    total_lines: int | None
    size_bytes: int
    encoding: str
    is_binary: bool = False
    first_column: int = 0
    cut_lines: frozenset[int] = frozenset()
    offsets: tuple[int, ...] = ()


def read_window(
    root: Root, path: bytes, line: int, before: int, after: int, max_chars: int, *, column: int = 0
) -> Window:
    """`before` lines above `line` (0-based), the line, and `after` below; the end of the file when it has fewer lines.

    Of lines longer than `max_chars` characters only so many are returned. At most about 0.3 s. Raises UnreadableError. Any thread.
    """
    with Reader(root) as reader:
        try:
            descriptor = reader.open(path)
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise UnreadableError(f"{display_path(path)} is not a regular file.")
                return _window(descriptor, status.st_size, line, before, after, max_chars, column)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise unreadable(path, error) from error


def _window(descriptor: int, size: int, line: int, before: int, after: int, max_chars: int, column: int) -> Window:
    source: _Bytes = _FileBytes(descriptor, size)
    head = source.slice(0, _HEAD_BYTES)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        found = searchable(source.slice(0, _TRANSCODED_BYTES))
        if found is None:
            return Window(0, (), None, size, "", is_binary=True)
        source, start, encoding = _Bytes(found.data), 0, found.encoding
    elif is_binary(head):
        return Window(0, (), None, size, "", is_binary=True)
    else:
        start = 3 if head.startswith(b"\xef\xbb\xbf") else 0
        encoding = "utf-8 (mark)" if start else "utf-8"
    lines = _Lines(source, start)
    total = lines.total() if source.size <= _COUNTED_BYTES else None
    first = max(0, line - before)
    position = lines.start_of(first)
    if position is None:
        total = lines.total()
        first = max(0, total - before - after - 1)
        line = max(first, total - 1)
        position = lines.start_of(first)
    shown: list[str] = []
    offsets: list[int] = []
    cut: set[int] = set()
    for number in range(first, line + after + 1):
        if position is None or position >= source.size:
            break
        end = lines.end_of(position)
        text, offset, is_cut = _part(source, position, end, max_chars, column if number == line else 0)
        shown.append(text)
        offsets.append(offset)
        if is_cut:
            cut.add(number)
        position = end + 1
    first_column = offsets[line - first] if 0 <= line - first < len(offsets) else 0
    return Window(first, tuple(shown), total, size, encoding, False, first_column, frozenset(cut), tuple(offsets))


def _part(source: _Bytes, start: int, end: int, max_chars: int, column: int) -> tuple[str, int, bool]:
    """The text of the line from `start` to `end`, or the part around `column`; at which character it starts; whether it is a part."""
    if end > start and source.slice(end - 1, end) == b"\r":
        end -= 1
    if end - start <= 4 * max_chars:
        text = decode_line(source.slice(start, end))
        offset = _first_column(column, max_chars) if len(text) > max_chars else 0
        offset = min(offset, max(0, len(text) - max_chars))
        return text[offset : offset + max_chars], offset, len(text) > max_chars
    wanted = _first_column(column, max_chars)
    at, offset = _skip(source, start, end, wanted)
    if at >= end:  # the line is shorter than was thought: its end is shown
        at, offset = _skip(source, start, end, max(0, offset - max_chars))
    text = decode_line(source.slice(at, min(end, at + 4 * max_chars)))
    return text[:max_chars], offset, True


def _first_column(column: int, max_chars: int) -> int:
    """Where a part starts that shows `column` with a third of the room before it."""
    return max(0, column - max_chars // 3)


def _skip(source: _Bytes, start: int, end: int, characters: int) -> tuple[int, int]:
    """The offset that many characters behind `start` (or near the end), and how many characters were passed."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    passed = 0
    at = start
    while at < end and passed < characters:
        block = source.slice(at, min(end, at + _BLOCK_BYTES))
        if not block:
            break
        if block.isascii():
            step = min(len(block), characters - passed)
            passed += step
            at += step
            continue
        # Not more bytes than characters are missing, so this never goes too far; the last few bytes are looked at one by one.
        piece = block[: max(1, characters - passed)]
        passed += len(decoder.decode(piece))
        at += len(piece)
        while at < end and (following := source.slice(at, at + 1)) and following[0] & 0xC0 == 0x80:
            passed += len(decoder.decode(following))
            at += 1
    return at, passed


class _Bytes:
    """Bytes that are read in slices."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = data
        self.size = len(data)

    def slice(self, start: int, end: int) -> bytes:
        return self._data[start:end]


class _FileBytes(_Bytes):
    """The same of an open file, of which a few blocks are kept. What the file loses meanwhile is missing at the end."""

    def __init__(self, descriptor: int, size: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self.size = size
        self._blocks: dict[int, bytes] = {}

    def slice(self, start: int, end: int) -> bytes:
        end = min(end, self.size)
        number = start // _BLOCK_BYTES
        if (end - 1) // _BLOCK_BYTES == number:
            block = self._block(number)
            return block[start - number * _BLOCK_BYTES : end - number * _BLOCK_BYTES]
        return _read_at(self._descriptor, start, end - start)

    def _block(self, number: int) -> bytes:
        block = self._blocks.get(number)
        if block is None:
            block = _read_at(self._descriptor, number * _BLOCK_BYTES, _BLOCK_BYTES)
            if len(self._blocks) >= _KEPT_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            self._blocks[number] = block
        return block


def _read_at(descriptor: int, start: int, length: int) -> bytes:
    if length <= 0:
        return b""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, start)
    os.lseek(descriptor, start, os.SEEK_SET)
    return os.read(descriptor, length)


class _Lines:
    """Where lines start and end."""

    def __init__(self, source: _Bytes, start: int) -> None:
        """Lines are counted from the offset `start`."""
        self._source = source
        # `_counts[i]` is the number of line ends in the first `i` blocks.
        self._counts = [0]
        self._start = start

    def _count_block(self) -> bool:
        """Count one block more; False at the end of the file."""
        at = (len(self._counts) - 1) * _BLOCK_BYTES
        if at >= self._source.size:
            return False
        block = self._source.slice(at, at + _BLOCK_BYTES)
        self._counts.append(self._counts[-1] + block.count(b"\n"))
        return True

    def total(self) -> int:
        """The number of lines; one without an end counts, nothing behind the last line end does not."""
        while self._count_block():
            pass
        size = self._source.size
        is_open = size > self._start and self._source.slice(size - 1, size) != b"\n"
        return self._counts[-1] + is_open

    def start_of(self, line: int) -> int | None:
        """The offset where `line` starts, None when the file has fewer line ends."""
        if line == 0:
            return self._start
        while self._counts[-1] < line:
            if not self._count_block():
                return None
        low, high = 0, len(self._counts) - 1
        while low < high:
            middle = (low + high) // 2
            if self._counts[middle] < line:
                low = middle + 1
            else:
                high = middle
        block_start = (low - 1) * _BLOCK_BYTES
        block = self._source.slice(block_start, block_start + _BLOCK_BYTES)
        return block_start + _nth(block, line - self._counts[low - 1]) + 1

    def end_of(self, start: int) -> int:
        """The offset of the line end at or behind `start`, or the end of the file."""
        at = start
        while at < self._source.size:
            # Up to the end of a block, so that the block is kept for the lines that follow.
            block_end = (at // _BLOCK_BYTES + 1) * _BLOCK_BYTES
            found = self._source.slice(at, block_end).find(b"\n")
            if found >= 0:
                return at + found
            at = block_end
        return self._source.size


def _nth(block: bytes, number: int) -> int:
    """The offset of the line end with that number (from 1) in `block`, which has as many; by halving."""
    low, high = 0, len(block)
    while high - low > 1:
        middle = (low + high) // 2
        count = block.count(b"\n", low, middle)
        if count >= number:
            high = middle
        else:
            number -= count
            low = middle
    return low
