"""The bytes of a segment on disk: three immutable files, little-endian, that name each other.

`<name>.lookup` (memory-mapped; which posting list belongs to a key):

    0     8     magic `MGNGRAM1`
    8     4     FORMAT
    12    2     longest gram in bytes, bits of a key
    14    2     zero
    16    16    checksum of the tables (weights and folds) that made the grams
    32    8     number of files, number of blocks (32 bits each)
    40    8     number of keys
    48    8     bytes of searchable text
    56    8     bytes of all paths
    64    24    sizes in bytes of the three files: lookup, postings, documents
    88    48    checksums of their bodies, in the same order
    136   16    checksum of bytes 0 … 135: the identity of the segment
    152   8     zero
    160   2056  257 offsets, 64 bits: where in the body of the postings the lists of the keys with top byte b begin
    …     …     65,537 numbers, 32 bits: how many keys are less than p * 256; then zero to a multiple of 8
    …     …     the low 8 bits of each key, ascending by key; then zeros to a multiple of 8
    …     …     the value of each key, 32 bits: the high bit and the one block of this key, or the offset of its list, counted from
                where the lists of its top byte begin

`<name>.postings` (read at an offset, never mapped): magic `MGPOSTS1`, the identity, 8 zeros, then the lists without gaps: a list
ends where the next begins. A list as long as a bitmap of all blocks is that bitmap (block b is bit b % 8 of byte b // 8); a shorter
one is LEB128, least group first: the first block, then the distances to the next, all above zero.

`<name>.documents` (memory-mapped; what the blocks are): magic `MGDOCUM1`, the identity, 8 zeros, then these columns, each filled up
with zeros to a multiple of 8 bytes:

    32 bits a file and one more    offsets of the paths
    …                              the paths, ascending, without gaps
    4 * 64 bits a file             size, mtime_ns, ctime_ns, inode
    16 bytes a file                blake2b-128 of the raw bytes
    32 bits a file and one more    its first block
    8 bits a file                  its kind (`FileKind`)
    32 bits a block, three times   its start in the searchable text, its length in bytes, its first line

Invariants: the blocks of a file are its searchable text without gaps, cut after newlines only; files of another kind than text have none.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.ngram.grams import CAP, KEY_BITS
from mgrep_tui.ngram.tables import CHECKSUM_BYTES, checksum, tables

FORMAT = 1
HEADER_BYTES = 160
PART_HEADER_BYTES = 32
PREFIXES = 1 << 16
BUCKETS = 1 << 8
SINGLE = 1 << 31
"""In a value: what is left is the only block of the key."""

LOOKUP_MAGIC = b"MGNGRAM1"
POSTINGS_MAGIC = b"MGPOSTS1"
DOCUMENTS_MAGIC = b"MGDOCUM1"
SUFFIXES = (".lookup", ".postings", ".documents")

_HEADER = struct.Struct("<8sIBBH16sIIQQQ3Q16s16s16s")
_REBUILD = "It is built anew."


class FileKind(enum.IntEnum):
    """How a file's bytes became searchable text. `TEXT_BOM` has three bytes before it; of `TRANSCODED` no raw offsets are known."""

    TEXT = 0
    TEXT_BOM = 3
    TRANSCODED = 16
    BINARY = 32
    TOO_BIG = 33


@dataclass(frozen=True, slots=True)
class Header:
    """What the lookup file says about the segment. Sizes and checksums are of lookup, postings, documents."""

    files: int
    blocks: int
    keys: int
    text_bytes: int
    paths_bytes: int
    sizes: tuple[int, int, int]
    checksums: tuple[bytes, bytes, bytes]
    identity: bytes = b""


def pack_header(header: Header) -> tuple[bytes, bytes]:
    """The first `HEADER_BYTES` of the lookup file, and the identity."""
    head = _HEADER.pack(
        LOOKUP_MAGIC,
        FORMAT,
        CAP,
        KEY_BITS,
        0,
        tables().checksum,
        header.files,
        header.blocks,
        header.keys,
        header.text_bytes,
        header.paths_bytes,
        *header.sizes,
        *header.checksums,
    )
    identity = checksum(head)
    return (head + identity).ljust(HEADER_BYTES, b"\0"), identity


def unpack_header(content: bytes) -> Header:
    """Read the head of a lookup file; raises `IndexDamagedError` when it is not one of ours, of this format and of these tables."""
    head, identity = content[: _HEADER.size], content[_HEADER.size : _HEADER.size + CHECKSUM_BYTES]
    if len(content) < HEADER_BYTES or content[:8] != LOOKUP_MAGIC or checksum(head) != identity:
        raise IndexDamagedError("The n-gram index is damaged.", _REBUILD)
    _, version, cap, key_bits, _, made_by, files, blocks, keys, text_bytes, paths_bytes, *rest = _HEADER.unpack(head)
    if (version, cap, key_bits, made_by) != (FORMAT, CAP, KEY_BITS, tables().checksum):
        raise IndexDamagedError("The n-gram index was made by another version of mgrep-tui.", _REBUILD)
    return Header(files, blocks, keys, text_bytes, paths_bytes, tuple(rest[:3]), tuple(rest[3:]), identity)


def pack_part_header(magic: bytes, identity: bytes) -> bytes:
    """The first `PART_HEADER_BYTES` of the postings or of the documents."""
    return (magic + identity).ljust(PART_HEADER_BYTES, b"\0")


def padded(size: int) -> int:
    """`size` filled up to a multiple of 8."""
    return (size + 7) & ~7


@dataclass(frozen=True, slots=True)
class LookupSections:
    """Offsets in the lookup file."""

    bases: int
    prefixes: int
    suffixes: int
    values: int
    end: int


def lookup_sections(keys: int) -> LookupSections:
    bases = HEADER_BYTES
    prefixes = bases + 8 * (BUCKETS + 1)
    suffixes = padded(prefixes + 4 * (PREFIXES + 1))
    values = suffixes + padded(keys)
    return LookupSections(bases, prefixes, suffixes, values, values + 4 * keys)


@dataclass(frozen=True, slots=True)
class DocumentSections:
    """Offsets in the documents file."""

    path_offsets: int
    paths: int
    stats: int
    hashes: int
    first_blocks: int
    kinds: int
    starts: int
    lengths: int
    lines: int
    end: int


def document_sections(files: int, blocks: int, paths_bytes: int) -> DocumentSections:
    sizes = (
        4 * (files + 1),
        paths_bytes,
        32 * files,
        16 * files,
        4 * (files + 1),
        files,
        4 * blocks,
        4 * blocks,
        4 * blocks,
    )
    offsets = [PART_HEADER_BYTES]
    for size in sizes:
        offsets.append(offsets[-1] + padded(size))
    return DocumentSections(*offsets)
