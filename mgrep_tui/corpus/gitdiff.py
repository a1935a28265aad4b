"""Which lines of a file differ from the last commit: the change bars of the preview."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from mgrep_tui.corpus import git
from mgrep_tui.corpus.decode import searchable, split_lines
from mgrep_tui.corpus.root import Root, owner_of
from mgrep_tui.errors import UnreadableError

ADDED = "added"
CHANGED = "changed"
REMOVED = "removed"

# A preview does not wait longer for its bars.
_TIMEOUT_S = 2.0
_MAX_BLOB_BYTES = 8_000_000
# Matching takes the product of the lines that differ; above this many on a side only the set of lines is compared.
_MAX_MATCHED_LINES = 2_500
LARGE_FILE_POINTER = b"version https://git-lfs.github.com/spec/"


def changed_lines(root: Root, path: bytes, data: bytes) -> dict[int, str]:
    """For the lines of `data`, the bytes of the file at `path` now: `added`, `changed`, or `removed` (lines are missing before it).

    Lines are 0-based; a removal at the end stands at the number of lines. Empty for a file that the last commit does not hold, outside
    git, and whenever git does not answer in time. Line ends do not count as a difference. May block for two seconds; any thread.
    """
    before = committed(root, path)
    if before is None or before.startswith(LARGE_FILE_POINTER):
        return {}
    old = searchable(before)
    new = searchable(data)
    if old is None or new is None:
        return {}
    return compare_lines(split_lines(old.data), split_lines(new.data))


def committed(root: Root, path: bytes, commit: str = "") -> bytes | None:
    """The bytes of `path` in a commit (the last one) of the repository that holds it, unfiltered; None when there are none."""
    owner, inner = owner_of(root, path)
    commit = commit or git.head(owner).commit
    if not commit:
        return None
    try:
        return _blob(owner.path, commit, owner.prefix + inner)
    except UnreadableError:
        return None


@lru_cache(maxsize=16)
def _blob(folder: Path, commit: str, path: bytes) -> bytes:
    name = f"{commit}:{os.fsdecode(path)}"
    return git.run(folder, ("cat-file", "blob", name), timeout_s=_TIMEOUT_S, max_bytes=_MAX_BLOB_BYTES)


def matching_lines(old: Sequence[bytes], new: Sequence[bytes]) -> dict[int, int]:
    """Which line of `old` a line of `new` is, for those that did not change. Pure."""
    start, end = _same_ends(old, new)
    found = {number: number for number in range(start)}
    found.update((len(new) - 1 - number, len(old) - 1 - number) for number in range(end))
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) <= _MAX_MATCHED_LINES:
        for old_from, new_from, size in difflib.SequenceMatcher(None, old, new, False).get_matching_blocks():
            found.update((start + new_from + number, start + old_from + number) for number in range(size))
    return found


def _same_ends(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[int, int]:
    """How many lines are the same at the beginning, and of the rest at the end."""
    start = 0
    shortest = min(len(old), len(new))
    while start < shortest and old[start] == new[start]:
        start += 1
    end = 0
    while end < shortest - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def compare_lines(old: Sequence[bytes], new: Sequence[bytes]) -> dict[int, str]:
    """The marks of `changed_lines` for two lists of lines. Pure."""
    start, end = _same_ends(old, new)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > _MAX_MATCHED_LINES:
        known = set(old)
        return {start + number: CHANGED for number, line in enumerate(new) if line not in known}
    marks: dict[int, str] = {}
    for kind, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind == "delete":
            marks.setdefault(start + new_from, REMOVED)
        elif kind == "insert":
            marks.update((start + number, ADDED) for number in range(new_from, new_to))
        elif kind == "replace":
            same = min(old_to - old_from, new_to - new_from)
            marks.update((start + number, CHANGED) for number in range(new_from, new_from + same))
            marks.update((start + number, ADDED) for number in range(new_from + same, new_to))
            if old_to - old_from > same:
                marks.setdefault(start + new_to, REMOVED)
    return marks
