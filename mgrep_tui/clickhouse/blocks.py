"""A file's text in blocks of whole lines, each with the folded form that the engine's grams are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mgrep_tui.ngram.tables import tables

BLOCK_BYTES = 16_384
"""As in the local index: an answer reads whole blocks, and smaller ones repeat more grams."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Whole lines of a text, from 0-based line `first_line` on. `folded` is empty where lower-casing ASCII says the same."""

    number: int
    first_line: int
    is_last: bool
    text: bytes
    folded: bytes


def blocks_of(text: bytes) -> Iterator[TextBlock]:
    """Cut a searchable text; an empty one has no block."""
    start = line = number = 0
    size = len(text)
    while start < size:
        end = text.find(b"\n", start + BLOCK_BYTES - 1) + 1 or size
        part = text[start:end]
        yield TextBlock(number, line, end == size, part, folded(part))
        line += part.count(b"\n")
        start, number = end, number + 1


def first_lines(text: bytes) -> list[int]:
    """The number of the first line of every block."""
    found = []
    start = line = 0
    size = len(text)
    while start < size:
        end = text.find(b"\n", start + BLOCK_BYTES - 1) + 1 or size
        found.append(line)
        line += text.count(b"\n", start, end)
        start = end
    return found


def folded(text: bytes) -> bytes:
    """Every character as the one that its case variants share; empty for ASCII, which the engine folds itself.

    The engine cuts grams along characters, so what is no UTF-8 becomes U+FFFD: a literal that is UTF-8 is still found where it stands,
    because neither its first byte continues a broken character nor does its last begin one.
    """
    if text.isascii():
        return b""
    return text.decode("utf-8", "replace").translate(tables().folds).encode()
