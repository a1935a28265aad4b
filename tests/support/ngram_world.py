"""A small tree with its n-gram index, and the scan that every indexed answer must equal."""

from __future__ import annotations

import contextlib
import functools
import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import re2
import regex

from mgrep_tui.corpus.decode import Searchable, searchable
from mgrep_tui.corpus.root import Root, open_root
from mgrep_tui.model import Entry, FileStat
from mgrep_tui.ngram import runs
from mgrep_tui.ngram.build import SegmentSummary, build_segment
from mgrep_tui.ngram.plan import Plan
from mgrep_tui.ngram.segment import Segment
from mgrep_tui.ngram.snapshot import Candidate, Snapshot, make_snapshot

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True
_OPTIONS.never_nl = True


@contextlib.contextmanager
def small_blocks(block_bytes: int = 48, piece_bytes: int = 256) -> Iterator[None]:
    """Blocks and pieces so small that little texts have many of them."""
    before = runs.BLOCK_BYTES, runs.PIECE_BYTES
    runs.BLOCK_BYTES, runs.PIECE_BYTES = block_bytes, piece_bytes
    try:
        yield
    finally:
        runs.BLOCK_BYTES, runs.PIECE_BYTES = before


def write_files(folder: Path, files: Mapping[bytes, bytes]) -> None:
    for path, content in files.items():
        absolute = os.path.join(os.fsencode(folder), path)
        os.makedirs(os.path.dirname(absolute), exist_ok=True)
        with open(absolute, "wb") as file:
            file.write(content)


def entries_of(root: Root, paths: list[bytes]) -> list[Entry]:
    return [Entry(path, FileStat.of(os.lstat(root.absolute(path)))) for path in sorted(paths)]


def index(tree: Path, files: Mapping[bytes, bytes], out: Path, **options: Any) -> SegmentSummary:
    """Write the files below `tree` and build a segment of them."""
    write_files(tree, files)
    root = open_root(tree)
    return build_segment(root, entries_of(root, list(files)), out, **options)


def compile_re2(pattern: str, *, multiline: bool = False) -> Any | None:
    """The pattern as a search runs it, or None when RE2 refuses it."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.never_nl = not multiline
    try:
        return re2.compile("(?m)" + pattern, options)
    except re2.error:
        return None


def compile_regex(pattern: str) -> Any | None:
    """The pattern for the backtracking engine, or None when it refuses it."""
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError):
        return None


@dataclass(frozen=True)
class World:
    """Files, and a snapshot that covers them."""

    texts: dict[bytes, Searchable]
    snapshot: Snapshot

    @classmethod
    def make(cls, folder: Path, files: Mapping[bytes, bytes]) -> World:
        index(folder / "tree", files, folder / "index" / "base")
        segment = Segment.open(folder / "index" / "base")
        texts = {path: text for path, raw in files.items() if (text := searchable(raw)) is not None}
        return cls(texts, make_snapshot([segment], covers=True))

    def candidates(self, plan: Plan) -> dict[bytes, Candidate]:
        found = list(self.snapshot.candidates(plan))
        paths = [candidate.path for candidate in found]
        assert paths == sorted(set(paths)), "each file once, by path"
        return {candidate.path: candidate for candidate in found}

    def check(self, plan: Plan, compiled: Any, *, by_text: bool = False) -> tuple[int, int]:
        """Assert that every matching line lies in a candidate; returns how many texts were tried, and how many lines match."""
        candidates = self.candidates(plan)
        matching = 0
        for path, text in self.texts.items():
            whole = text.data.decode("utf-8", "replace") if by_text else text.data
            if plan.multiline:
                if compiled.search(whole):
                    matching += 1
                    assert path in candidates, (path, plan)
                    assert candidates[path].blocks is None
                continue
            start = 0
            for line in text.data.split(b"\n"):
                end = start + len(line)
                if compiled.search(line.decode("utf-8", "replace") if by_text else line):
                    matching += 1
                    _assert_covered(candidates, path, text, start, end, plan)
                start = end + 1
        return len(self.texts), matching

    def check_at_once(self, plan: Plan, compiled: Any) -> tuple[int, int]:
        """The same, twenty times quicker, for patterns without `\\A` and `\\z`: all texts are searched as one."""
        joined, starts, paths = self._joined
        candidates = self.candidates(plan)
        done = -1
        matching = 0
        while (found := compiled.search(joined, done + 1)) and found.start() < len(joined):
            place = bisect_right(starts, found.start()) - 1
            path = paths[place]
            start = joined.rfind(b"\n", 0, found.start()) + 1
            done = joined.find(b"\n", found.end())
            matching += 1
            _assert_covered(candidates, path, self.texts[path], start - starts[place], done - starts[place], plan)
        return len(self.texts), matching

    @functools.cached_property
    def _joined(self) -> tuple[bytes, list[int], list[bytes]]:
        """All texts with a newline after each, where each starts, and whose it is."""
        starts = []
        size = 0
        for text in self.texts.values():
            starts.append(size)
            size += len(text.data) + 1
        return b"".join(text.data + b"\n" for text in self.texts.values()), starts, list(self.texts)


def _assert_covered(
    candidates: Mapping[bytes, Candidate], path: bytes, text: Searchable, start: int, end: int, plan: Plan
) -> None:
    assert path in candidates, (path, start, plan)
    assert _has(candidates[path], start + text.shift_bytes, end + text.shift_bytes), (path, start, plan)


def _has(candidate: Candidate, start: int, end: int) -> bool:
    """Whether one block holds the line whole, or the file is to be scanned."""
    if candidate.blocks is None:
        return True
    return any(block.start_byte <= start and end <= block.start_byte + block.length_bytes for block in candidate.blocks)
