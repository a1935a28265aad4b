"""All that a question wants to know of a chunk, as one value: a row costs what its columns cost, and 16 of them cost four times as much.

Little-endian: content and text hash (16 bytes each), first and last line, part and parts, flags, first and last block, the sizes of six
texts, and the texts: path, language, the file's language, kind, symbol, container.
"""

from __future__ import annotations

import struct

from mgrep_tui.clickhouse.keys import document_of_chunk
from mgrep_tui.clickhouse.texts import Where
from mgrep_tui.index.rows import ChunkRow, NewChunk, NewFile

_HEAD = struct.Struct("<16s16sIIHHBII6I")
_MOST_COUNTED = 65_535
_TEXTS = ("path", "language", "file_language", "kind", "symbol", "container")
OF_COLUMNS = (
    "concat(content, text_hash, reinterpretAsFixedString(first_line), reinterpretAsFixedString(last_line),"
    " reinterpretAsFixedString(part), reinterpretAsFixedString(parts), reinterpretAsFixedString(flags),"
    " reinterpretAsFixedString(first_block), reinterpretAsFixedString(last_block), "
    + ", ".join(f"reinterpretAsFixedString(toUInt32(length({name})))" for name in _TEXTS)
    + f", {', '.join(_TEXTS)})"
)
"""The same, made by the engine of the columns that its tables had before."""


def packed(file: NewFile, chunk: NewChunk, first_block: int, last_block: int) -> bytes:
    texts = (
        file.path,
        *(
            text.encode("utf-8", "replace")
            for text in (chunk.language, file.language, chunk.kind, chunk.symbol, chunk.container)
        ),
    )
    head = _HEAD.pack(
        file.content_hash,
        chunk.text_hash,
        chunk.first_line,
        chunk.last_line,
        min(chunk.part, _MOST_COUNTED),
        min(chunk.parts, _MOST_COUNTED),
        file.flags,
        first_block,
        last_block,
        *map(len, texts),
    )
    return head + b"".join(texts)


def unpacked(chunk: int, value: bytes) -> tuple[ChunkRow, Where, str]:
    """The row of a chunk, where its text is, and its file's language. Raises `struct.error` for what is no such value."""
    content, text_hash, first, last, part, parts, flags, first_block, last_block, *sizes = _HEAD.unpack_from(value)
    texts: list[bytes] = []
    start = _HEAD.size
    for size in sizes:
        texts.append(value[start : start + size])
        start += size
    path = texts[0]
    language, file_language, kind, symbol, container = (text.decode("utf-8", "replace") for text in texts[1:])
    row = ChunkRow(
        chunk, document_of_chunk(chunk), path, language, kind, symbol, container, first, last, part, parts, text_hash, flags
    )  # fmt: skip
    return row, Where(content, first_block, last_block), file_language
