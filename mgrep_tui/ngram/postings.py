"""Sets of blocks: how posting lists are read, and how they are brought together.

A set is an ascending uint32 array without repeats. All functions are pure, numpy only, for any thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mgrep_tui.errors import IndexDamagedError

Blocks = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class PostingList:
    """The one block of a key, or (-1) a range of the postings file."""

    single: int
    offset_bytes: int
    size_bytes: int


_DAMAGED = "A posting list of the n-gram index is damaged."
_MAX_GROUPS = 5  # of 7 bits: more than 31 bits are no block


def decode(content: bytes, blocks: int) -> Blocks:
    """The set of a LEB128 list; raises `IndexDamagedError` when it is none over `blocks` blocks."""
    raw = np.frombuffer(content, np.uint8)
    if not len(raw) or raw[-1] & 0x80:
        raise IndexDamagedError(_DAMAGED)
    is_last = raw < 0x80
    if is_last.all():
        numbers = np.cumsum(raw, dtype=np.int64)
    else:
        # What each byte adds to the running sum; the sums at the last bytes are the blocks.
        shares = (raw & 0x7F).astype(np.int64)
        later = np.flatnonzero(~is_last[:-1]) + 1
        groups = 1
        while len(later):
            if groups == _MAX_GROUPS:
                raise IndexDamagedError(_DAMAGED)
            shares[later] <<= 7
            later = later[later > groups]
            later = later[~is_last[later - groups - 1]]
            groups += 1
        numbers = np.cumsum(shares)[is_last]
    if int(numbers[-1]) >= blocks or not (numbers[1:] > numbers[:-1]).all():
        raise IndexDamagedError(_DAMAGED)
    return numbers.astype(np.uint32)


def decode_bitmap(content: bytes, blocks: int) -> Blocks:
    """The set of a bitmap over `blocks` blocks."""
    bits = np.unpackbits(np.frombuffer(content, np.uint8), bitorder="little")
    if bits[blocks:].any():
        raise IndexDamagedError(_DAMAGED)
    return np.flatnonzero(bits[:blocks]).astype(np.uint32)


def within_bitmap(found: Blocks, content: bytes) -> Blocks:
    """The members of `found` whose bit is set."""
    bits = np.frombuffer(content, np.uint8)
    is_set: npt.NDArray[np.bool_] = (bits[found >> 3] >> (found & 7).astype(np.uint8)) & 1 != 0
    return found[is_set]


def intersect(small: Blocks, large: Blocks) -> Blocks:
    """The members of both; quickest when the first is the smaller one."""
    if not len(small) or not len(large):
        return small[:0]
    places = np.searchsorted(large, small)
    places[places == len(large)] = 0
    is_common: npt.NDArray[np.bool_] = large[places] == small
    return small[is_common]


def unite(sets: list[Blocks], blocks: int) -> Blocks:
    """The members of any of them."""
    sets = [found for found in sets if len(found)]
    if not sets:
        return np.empty(0, np.uint32)
    if len(sets) == 1:
        return sets[0]
    if sum(len(found) for found in sets) * 8 < blocks:
        return np.unique(np.concatenate(sets))
    mask: npt.NDArray[Any] = np.zeros(blocks, np.bool_)
    for found in sets:
        mask[found] = True
    return np.flatnonzero(mask).astype(np.uint32)
