"""What of a file's bytes is searched, and how bytes become text.

Regular expressions and grams see one canonical form, in bytes: UTF-16 with a byte order mark is transcoded to UTF-8, a UTF-8 mark is
taken off, and all else stays as it is, invalid bytes and single NULs included. Lines end at `\\n` only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF32_LE_MARK = b"\xff\xfe\x00\x00"
# Formats of which some files have no NUL at all: documents, archives, images, sounds, fonts.
_BINARY_STARTS = (
    *(b"!<arch>\n", b"%PDF-"),
    *(b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"Rar!\x1a", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ"),
    *(b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"OggS", b"ID3", b"wOFF", b"wOF2", b"PAR1"),
)
_TAR_MARK = slice(257, 262)
# How much is looked at around the first NUL.
_WINDOW_BYTES = 8192
# So many NULs in a row are a hole: what a crash, a full disk or the truncation of an open log leaves in the middle of text.
_HOLE = re.compile(rb"\0{64,}")
_NO_NUL = re.compile(rb"[^\0]")
# In text, NULs are few (in a list of short names that they separate, an eighth), and other control characters than those of
# `_TEXT_BYTES` fewer. Machine code has a tenth of them, UTF-16 without a mark has half NULs.
_NUL_SHARE = 0.20
_CONTROL_SHARE = 0.02
_FEW = 3
_TEXT_BYTES = bytes(code for code in range(256) if (code >= 0x20 and code != 0x7F) or code in b"\0\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class Searchable:
    """The canonical bytes of a text file.

    `encoding` is the file's own, for people: `utf-8`, `utf-8 (mark)`, `utf-16-le`, `utf-16-be` or `bytes`. When `is_raw`, offset `n` of
    `data` is offset `n + shift_bytes` of the file; else the file was transcoded and can only be read whole.
    """

    data: bytes
    encoding: str
    shift_bytes: int = 0
    is_raw: bool = True


def searchable(data: bytes) -> Searchable | None:
    """What is searched of a file with these bytes, or None when it is binary. Pure.

    Costs one look for a NUL (some 10 GB a second) where there is none. A text with a few NULs in it is text, and they stay.
    """
    mark = data[:2]
    if mark in _UTF16_MARKS and not data.startswith(_UTF32_LE_MARK):
        encoding = _UTF16_MARKS[mark]
        text = data[2:].decode(encoding, "replace").encode("utf-8", "replace")
        return None if is_binary(text) else Searchable(text, encoding, 0, False)
    if is_binary(data):
        return None
    if mark == _UTF8_MARK[:2] and data.startswith(_UTF8_MARK):
        return Searchable(data[3:], "utf-8 (mark)", 3)
    return Searchable(data, "utf-8")


def is_binary(data: bytes) -> bool:
    """Whether these bytes are no text: by their start, or by what surrounds the first NUL."""
    nul = data.find(b"\0")
    if nul < 0:
        return _is_known_format(data)
    around = _around(data, nul)
    nuls = around.count(b"\0")
    controls = _controls(around)
    if nuls > max(_FEW, len(around) * _NUL_SHARE) or controls > max(_FEW, len(around) * _CONTROL_SHARE):
        return True
    if nuls > _FEW and controls > _FEW:
        return True  # byte code with much text in it
    return nuls == len(around) or data.startswith(_BINARY_STARTS) or data[_TAR_MARK] == b"ustar"


def _is_known_format(data: bytes) -> bool:
    """A prose that begins with `BZh` or `ID3` is prose: the formats' own bytes are never all printable, but for a PDF's."""
    if not data.startswith(_BINARY_STARTS):
        return False
    return (data.startswith(b"%PDF-") and data[5:6].isdigit()) or _controls(data[:_WINDOW_BYTES]) > 0


def _around(data: bytes, nul: int) -> bytes:
    """What stands before and after the first NUL, at `nul`; a hole counts as one NUL, however long it is."""
    half = _WINDOW_BYTES // 2
    start = max(0, nul - half)
    around = data[start : start + _WINDOW_BYTES]
    if around.count(b"\0") <= _FEW or _HOLE.search(around) is None:
        return around
    found = _NO_NUL.search(data, nul)
    after = data[found.start() : found.start() + half] if found is not None else b""
    return _HOLE.sub(b"\0", data[start:nul] + b"\0" + after)


def _controls(data: bytes) -> int:
    return len(data.translate(None, _TEXT_BYTES))


def decode_line(data: bytes) -> str:
    """A line or a piece of one as text: UTF-8, each invalid byte sequence as U+FFFD."""
    return data.decode("utf-8", "replace")


def decode_text(data: bytes) -> str:
    """A whole file as text, for chunking: UTF-8, else Latin-1, in which every byte is a character.

    A file in UTF-8 with a few broken places stays UTF-8 with replacement marks.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    sound = sum(1 for byte in data if byte >= 0xC0) - broken  # each sequence of UTF-8 has one such byte
    return text if sound > broken else data.decode("latin-1")


def split_lines(data: bytes) -> list[bytes]:
    """The lines of `data` without their ends (`\\n` or `\\r\\n`); nothing follows a final line end."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if b"\r" in data:
        return [line.removesuffix(b"\r") for line in lines]
    return lines
