"""Published states on the disk: which files a generation is made of, opening them, and removing what no state names any more.

    generations/000012/base.lookup .postings .documents   a segment, written once
    generations/000013/dispositions                       dead documents, files to scan (see `pack`)
    generations/000013/vectors.usearch                    the vectors

A generation names files of earlier ones where they still hold. Readers open what CURRENT names; when a file is gone by then a newer state
has been published, and they read CURRENT again. On POSIX an open file outlives its removal.
"""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from mgrep_tui.errors import IndexDamagedError
from mgrep_tui.index import manifest as manifests
from mgrep_tui.index.coverage import Disposition
from mgrep_tui.index.manifest import Manifest, Part, SegmentPart
from mgrep_tui.model import FileStat
from mgrep_tui.ngram.layout import SUFFIXES
from mgrep_tui.ngram.segment import Segment

FOLDER = "generations"
DISPOSITIONS = "dispositions"


def folder_of(index: Path, generation: int) -> Path:
    return index / FOLDER / f"{generation:06d}"


def relative(generation: int, name: str) -> str:
    """A file of a generation as the manifest names it."""
    return f"{FOLDER}/{generation:06d}/{name}"


def describe_segment(index: Path, stem: str, checksum: str, files: int, text_bytes: int) -> SegmentPart:
    """A segment that was just built. Raise `OSError`."""
    seals = [(stem + suffix, manifests.seal_of(index / (stem + suffix))) for suffix in SUFFIXES]
    parts = tuple(Part(path, seal[0], "", seal) for path, seal in seals)
    return SegmentPart(stem, checksum, parts, files, text_bytes)


def open_segment(index: Path, part: SegmentPart) -> Segment:
    """Check, then open. Raise `IndexDamagedError`."""
    seals = [manifests.is_sealed(index, file) for file in part.parts]
    segment = Segment.open(index / part.stem, part.checksum)
    if not all(seals):
        segment.verify()
    return segment


def open_segments(index: Path, manifest: Manifest) -> tuple[list[Segment], Disposition]:
    """The published state of regex search. Raise `IndexDamagedError` when any of it does not hold: then it is built anew as a whole."""
    if not manifest.segments:
        return [], Disposition()
    if manifest.dispositions is None:
        raise IndexDamagedError("The n-gram index lacks a part.")
    manifests.check_part(index, manifest.dispositions)
    segments = [open_segment(index, part) for part in manifest.segments]
    try:
        disposition = unpack((index / manifest.dispositions.path).read_bytes(), [item.file_count for item in segments])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IndexDamagedError("The list of changed files is damaged.") from error
    return segments, disposition


def pack(disposition: Disposition) -> bytes:
    """JSON: `dead`, one base64 bitmap a segment (big-endian bits, one a document); `extra`, paths; `touched`, paths with four numbers."""
    values = {
        "dead": [base64.b64encode(np.packbits(dead).tobytes()).decode() for dead in disposition.dead],
        "extra": [_text(path) for path in disposition.extra],
        "touched": [
            [_text(path), stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode]
            for path, stat in disposition.touched
        ],
    }
    return json.dumps(values, separators=(",", ":")).encode()


def unpack(content: bytes, counts: list[int]) -> Disposition:
    """The reverse of `pack`, for segments of these document counts. Raise `ValueError`, `KeyError` or `TypeError`."""
    values: dict[str, Any] = json.loads(content)
    if len(values["dead"]) != len(counts):
        raise ValueError("another number of segments")
    dead = []
    for text, count in zip(values["dead"], counts, strict=True):
        bits = np.unpackbits(np.frombuffer(base64.b64decode(text), np.uint8), count=count)
        dead.append(bits.astype(np.bool_))
    extra = tuple(_bytes(text) for text in values["extra"])
    touched = tuple((_bytes(text), FileStat(*map(int, numbers))) for text, *numbers in values["touched"])
    return Disposition(tuple(dead), extra, touched)


def write_disposition(index: Path, generation: int, disposition: Disposition) -> Part:
    """Raise `OSError`."""
    folder_of(index, generation).mkdir(parents=True, exist_ok=True)
    path = relative(generation, DISPOSITIONS)
    manifests.write_whole(index / path, pack(disposition))
    return manifests.part_of(index, path)


def named_files(manifest: Manifest) -> set[str]:
    """Every file that a state needs, below the index folder."""
    names = {part.path for segment in manifest.segments for part in segment.parts}
    if manifest.dispositions is not None:
        names.add(manifest.dispositions.path)
    if manifest.vectors is not None:
        names.add(manifest.vectors.part.path)
    return names


def collect(index: Path, manifest: Manifest, *, keep: frozenset[int] = frozenset()) -> int:
    """Remove what this state does not name; `keep` are generations that are being written. How many files went. Never raises."""
    named = named_files(manifest)
    removed = 0
    try:
        folders = sorted((index / FOLDER).iterdir())
    except OSError:
        return 0
    for folder in folders:
        if folder.name.isdigit() and int(folder.name) in keep:
            continue
        if not folder.name.isdigit() or not any(name.startswith(f"{FOLDER}/{folder.name}/") for name in named):
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
            continue
        for file in folder.iterdir():
            if f"{FOLDER}/{folder.name}/{file.name}" not in named:
                try:
                    file.unlink()
                    removed += 1
                except OSError:
                    continue
    return removed


def next_free(index: Path, manifest: Manifest) -> int:
    """A generation number that no folder has."""
    numbers = [manifest.generation]
    folder = index / FOLDER
    if folder.is_dir():
        numbers += [int(item.name) for item in folder.iterdir() if item.name.isdigit()]
    return max(numbers) + 1


def _text(path: bytes) -> str:
    return path.decode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")
