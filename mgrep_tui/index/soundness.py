"""Is a keyword folder whole? Looked at before tantivy, which maps what it is given and panics on some damage, sees any of it.

tantivy ends each of its files with a footer: JSON with the CRC-32 of what is before it, the JSON's length and 1337, both as little-endian
32-bit numbers. `meta.json` names the segments that count; a file of another segment is a leftover and of no matter. About 1 GB/s.

A sound file of an older state in the place of another would pass. tantivy writes each file once, so after each commit their checksums are
noted beside the folder; a file that is noted has to have the one that was noted.
"""

from __future__ import annotations

import contextlib
import json
import struct
import zlib
from pathlib import Path
from typing import BinaryIO

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index.manifest import write_whole

_MAGIC = 1337
_TAIL = struct.Struct("<II")
_FOOTER_LIMIT = 4_096
_REQUIRED = ("term", "idx", "pos", "store", "fast", "fieldnorm")
_PORTION = 1 << 20
SUMS = "keywords.sums"  # JSON: name of a file → its CRC-32


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
    noted = _noted(folder)
    makers = {_check_file(path, noted.get(path.name)) for files in present.values() for path in files}
    if len(makers) > 1:
        raise IndexDamagedError("The files of the keyword index are of different versions.")


def clear_leftovers(folder: Path) -> None:
    """Remove what a killed commit left behind: only the one writer may, before tantivy opens the folder. Never raises.

    tantivy numbers its operations from the last commit on, so after a kill it comes to the same file name again, finds the file there and
    refuses to go on (`FileAlreadyExists`); and its temporary files would stay for ever.
    """
    try:
        segments = json.loads((folder / "meta.json").read_bytes())["segments"]
        alive = {str(item["segment_id"]).replace("-", ""): item["deletes"] for item in segments}
        stamps = {name: None if deletes is None else int(deletes["opstamp"]) for name, deletes in alive.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # none yet, or damaged, which is found elsewhere
    for path in folder.iterdir():
        name, _, ending = path.name.partition(".")
        is_ours = bool(name) or path.name.startswith(".tmp")
        is_alive = name in stamps and (not ending.endswith(".del") or ending == f"{stamps[name]}.del")
        if is_ours and not is_alive and path.name != "meta.json":
            with contextlib.suppress(OSError):
                path.unlink()


def note_keywords(folder: Path) -> None:
    """A commit has ended: note what its files hold, from their last bytes. Never raises; what is not noted is checked by itself."""
    sums: dict[str, int] = {}
    for path in folder.glob("*.*"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, struct.error), path.open("rb") as file:
            sums[path.name] = _footer(file, path.stat().st_size)[0]
    with contextlib.suppress(OSError):
        write_whole(folder.with_name(SUMS), json.dumps(sums).encode())


def _noted(folder: Path) -> dict[str, int]:
    try:
        found = json.loads(folder.with_name(SUMS).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise IndexDamagedError("The checksums of the keyword index are damaged.") from error
    if not isinstance(found, dict):
        raise IndexDamagedError("The checksums of the keyword index are damaged.")
    return found


def _footer(file: BinaryIO, size: int) -> tuple[int, str, int]:
    """Checksum, version of the writer, and length of what is before the footer. Raise `ValueError` and others for what is none."""
    file.seek(max(0, size - _TAIL.size))
    length, magic = _TAIL.unpack(file.read(_TAIL.size))
    if magic != _MAGIC or length > _FOOTER_LIMIT or length + _TAIL.size > size:
        raise ValueError("no footer")
    file.seek(size - _TAIL.size - length)
    footer = json.loads(file.read(length))
    return int(footer["crc"]), json.dumps(footer["version"], sort_keys=True), size - _TAIL.size - length


def _check_file(path: Path, noted: int | None) -> str:
    """The version that wrote the file, as JSON. Raise `IndexDamagedError` when the file is not as it was written."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            wanted, maker, left = _footer(file, size)
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
    if found != wanted or noted not in (None, found):
        raise IndexDamagedError(f"{path.name} of the keyword index does not match its checksum.")
    return maker
