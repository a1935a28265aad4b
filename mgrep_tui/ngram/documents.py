"""Write the documents file of a segment: which files were looked at, and their blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from mgrep_tui.model import Entry
from mgrep_tui.ngram.layout import PART_HEADER_BYTES, document_sections
from mgrep_tui.ngram.runs import Batch, Documents
from mgrep_tui.ngram.tables import CHECKSUM_BYTES


@dataclass(frozen=True, slots=True)
class Written:
    """Counts and sizes of what was written; `files` includes those without a text."""

    files: int
    paths_bytes: int
    size_bytes: int
    checksum: bytes


def write(out: IO[bytes], entries: Sequence[Entry], documents: Documents, batches: Sequence[Batch]) -> Written:
    """Write the body after a blank header. Entries that could not be read are left out. Raises OSError."""
    kept = np.flatnonzero(documents.kinds >= 0)
    paths = [entries[number].path for number in kept.tolist()]
    offsets = np.cumsum([0] + [len(path) for path in paths])
    # A file has its blocks or none, so the running sum over the kept ones is that over all.
    first_blocks = np.concatenate([[0], np.cumsum(documents.block_counts[kept], dtype=np.int64)])
    sections = document_sections(len(paths), int(first_blocks[-1]), int(offsets[-1]))
    empty = np.empty(0, np.uint32)
    parts: tuple[tuple[int, npt.NDArray[Any]], ...] = (
        (sections.path_offsets, offsets.astype("<u4")),
        (sections.paths, np.frombuffer(b"".join(paths), np.uint8)),
        (sections.stats, documents.stats[kept].astype("<i8")),
        (sections.hashes, documents.hashes[kept]),
        (sections.first_blocks, first_blocks.astype("<u4")),
        (sections.kinds, documents.kinds[kept].astype(np.uint8)),
        (sections.starts, np.concatenate([*(batch.starts for batch in batches), empty]).astype("<u4")),
        (sections.lengths, np.concatenate([*(batch.lengths for batch in batches), empty]).astype("<u4")),
        (sections.lines, np.concatenate([*(batch.lines for batch in batches), empty]).astype("<u4")),
    )
    out.write(bytes(PART_HEADER_BYTES))
    digest = hashlib.blake2b(digest_size=CHECKSUM_BYTES)
    at = PART_HEADER_BYTES
    for offset, part in (*parts, (sections.end, empty)):
        for content in (bytes(offset - at), part.tobytes()):
            out.write(content)
            digest.update(content)
            at += len(content)
    return Written(len(paths), int(offsets[-1]), sections.end, digest.digest())
