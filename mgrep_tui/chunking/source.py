"""A file's text as the chunkers see it: lines, what a parser reads, and sizes in approximate model tokens."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from mgrep_tui.corpus.decode import decode_text

# A line longer than this is cut in a chunk's text: no person and no model reads on, and minified files stay small.
MAX_LINE_CHARS = 2_000

# Measured with the word-piece tokenizer of all-MiniLM-L6-v2 over 400 files in 12 languages: 2.4 (C) to 3.2 (Markdown) characters a token
# when the white space at both ends of a line is not counted.
CHARS_PER_TOKEN = 2.7


@dataclass(frozen=True, slots=True)
class Source:
    """One file. `lines` are without their ends; `buffer` is UTF-8 with the same lines, free of NUL and of carriage returns before a
    line's end, so that a row in it is an index into `lines`. `_weights[i]` is the number of characters that count before line i."""

    lines: list[str]
    buffer: bytes
    _weights: list[int]

    def tokens(self, first: int, last: int) -> int:
        """The approximate number of model tokens of the lines first..last (inclusive)."""
        if last < first:
            return 0
        return int((self._weights[last + 1] - self._weights[first]) / CHARS_PER_TOKEN) + 1

    def is_blank(self, line: int) -> bool:
        return self._weights[line + 1] == self._weights[line]

    def trimmed(self, first: int, last: int) -> tuple[int, int]:
        """The range without blank lines at its ends; empty (last < first) where all are blank."""
        while first <= last and self.is_blank(first):
            first += 1
        while last >= first and self.is_blank(last):
            last -= 1
        return first, last

    def cut(self, first: int, last: int) -> str:
        """The text of a chunk that consists of these lines."""
        return cut_lines(self.lines, first, last)


def cut_lines(lines: list[str], first: int, last: int) -> str:
    """The lines first..last (inclusive), joined by `\\n`, overlong ones cut: the text of every chunk that is made of whole lines."""
    kept = lines[first : last + 1]
    if max(map(len, kept), default=0) > MAX_LINE_CHARS:
        kept = [line[:MAX_LINE_CHARS] for line in kept]
    return "\n".join(kept)


def split_lines(data: bytes) -> list[str]:
    """The lines of a file without their ends; only `\\n` ends a line, and a `\\r` before it belongs to the end. UTF-8, else Latin-1."""
    return _split(decode_text(data))


def text_of(data: bytes, first: int, last: int) -> str:
    """The text of the chunk first..last of `data`, as `chunk_file` made it; of outlines and notebook cells only their lines."""
    return cut_lines(split_lines(data), first, last)


def read_source(data: bytes) -> Source:
    """Make a source of a file's searchable bytes."""
    text = decode_text(data)
    lines = _split(text)
    is_plain = b"\r" not in data and b"\0" not in data and text.isascii()
    if is_plain:
        buffer = data
    else:
        buffer = "\n".join(lines).replace("\0", " ").encode("utf-8", "replace") + b"\n"
    return Source(lines, buffer, list(accumulate(map(len, map(str.strip, lines)), initial=0)))


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [line[:-1] if line.endswith("\r") else line for line in lines]
    return lines
