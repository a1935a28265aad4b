"""What of a file's bytes is searched, and how bytes become text.

Regular expressions and grams see one canonical form, in bytes: UTF-16 with a byte order mark is transcoded to UTF-8, a UTF-8 mark is
taken off, and all else stays as it is, invalid bytes and single NULs included. Lines end at `\\n` only.
"""

from __future__ import annotations

from dataclasses import dataclass

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF32_LE_MARK = b"\xff\xfe\x00\x00"
# What is looked at to tell text from binary: as much as git looks at.
_HEAD_BYTES = 8000
# More control characters than this share of the head (tabs, line ends, form feeds and escapes apart) is no text.
_CONTROL_SHARE = 0.02
# Invalid UTF-8 alone does not make a file binary (Latin-1, Shift-JIS, …); together with NULs it does.
_TEXT_BYTES = bytes(code for code in range(256) if (code >= 0x20 and code != 0x7F) or code in b"\t\n\r\f\b\x1b")


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
    """What is searched of a file with these bytes, or None when it is binary. Pure; about 1 ms per 10 MB.

    A text with a few NULs in it is text (they stay): object files, images and byte code have many control characters at their start.
    """
    if data.startswith(_UTF8_MARK):
        return None if is_binary(data) else Searchable(data[3:], "utf-8 (mark)", 3)
    encoding = _UTF16_MARKS.get(data[:2])
    if encoding is not None and not data.startswith(_UTF32_LE_MARK):
        text = data[2:].decode(encoding, "replace")
        if _is_binary_text(text[:_HEAD_BYTES]):
            return None
        return Searchable(text.encode("utf-8", "replace"), encoding, 0, False)
    return None if is_binary(data) else Searchable(data, "utf-8")


def is_binary(data: bytes) -> bool:
    """Whether the head of `data` is that of no text."""
    head = data[:_HEAD_BYTES]
    strange = len(head.translate(None, _TEXT_BYTES))
    if strange == 0:
        return False
    return strange > max(4, len(head) * _CONTROL_SHARE)


def _is_binary_text(text: str) -> bool:
    strange = sum(
        1 for character in text if (character < " " and character not in "\t\n\r\f\b\x1b") or character == "\ufffd"
    )
    return strange > max(4, len(text) * _CONTROL_SHARE)


def decode_line(data: bytes) -> str:
    """A line or a piece of one as text: UTF-8, each invalid byte sequence as U+FFFD."""
    return data.decode("utf-8", "replace")


def decode_text(data: bytes) -> str:
    """A whole file as text, for chunking: UTF-8 if it is that throughout, else Latin-1, in which every byte is a character."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def split_lines(data: bytes) -> list[bytes]:
    """The lines of `data` without their ends (`\\n` or `\\r\\n`); nothing follows a final line end."""
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if b"\r" in data:
        return [line.removesuffix(b"\r") for line in lines]
    return lines
