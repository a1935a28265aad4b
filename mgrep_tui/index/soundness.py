"""Is a keyword folder whole? Looked at before tantivy, which maps what it is given and panics on some damage, sees any of it.

tantivy ends each of its files with a footer: JSON with the CRC-32 of what is before it, the JSON's length and 1337, both as little-endian
32-bit numbers. `meta.json` names the segments that count; a file of another segment is a leftover and of no matter. About 1 GB/s.
"""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

from mgrep_tui.errors import IndexDamagedError

_MAGIC = 1337
_TAIL = struct.Struct("<II")
_FOOTER_LIMIT = 4_096
_REQUIRED = ("term", "idx", "pos", "store", "fast", "fieldnorm")
_PORTION = 1 << 20


def check_keywords(folder: Path) -> None:
    """Raise `IndexDamagedError` unless every file that counts is as tantivy wrote it. An empty or missing folder is sound."""
    meta = folder / "meta.json"
    if not meta.exists():
        if folder.exists() and any(folder.glob("*.store")):
            raise IndexDamagedError("The keyword index has lost its table of contents.")
        return
    try:
        segments = json.loads(meta.read_bytes())["segments"]
        names = [str(segment["segment_id"]).replace("-", "") for segment in segments]
        present = {name: sorted(folder.glob(f"{name}.*")) for name in names}
        for name, segment in zip(names, segments, strict=True):
            endings = {path.name.partition(".")[2] for path in present[name]}
            wanted = {*_REQUIRED}
            if segment["deletes"] is not None:
                wanted.add(f"{int(segment['deletes']['opstamp'])}.del")
            if not wanted <= endings:
                raise IndexDamagedError("A file of the keyword index is missing.")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise IndexDamagedError("The keyword index has a damaged table of contents.") from error
    makers = {_check_file(path) for files in present.values() for path in files}
    if len(makers) > 1:
        raise IndexDamagedError("The files of the keyword index are of different versions.")


def _check_file(path: Path) -> str:
    """The version that wrote the file, as JSON. Raise `IndexDamagedError` when the file is not as it was written."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(max(0, size - _TAIL.size))
            length, magic = _TAIL.unpack(file.read(_TAIL.size))
            if magic != _MAGIC or length > _FOOTER_LIMIT or length + _TAIL.size > size:
                raise ValueError("no footer")
            file.seek(size - _TAIL.size - length)
            footer = json.loads(file.read(length))
            wanted, maker = int(footer["crc"]), json.dumps(footer["version"], sort_keys=True)
            left = size - _TAIL.size - length
            file.seek(0)
            found = 0
            while left > 0:
                block = file.read(min(_PORTION, left))
                if not block:
                    raise ValueError("short")
                found = zlib.crc32(block, found)
                left -= len(block)
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise IndexDamagedError(f"{path.name} of the keyword index is damaged.") from error
    if found != wanted:
        raise IndexDamagedError(f"{path.name} of the keyword index does not match its checksum.")
    return maker
