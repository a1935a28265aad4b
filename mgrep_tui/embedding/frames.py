"""The words between us and the deep tier's child process: length-prefixed frames over its standard input and output.

frame     4 bytes little-endian length of the head, 4 bytes length of the body, head (JSON in UTF-8), body
request   head {"id": n, "texts": […], "is_query": bool}, no body
answer    head {"id": n, "rows": r, "dimension": d}, body r·d float32, or {"id": n, "error": sentence}; id 0 is "ready" or why not
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct("<II")
_LIMIT_BYTES = 256 << 20


def write_frame(stream: BinaryIO, head: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame and flush. Raises `OSError` when the other side is gone."""
    encoded = json.dumps(head).encode("utf-8")
    stream.write(_LENGTHS.pack(len(encoded), len(body)) + encoded + body)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read one frame; None at the end of the stream. Raises `ValueError` for what is no frame."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_bytes, body_bytes = _LENGTHS.unpack(lengths)
    if head_bytes + body_bytes > _LIMIT_BYTES:
        raise ValueError("a frame that is too long")
    encoded, body = stream.read(head_bytes), stream.read(body_bytes)
    if len(encoded) < head_bytes or len(body) < body_bytes:
        return None
    head = json.loads(encoded)
    if not isinstance(head, dict):
        raise ValueError("a frame without a head")
    return head, body
