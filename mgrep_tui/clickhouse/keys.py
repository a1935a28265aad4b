"""The numbers by which an engine knows things: documents, chunks, states and words.

All are hashes, so that whoever publishes the same thing writes the same row. A document has 48 bits: among ten million there are expected
0.2 pairs that collide, and such a document is given the next free number (see `push`). 15 bits more count its chunks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

CHUNK_BITS = 15
MOST_CHUNKS = 1 << CHUNK_BITS
_DOCUMENT_BITS = 48
_MASK = (1 << _DOCUMENT_BITS) - 1


def document_of(path: bytes, content: bytes, maker: str = "") -> int:
    """The number of a file's content under this path: its chunks depend on both, since language and header come from the path, and on
    `maker`, which names the code and the rules that cut them."""
    return _number(b"document", content, path, maker.encode()) & _MASK


def next_document(document: int) -> int:
    """Where to look when that number is taken by another."""
    return (document + 1) & _MASK


def chunk_of(document: int, number: int) -> int:
    return document << CHUNK_BITS | number


def document_of_chunk(chunk: int) -> int:
    return chunk >> CHUNK_BITS


def state_of(repository: str, commit: str) -> int:
    """The number of a commit of a repository."""
    return _number(b"state", repository.encode("utf-8", "surrogateescape"), commit.encode()) >> 1


def word_of(field: int, text: str) -> int:
    """The number of a word in a field. The most frequent of these by far: what stands before the text is joined once."""
    own = text.encode("utf-8", "surrogatepass")
    return _hashed(_WORD[field] + len(own).to_bytes(8, "little") + own)


def model_name(model: str) -> str:
    """The name of the table that holds a model's vectors."""
    return f"vectors_{_number(b'model', model.encode()):016x}"


def _number(*parts: bytes) -> int:
    return _hashed(_measured(parts))


def _hashed(measured: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(measured, digest_size=8).digest(), "big")


def _measured(parts: Iterable[bytes]) -> bytes:
    return b"".join([len(part).to_bytes(8, "little") + part for part in parts])


_WORD = tuple(_measured((b"word", bytes([field]))) for field in range(256))
