"""Files that stand in a tree many times over: one of them is asked for all, so that copies do not fill every arm (FAULTS O5).

Folding alone (see `semantic_folding`) is too late: among three hundred copies of a file, the best hundred chunks of an arm are one chunk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from mgrep_tui.index.catalog import Catalog
from mgrep_tui.index.rows import ChunkRow, FileRow

Ids = npt.NDArray[np.int64]


def crowding(rows: Collection[ChunkRow], files: Mapping[int, FileRow]) -> frozenset[bytes]:
    """The content hashes of files that are among these candidates several times, when copies are more than half of all; else nothing."""
    seen: set[tuple[bytes, int, int]] = set()
    repeated: set[bytes] = set()
    for row in rows:
        file = files.get(row.file_id)
        if file is None:
            continue
        key = (file.content_hash, row.first_line, row.part)
        if key in seen:
            repeated.add(file.content_hash)
        seen.add(key)
    return frozenset(repeated) if 2 * len(seen) < len(rows) else frozenset()


def without_copies(catalog: Catalog, hashes: Iterable[bytes], allowed: Ids | None) -> tuple[Ids, dict[int, int]]:
    """The allowed chunks (ascending) without those of copies, and by the id of each file that was kept how many copies it has.

    Kept is the file with the shortest way from the root, then the first by path.
    """
    columns = catalog.all_chunk_columns()
    chunks, owners = columns.chunk_id, columns.file_id
    if allowed is not None:
        may = np.isin(chunks, allowed)
        chunks, owners = chunks[may], owners[may]
    present = set(np.unique(owners).tolist())
    groups: dict[tuple[bytes, str], list[tuple[int, bytes, int]]] = {}
    for file in catalog.files_with_content(hashes):
        if file.file_id in present:
            group = groups.setdefault((file.content_hash, file.language), [])
            group.append((file.path.count(b"/"), file.path, file.file_id))
    kept: dict[int, int] = {}
    dropped: list[int] = []
    for group in groups.values():
        group.sort()
        kept[group[0][2]] = len(group) - 1
        dropped += [file_id for _, _, file_id in group[1:]]
    return np.sort(chunks[~np.isin(owners, np.array(dropped, np.int64))]), kept
