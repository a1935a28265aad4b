"""CURRENT: the small file that says which files make up the published state of an index, and what each must hold.

Layout, two lines of UTF-8:

    checksum   32 hexadecimal digits: blake2b-128 of the second line without its end
    body       one JSON object (`Manifest`), keys sorted

It is written beside its place, flushed, and renamed over the old one, so a reader sees one state or the other and never needs a lock. A
part's `seal` is what `lstat` said right after the part was written: while it is the same, nobody has touched the file and its checksum need
not be computed again (400 MB would cost half a second at every start). ctime cannot be set by a program, so an edit always breaks the seal.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mgrep_tui.errors import IndexDamagedError

NAME = "CURRENT"
FORMAT = 1
SIZE_LIMIT_BYTES = 16_000_000

Seal = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Part:
    """One immutable file: its path below the index folder, and what it must be. `checksum` is blake2b-128 in hex."""

    path: str
    size_bytes: int
    checksum: str
    seal: Seal


@dataclass(frozen=True, slots=True)
class SegmentPart:
    """One n-gram segment: `stem` is its path below the index folder without the endings of its files.

    `checksum` is the segment's own, over all its files; its `parts` have none each.
    """

    stem: str
    checksum: str
    parts: tuple[Part, ...]
    files: int
    text_bytes: int


@dataclass(frozen=True, slots=True)
class VectorPart:
    """The vector file: `manifest` is `retrieval.vectors.VectorManifest`, `batch` the last batch of the catalog that is in it."""

    part: Part
    manifest: dict[str, Any]
    catalog_id: str
    batch: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One published state. `ngram_version` names the segment format and the weights; `settings_key` the rules that chose the files."""

    generation: int = 0
    ngram_version: str = ""
    settings_key: str = ""
    segments: tuple[SegmentPart, ...] = ()
    dispositions: Part | None = None
    vectors: VectorPart | None = None
    commit: str = ""
    branch: str = ""
    format: int = FORMAT
    notes: dict[str, str] = field(default_factory=dict)


def seal_of(path: Path) -> Seal:
    """What the disk says of the file now. Raise `OSError`."""
    status = os.lstat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def checksum_of(path: Path) -> str:
    """blake2b-128 of the file, in hex. Raise `OSError`. About 1 GB/s; lets other threads run."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def part_of(folder: Path, path: str) -> Part:
    """Describe a file that was just written and flushed. Raise `OSError`."""
    whole = folder / path
    seal = seal_of(whole)
    return Part(path, seal[0], checksum_of(whole), seal)


def is_sealed(folder: Path, part: Part) -> bool:
    """Whether nobody has touched the file since it was written. Raise `IndexDamagedError` when it is not there or of another size."""
    try:
        seal = seal_of(folder / part.path)
    except OSError as error:
        raise IndexDamagedError(f"{part.path} cannot be read: {error.strerror}.") from error
    if seal[0] != part.size_bytes:
        raise IndexDamagedError(f"{part.path} has another size than was published.")
    return seal == part.seal


def check_part(folder: Path, part: Part) -> None:
    """Raise `IndexDamagedError` unless the file is the one that was published."""
    if is_sealed(folder, part):
        return
    try:
        if checksum_of(folder / part.path) == part.checksum:
            return
    except OSError as error:
        raise IndexDamagedError(f"{part.path} cannot be read: {error.strerror}.") from error
    raise IndexDamagedError(f"{part.path} does not match its checksum.")


def load(folder: Path) -> Manifest | None:
    """The published state, None when nothing was published yet. Raise `IndexDamagedError`."""
    try:
        with (folder / NAME).open("rb") as file:
            raw = file.read(SIZE_LIMIT_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexDamagedError(f"{NAME} cannot be read: {error.strerror}.") from error
    checksum, _, body = raw.partition(b"\n")
    body = body.rstrip(b"\n")
    if len(raw) > SIZE_LIMIT_BYTES or checksum.decode("ascii", "replace") != _digest(body):
        raise IndexDamagedError(f"{NAME} is damaged.")
    try:
        values = json.loads(body)
        if values["format"] != FORMAT:
            raise IndexDamagedError("The index was made by another version.")
        return _manifest(values)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise IndexDamagedError(f"{NAME} is damaged.") from error


def store(folder: Path, manifest: Manifest) -> None:
    """Publish. Raise `OSError` when the disk does not take it; the old state then stays."""
    body = json.dumps(asdict(manifest), sort_keys=True, separators=(",", ":")).encode()
    write_whole(folder / NAME, _digest(body).encode() + b"\n" + body + b"\n")


def write_whole(path: Path, content: bytes) -> None:
    """Write beside `path`, flush, check the size, rename, flush the folder. Raise `OSError`; the old file then stays."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if temporary.stat().st_size != len(content):
            raise OSError(f"{path.name} was cut short while it was written")
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Make renames in the folder survive a loss of power, where the platform can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _part(values: dict[str, Any]) -> Part:
    size, mtime, ctime, inode = (int(value) for value in values["seal"])
    path = str(values["path"])
    if path.startswith(("/", "\\")) or ".." in Path(path).parts:
        raise ValueError(path)
    return Part(path, int(values["size_bytes"]), str(values["checksum"]), (size, mtime, ctime, inode))


def _segment(values: dict[str, Any]) -> SegmentPart:
    parts = tuple(_part(part) for part in values["parts"])
    stem = str(values["stem"])
    if not parts or not all(part.path.startswith(stem) for part in parts):
        raise ValueError(stem)
    return SegmentPart(stem, str(values["checksum"]), parts, int(values["files"]), int(values["text_bytes"]))


def _manifest(values: dict[str, Any]) -> Manifest:
    vectors = values["vectors"]
    return Manifest(
        generation=int(values["generation"]),
        ngram_version=str(values["ngram_version"]),
        settings_key=str(values["settings_key"]),
        segments=tuple(_segment(segment) for segment in values["segments"]),
        dispositions=None if values["dispositions"] is None else _part(values["dispositions"]),
        vectors=None
        if vectors is None
        else VectorPart(
            _part(vectors["part"]), dict(vectors["manifest"]), str(vectors["catalog_id"]), int(vectors["batch"])
        ),
        commit=str(values["commit"]),
        branch=str(values["branch"]),
        notes={str(key): str(value) for key, value in values["notes"].items()},
    )
