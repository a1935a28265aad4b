"""Which bigrams are heavy and which characters are equal: the two tables that decide what a gram is.

They live in one versioned file of the package, `tables.bin`, made by `train_tables.py`. A segment holds the checksum of the tables that it
was built with; with other tables its grams would be others, so such a segment is refused (`IndexDamagedError`).

Layout of `tables.bin`, little-endian:

    0       8       magic `MGTABLE1`
    8       4       number of folds F
    12      4       zero
    16      131072  weight of the bigram (a, b) at index a * 256 + b, 16 bits; all different, the rarer the heavier
    131088  8 * F   folds: character and what it becomes, 32 bits each, ascending
    end-16  16      blake2b-128 of everything before
"""

from __future__ import annotations

import functools
import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path

from mgrep_tui.errors import IndexDamagedError

TABLES_PATH = Path(__file__).with_name("tables.bin")

BIGRAMS = 1 << 16
CHECKSUM_BYTES = 16

_MAGIC = b"MGTABLE1"
_HEAD = struct.Struct("<8sII")
_WEIGHTS_BYTES = 2 * BIGRAMS


@dataclass(frozen=True, slots=True)
class Tables:
    """`weights[a * 256 + b]` for a bigram; `folds` from a character to the least of those that differ from it by case only.

    `folds` never lengthens the UTF-8 of a character, never touches a newline, and folding twice changes nothing more.
    """

    weights: memoryview
    folds: dict[int, int]
    checksum: bytes


def pack(weights: bytes, folds: dict[int, int]) -> bytes:
    """The content of `tables.bin`; `weights` is 65,536 little-endian 16-bit numbers."""
    if len(weights) != _WEIGHTS_BYTES:
        raise ValueError("64K weights of 16 bits are needed")
    pairs = sorted(folds.items())
    body = _HEAD.pack(_MAGIC, len(pairs), 0) + weights
    body += b"".join(struct.pack("<II", char, folded) for char, folded in pairs)
    return body + checksum(body)


def unpack(content: bytes) -> Tables:
    """Read `tables.bin`; raises `IndexDamagedError` when it is not whole."""
    body, found = content[:-CHECKSUM_BYTES], content[-CHECKSUM_BYTES:]
    if len(body) < _HEAD.size + _WEIGHTS_BYTES or checksum(body) != found:
        raise IndexDamagedError("The n-gram tables of this installation are damaged.", "Install mgrep-tui again.")
    magic, count, _ = _HEAD.unpack_from(body)
    start = _HEAD.size + _WEIGHTS_BYTES
    if magic != _MAGIC or len(body) != start + 8 * count:
        raise IndexDamagedError("The n-gram tables are of another version.", "Install mgrep-tui again.")
    weights = memoryview(body)[_HEAD.size : start]
    if struct.pack("=H", 1) != struct.pack("<H", 1):  # a big-endian machine
        weights = memoryview(struct.pack(f"={BIGRAMS}H", *struct.unpack(f"<{BIGRAMS}H", weights)))
    folds = dict(struct.iter_unpack("<II", memoryview(body)[start:]))
    return Tables(weights.cast("H"), folds, found)


def checksum(content: bytes | memoryview) -> bytes:
    """The 128-bit checksum that every file of the n-gram index uses."""
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()


@functools.lru_cache(maxsize=1)
def tables() -> Tables:
    """The tables of this installation, read once; any thread."""
    return unpack(TABLES_PATH.read_bytes())
