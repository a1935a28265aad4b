"""Plan → blocks of one segment: look up all grams first, read the shortest lists first, and stop when reading on does not pay.

Everything here may answer with more blocks than hold a match, never with fewer. Numpy only; any thread.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mgrep_tui.ngram import postings
from mgrep_tui.ngram.grams import key_of, maximal_grams
from mgrep_tui.ngram.plan import All, And, Literal, Or, Plan, Tree, literals_of
from mgrep_tui.ngram.postings import Blocks, PostingList

LIST_BYTES_PER_BLOCK = 2048
"""A list of more bytes than this for each block that is left is not read: reading the blocks themselves costs about as much."""

BLOCKS_PER_LITERAL = 3
"""With fewer blocks than this left for each literal of an alternation it is not asked: a literal costs about 40 µs, a block 15."""


class Source(Protocol):
    """What the evaluation needs of a segment."""

    @property
    def block_count(self) -> int: ...

    def find_list(self, key: int) -> PostingList | None:
        """Where the posting list of a key is, or None if no block has it."""

    def read_list(self, found: PostingList) -> bytes:
        """The bytes of a list."""

    def whole_files(self, found: Blocks) -> Blocks:
        """All blocks of the files that have one of these blocks."""


def evaluate(source: Source, plan: Plan) -> Blocks | None:
    """The blocks that can hold a match (with `multiline`: all blocks of the files that can), or None for all.

    Raises `IndexDamagedError`.
    """
    return _Evaluation(source, plan.multiline).of(plan.tree, None)


class _Evaluation:
    def __init__(self, source: Source, is_by_file: bool) -> None:
        self._source = source
        self._is_by_file = is_by_file
        self._bitmap_bytes = (source.block_count + 7) // 8
        self._lists: dict[int, PostingList | None] = {}
        self._sets: dict[int, Blocks] = {}

    def of(self, tree: Tree, within: Blocks | None) -> Blocks | None:
        """The blocks for `tree`, out of `within` when that is given."""
        match tree:
            case All():
                return within
            case Literal(text):
                return self._all_grams([text], within)
            case And(parts):
                literals = [part.text for part in parts if isinstance(part, Literal)]
                found = self._all_grams(literals, within) if literals else within
                for part in parts:
                    if isinstance(part, Literal):
                        continue
                    if found is not None and len(found) < BLOCKS_PER_LITERAL * sum(1 for _ in literals_of(part)):
                        continue
                    found = self.of(part, found)
                return found
            case Or(parts):
                sets: list[Blocks] = []
                for part in parts:
                    found = self.of(part, within)
                    if found is None:
                        return None
                    sets.append(found)
                return postings.unite(sets, self._source.block_count)

    def _all_grams(self, literals: list[bytes], within: Blocks | None) -> Blocks:
        """The blocks (out of `within`) that have every gram of these literals."""
        keys = {key_of(gram) for literal in literals for gram in maximal_grams(literal)}
        lists: list[tuple[int, int, PostingList]] = []
        for key in keys:
            found = self._find(key)
            if found is None:
                return np.empty(0, np.uint32)
            lists.append((found.size_bytes, key, found))
        lists.sort(key=lambda item: item[:2])
        left = within
        for size_bytes, key, found in lists:
            if left is None:
                left = self._set_of(key, found)
                continue
            if not len(left):
                break
            if size_bytes > LIST_BYTES_PER_BLOCK * len(left) and key not in self._sets:
                break
            left = self._narrow(left, key, found)
        assert left is not None  # a literal has at least one gram
        return left

    def _find(self, key: int) -> PostingList | None:
        if key not in self._lists:
            self._lists[key] = self._source.find_list(key)
        return self._lists[key]

    def _set_of(self, key: int, found: PostingList) -> Blocks:
        known = self._sets.get(key)
        if known is not None:
            return known
        if found.single >= 0:
            blocks = np.array([found.single], np.uint32)
        else:
            content = self._source.read_list(found)
            if len(content) == self._bitmap_bytes:
                blocks = postings.decode_bitmap(content, self._source.block_count)
            else:
                blocks = postings.decode(content, self._source.block_count)
        if self._is_by_file:
            blocks = self._source.whole_files(blocks)
        self._sets[key] = blocks
        return blocks

    def _narrow(self, left: Blocks, key: int, found: PostingList) -> Blocks:
        if found.size_bytes == self._bitmap_bytes and not self._is_by_file and key not in self._sets:
            return postings.within_bitmap(left, self._source.read_list(found))
        other = self._set_of(key, found)
        return postings.intersect(left, other) if len(left) <= len(other) else postings.intersect(other, left)
